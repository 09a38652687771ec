import type { z } from 'zod'
import type { Network } from '../../registry/primitives/network.js'
import type { Session } from '../auth/authenticate.js'
import type { Answer } from './answer.js'
import type { Context } from './context.js'
import type { ErrorCode } from './errors.js'
import type { Query } from './query.js'
import { parse } from './schema.js'

/** A request, as far as a handler may see it. */
export interface RouteRequest<Body = unknown, Auth extends AuthRule = AuthRule> {
  /** Path parameters, decoded. */
  params: Readonly<Record<string, string>>
  query: Query
  /** Selected by `testnet=true`. */
  isTestnet: boolean
  network: Network
  /** Checked against the route's schema. */
  body: Body
  /** Who asks. */
  session: SessionOf<Auth>
}

/**
 * Whether a route asks who sends the request. `required`: 401 without a valid key. `optional`: a valid key is heeded, any
 * other is as none. Answers of both depend on the key, and say so to caches.
 */
export type AuthRule = 'required' | 'optional' | undefined

/** What a handler knows of who asks. */
export type SessionOf<Auth extends AuthRule> = Auth extends 'required'
  ? Session
  : Auth extends 'optional'
    ? Session | null
    : null

/** A route: how it is reached, what it takes and answers (the source of the OpenAPI document), and its handler. */
export interface Route {
  method: 'get' | 'post' | 'put' | 'delete'
  /** In Express's form: `/v1/names/address/:address`. */
  path: string
  /** Other paths that answer the same. */
  aliases?: readonly string[]
  summary: string
  description?: string
  tag: string
  auth?: AuthRule
  /** The route belongs to an interface that is going: its answers say so, and name the path that takes its place. */
  deprecated?: { successor: string }
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** JSON, unless a media type is named. */
  responses: Readonly<Record<number, { description: string; schema: z.ZodType; type?: string }>>
  /** Errors of its own, beside `invalid_request`, `internal` and `unavailable`, and `unauthorized` where a key is required. */
  errors?: readonly ErrorCode[]
  /** The session is one where the rule requires it. */
  handle(request: RouteRequest<unknown, 'optional'>, context: Context): Promise<Answer>
}

type Definition<Auth extends AuthRule, Body> = Omit<Route, 'body' | 'auth' | 'handle'> & {
  auth?: Auth
  handle(request: RouteRequest<Body, Auth>, context: Context): Promise<Answer>
}

/** Declares a route without a body. Its handler gets the session as its rule promises it. */
export const route = <const Auth extends AuthRule = undefined>(definition: Definition<Auth, unknown>): Route => ({
  ...definition,
  handle: ({ session, ...request }, context) =>
    definition.handle({ ...request, session: promised(definition.auth, session) }, context),
})

/** Declares a route whose handler gets its body as the schema describes it, and the session as its rule promises it. */
export function routeWithBody<Schema extends z.ZodType, const Auth extends AuthRule = undefined>(
  definition: Definition<Auth, z.output<Schema>> & { body: Schema },
): Route {
  return {
    ...definition,
    handle: ({ session, ...request }, context) =>
      definition.handle(
        {
          ...request,
          body: parse(definition.body, request.body),
          session: promised(definition.auth, session),
        },
        context,
      ),
  }
}

/** The server has settled who asks before it calls a handler; this only tells the compiler. */
function promised<Auth extends AuthRule>(rule: Auth | undefined, session: Session | null): SessionOf<Auth> {
  if (rule === 'required' && !session) throw new Error('a route that requires a key was called without a session')
  return session as SessionOf<Auth>
}
