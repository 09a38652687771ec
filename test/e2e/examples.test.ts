import { Ajv2020 } from 'ajv/dist/2020.js'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { openApiDocuments, routes } from '../../scripts/declaredRoutes.js'
import { openApiPath } from '../../src/api/http/openapi.js'
import { Client, type ClusterdError } from '../../src/client/index.js'
import { world } from '../support/world.js'

/** Sends every example of the OpenAPI documents to the local world with the client, filled in like `/docs` does. */

interface Schema {
  $ref?: string
  type?: string | string[]
  example?: unknown
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}
interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: Schema
  example?: unknown
}
interface Operation {
  security?: object[]
  parameters: (Parameter | { $ref: string })[]
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> }
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: Schema }> }>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
}

/** Statuses of refused examples. Their routes declare them, because only one caller can send a valid request. */
const REFUSED = new Map(
  routes.flatMap(({ method, path, aliases = [], example }) =>
    [path, ...aliases].map((one): [string, number | undefined] => [
      `${method.toUpperCase()} ${openApiPath(one)}`,
      example?.status,
    ]),
  ),
)
// a world without Solana has no quotes on it
if (!world().networks.mainnet.solana) {
  REFUSED.set('POST /v1/names/register/solana', 400)
  REFUSED.set('POST /v1/register/solana', 400)
}

const cases = Object.entries(openApiDocuments).flatMap(([file, make]) => {
  const document = make() as Document
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      file,
      document,
      method,
      path,
      operation,
    })),
  )
})

function resolve<T>(document: Document, value: T | { $ref: string }): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value) || !value.$ref)
    return value as T
  const keys = value.$ref.slice(2).split('/')
  return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document) as T
}

/** Example of a schema like the renderer builds it; undefined where a part has no example. */
function exampleOf(document: Document, of: Schema): unknown {
  const schema = resolve<Schema>(document, of as never)
  if (schema.example !== undefined) return schema.example
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return exampleOf(document, schema.anyOf[0]!)
  if (schema.items) return [exampleOf(document, schema.items)]
  if (!schema.properties) return { boolean: true, integer: 0, number: 0 }[[schema.type].flat()[0]!]
  const fields = Object.entries(schema.properties).map(([key, field]) => [
    key,
    exampleOf(document, field),
  ])
  return Object.fromEntries(fields)
}

const hasNone = (value: unknown): boolean =>
  value === undefined ||
  (typeof value === 'object' && value !== null && Object.values(value).some(hasNone))

const account = privateKeyToAccount(generatePrivateKey())
let token: string
const ajv = new Ajv2020({ strict: false, validateFormats: false })

beforeAll(async () => {
  for (const [file, make] of Object.entries(openApiDocuments)) ajv.addSchema(make(), file)
  const client = new Client({ url: world().api })
  token = await client.signIn(account)
  await client.createCluster()
})

describe.each(cases)(
  'the example of $name',
  ({ name, file, document, method, path, operation }) => {
    it('is complete, and its response fits the document', async () => {
      const parameters = operation.parameters.map((one) =>
        resolve<Parameter>(document, one as never),
      )
      const params: Record<string, string> = {}
      const query: Record<string, string> = {}
      for (const { name, in: where, required, schema, ...one } of parameters) {
        const { example = resolve<Schema>(document, schema as never).example } = one
        expect(required && example === undefined, `${name} has no example`).toBeFalsy()
        if (where === 'path') params![name] = String(example)
        if (where === 'query' && example !== undefined) query![name] = String(example)
      }
      const { schema, example: body = schema && exampleOf(document, schema) } =
        operation.requestBody?.content['application/json'] ?? {}
      expect(
        schema && hasNone(body),
        `a part of the body has no example: ${JSON.stringify(body)}`,
      ).toBeFalsy()
      // a separate key, because the others could not use a revoked one
      const key =
        name === 'DELETE /v1/auth/token'
          ? await new Client({ url: world().api }).signIn(account)
          : token
      let response = new Response()
      const isStream = () => response.headers.get('content-type') === 'text/event-stream'
      const send: typeof fetch = async (input, init) => {
        response = await fetch(input, init)
        return isStream() ? new Response('null') : response.clone()
      }
      const client = new Client({
        url: world().api,
        fetch: send,
        ...(operation.security && { token: key }),
      })
      const asked = client.request(
        method.toUpperCase() as 'GET',
        path as never,
        { params, query, body } as never,
      )
      const received = await asked
        .then(() => 200)
        .catch((error: ClusterdError) => error.code !== 'unexpected' && error.status)
      if (isStream()) await response.body!.cancel()
      const text = isStream() ? '' : await response.text()
      expect(response.status, `${response.url}: ${text}`).toBe(REFUSED.get(name) ?? 200)
      // the client reads the log's bytes and notes with `client.log`
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      if (isJson || isStream()) expect(received).toBe(response.status)
      const answer = operation.responses[response.status]!
      const content = resolve(document, answer as never) as { content: Record<string, unknown> }
      if (!('application/json' in content.content)) return
      const at =
        answer.$ref?.slice(1) ??
        [
          '',
          'paths',
          path.replace(/~/g, '~0').replace(/\//g, '~1'),
          method,
          'responses',
          response.status,
        ]
          .map((part) => encodeURIComponent(String(part)))
          .join('/')
      const validate = ajv.compile({ $ref: `${file}#${at}/content/application~1json/schema` })
      expect(validate(JSON.parse(text)), `${text}: ${JSON.stringify(validate.errors)}`).toBe(true)
    })
  },
)
