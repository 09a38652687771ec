import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi'
import { ERROR_STATUS, type ErrorCode } from './errors.js'
import type { Route } from './route.js'
import { z } from './schema.js'

const ErrorSchema = z
  .object({
    status: z.int(),
    error: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
    message: z.string().openapi({ description: 'One sentence.' }),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    names: z.array(z.string()).optional().openapi({ description: 'The names that are unavailable.' }),
  })
  .openapi('Error')

const TESTNET = z.object({
  testnet: z.enum(['true']).optional().openapi({ description: '`true`, exactly, selects the testnet.' }),
})

/** Errors that any route may answer. */
const COMMON: readonly ErrorCode[] = ['invalid_request', 'internal', 'unavailable']

/** How a key is sent: either way will do, and with `optional` none. */
const KEYS: Record<string, string[]>[] = [{ bearer: [] }, { authKey: [] }]

/** The OpenAPI 3.1 document of these routes. */
export function openApiDocument(routes: readonly Route[], version: string): object {
  const registry = new OpenAPIRegistry()
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  registry.registerComponent('securitySchemes', 'authKey', { type: 'apiKey', in: 'header', name: 'X-AUTH-KEY' })
  for (const route of routes) {
    registry.registerPath(config(route, route.path, false))
    for (const alias of route.aliases ?? []) registry.registerPath(config(route, alias, true))
  }
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'clusterd',
      version,
      description:
        'Names and bundles of wallets: look-ups, registration on chain, transaction status and an event feed.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
  })
}

/** Express's form of a path in OpenAPI's: `/v1/events/{id}`. */
export const openApiPath = (path: string): string => path.replace(/:(\w+)/g, '{$1}')

function config(route: Route, path: string, isAlias: boolean): RouteConfig {
  const responses: RouteConfig['responses'] = {}
  for (const [status, { description, schema, type }] of Object.entries(route.responses)) {
    responses[status] = { description, content: { [type ?? 'application/json']: { schema } } }
  }
  for (const [status, codes] of errorsByStatus(errorsOf(route))) {
    responses[status] ??= {
      description: codes.map((code) => `\`${code}\``).join(', '),
      content: { 'application/json': { schema: ErrorSchema } },
    }
  }
  return {
    method: route.method,
    path: openApiPath(path),
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    ...(isAlias || route.deprecated ? { deprecated: true } : {}),
    tags: [route.tag],
    ...(route.auth ? { security: route.auth === 'optional' ? [...KEYS, {}] : KEYS } : {}),
    request: {
      ...(route.params ? { params: route.params } : {}),
      query: route.query ? TESTNET.extend(route.query.shape) : TESTNET,
      ...(route.body ? { body: { required: true, content: { 'application/json': { schema: route.body } } } } : {}),
    },
    responses,
  }
}

const errorsOf = ({ auth, errors = [] }: Route): readonly ErrorCode[] => [
  ...errors,
  ...(auth === 'required' ? (['unauthorized'] as const) : []),
  ...COMMON,
]

function errorsByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const of = byStatus.get(ERROR_STATUS[code])
    if (of) of.push(code)
    else byStatus.set(ERROR_STATUS[code], [code])
  }
  return byStatus
}
