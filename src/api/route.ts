import type { z } from 'zod'
import type { Network } from '../registry/network.js'
import type { Answer } from './answer.js'
import type { Context } from './context.js'
import type { ErrorCode } from './errors.js'
import type { Query } from './query.js'
import { parse } from './schema.js'

/** A request, as far as a handler may see it. */
export interface RouteRequest<Body = unknown> {
  /** Path parameters, decoded. */
  params: Readonly<Record<string, string>>
  query: Query
  /** Selected by `testnet=true`. */
  isTestnet: boolean
  network: Network
  /** Checked against the route's schema. */
  body: Body
}

/** A route: how it is reached, what it takes and answers (the source of the OpenAPI document), and its handler. */
export interface Route {
  method: 'get' | 'post'
  /** In Express's form: `/v1/names/address/:address`. */
  path: string
  /** Other paths that answer the same. */
  aliases?: readonly string[]
  summary: string
  description?: string
  tag: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  responses: Readonly<Record<number, { description: string; schema: z.ZodType }>>
  /** Errors of its own, beside `invalid_request`, `internal` and `unavailable`. */
  errors?: readonly ErrorCode[]
  handle(request: RouteRequest, context: Context): Promise<Answer>
}

/** Declares a route without a body. */
export const route = (definition: Omit<Route, 'body'>): Route => definition

/** Declares a route whose handler gets its body as the schema describes it. */
export function routeWithBody<Schema extends z.ZodType>(
  definition: Omit<Route, 'body' | 'handle'> & {
    body: Schema
    handle(request: RouteRequest<z.output<Schema>>, context: Context): Promise<Answer>
  },
): Route {
  return {
    ...definition,
    handle: (request, context) =>
      definition.handle({ ...request, body: parse(definition.body, request.body) }, context),
  }
}
