import {
  OpenAPIRegistry,
  OpenApiGeneratorV31,
  type RouteConfig,
} from '@asteasolutions/zod-to-openapi'
import { ERROR_STATUS, type ErrorCode } from './errors.js'
import { type HeaderName, RESPONSE_HEADERS } from './headers.js'
import type { Route } from './route.js'
import { namedObjectSchema, z } from './schema.js'

const ErrorSchema = namedObjectSchema('Error', {
  status: z.int(),
  error: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
  message: z.string().describe('One sentence.'),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  names: z.array(z.string()).optional().describe('The names that are unavailable.'),
})

/** Errors that any route may return. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'invalid_request',
  'rate_limited',
  'internal',
  'unavailable',
]

/** Statuses of bodies that arrive too slowly, or are too large. */
const BODY_STATUSES = [408, 413]

/** Security schemes that carry a key. A request needs one of the two. */
const KEY_SCHEMES = [{ bearer: [] }, { authKey: [] }]
/** Security requirement by the route's authentication rule. With `optional` a request without a key is accepted. */
const SECURITY_BY_AUTH_RULE = {
  required: KEY_SCHEMES,
  optional: [...KEY_SCHEMES, {}],
  none: undefined,
}

/** The OpenAPI 3.1 document of routes. Error responses and the parameter `testnet` are shared components. */
export function openApiDocument(
  routesByTag: Readonly<Record<string, readonly Route[]>>,
  info: { title: string; version: string; description: string },
): object {
  const registry = new OpenAPIRegistry()
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  registry.registerComponent('securitySchemes', 'authKey', {
    type: 'apiKey',
    in: 'header',
    name: 'X-AUTH-KEY',
  })
  const shared = registerSharedComponents(registry)
  for (const [tag, routes] of Object.entries(routesByTag))
    for (const route of routes)
      for (const path of [route.path, ...(route.aliases ?? [])])
        registry.registerPath(openApiOperation({ ...route, tag }, path, shared))
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: { ...info, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
  })
}

/** Converts Express's form of a path to OpenAPI's: `/v1/events/{id}`. */
export const openApiPath = (path: string): string => path.replace(/[:*](\w+)/g, '{$1}')

const TESTNET_PARAMETER = {
  name: 'testnet',
  in: 'query' as const,
  description: 'Exactly `true` selects the testnet.',
  schema: { type: 'string' as const, enum: ['true'] },
}

/** Headers of error responses, by their status. */
const ERROR_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
}

function registerSharedComponents(registry: OpenAPIRegistry) {
  const { ref: testnet } = registry.registerComponent('parameters', 'testnet', TESTNET_PARAMETER)
  const { ref: apiKey } = registry.registerComponent('parameters', 'apiKey', {
    name: 'X-API-KEY',
    in: 'header',
    description:
      'A key of `POST /v1/keys`. It raises the rate limit and grants no access. An unknown key is ignored.',
    schema: { type: 'string' },
  })
  // registering a header again returns the same component
  const headerOf = (name: HeaderName) => {
    const [description, type] = RESPONSE_HEADERS[name]
    return registry.registerComponent('headers', name, { description, schema: { type } }).ref
  }
  /** References to the headers of a response; undefined for a response without headers. */
  const headersOf = (names: readonly HeaderName[] = []) =>
    names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, headerOf(name)]))
  registry.register('Error', ErrorSchema)
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  const errorResponse = (codes: readonly ErrorCode[]) => {
    const description = codes.map((code) => `\`${code}\``).join(', ')
    const headers = headersOf(ERROR_HEADERS[ERROR_STATUS[codes[0]!]])
    const response = { description, ...(headers && { headers }), content }
    return registry.registerComponent('responses', codes.join('.'), response).ref
  }
  return { testnet, apiKey, headersOf, errorResponse }
}

/**
 * The OpenAPI operation of a route. Undefined fields are left out of the document.
 * @param path the route's path, or an alias, which is documented as deprecated
 */
function openApiOperation(
  route: Route & { tag: string },
  path: string,
  shared: ReturnType<typeof registerSharedComponents>,
): RouteConfig {
  const { example = {} } = route
  const responses: Record<string, unknown> = {}
  const tag: HeaderName[] = hasEntityTag(route) ? ['ETag'] : []
  const asOf: HeaderName[] = route.isLookup ? ['X-Clusterd-As-Of'] : []
  for (const [status, response] of Object.entries(route.responses)) {
    const { description, schema, type = 'application/json', headers = [] } = response
    const names = [...(status === '200' ? tag : []), ...asOf, ...headers]
    responses[status] = {
      description,
      headers: shared.headersOf(names),
      content: { [type]: { schema } },
    }
  }
  if (hasEntityTag(route))
    responses[304] = {
      description: 'The response still has the entity tag of `If-None-Match`',
      headers: shared.headersOf(tag),
    }
  for (const [status, codes] of errorsByStatus(route))
    responses[status] ??= shared.errorResponse(codes)
  if (route.body)
    for (const status of BODY_STATUSES)
      responses[status] = shared.errorResponse(['invalid_request'])
  const body = { schema: route.body, example: example.body }
  const isDeprecated = path !== route.path || route.successor !== undefined
  return {
    method: route.method,
    path: openApiPath(path),
    summary: route.summary,
    description: route.description,
    deprecated: isDeprecated || undefined,
    tags: [route.tag],
    security: SECURITY_BY_AUTH_RULE[route.auth ?? 'none'],
    parameters: [
      example.query?.testnet ? { ...TESTNET_PARAMETER, example: 'true' } : shared.testnet,
      shared.apiKey,
    ],
    request: {
      params: withExampleValues(route.params, example.params),
      query: withExampleValues(route.query, example.query),
      body: route.body && { required: true, content: { 'application/json': body } },
    },
    responses,
  } as RouteConfig
}

/** True if a route's JSON responses of status 200 carry an entity tag. Responses that depend on a key carry none. */
const hasEntityTag = ({ method, auth, responses }: Route): boolean =>
  method === 'get' && !auth && responses[200] !== undefined && responses[200].type === undefined

const withExampleValues = (
  schema: z.ZodObject | undefined,
  examples: Record<string, string> = {},
) =>
  schema?.extend(
    Object.fromEntries(
      Object.entries(schema.shape)
        .filter(([name]) => name in examples)
        .map(([name, field]) => [name, (field as z.ZodType).openapi({ example: examples[name] })]),
    ),
  )

/** Every error code that a route may return. */
export const errorsOfRoute = ({ auth, errors = [] }: Route): ReadonlySet<ErrorCode> =>
  new Set([
    ...errors,
    ...(auth === 'required' ? (['unauthorized'] as const) : []),
    ...COMMON_ERRORS,
  ])

/** The error codes of a route by HTTP status. Each list is in the order of `ERROR_STATUS`. */
function errorsByStatus(route: Route): Map<number, ErrorCode[]> {
  const codes = errorsOfRoute(route)
  const byStatus = new Map<number, ErrorCode[]>()
  for (const [code, status] of Object.entries(ERROR_STATUS) as [ErrorCode, number][]) {
    if (codes.has(code)) byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return byStatus
}
