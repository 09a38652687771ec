import fc from 'fast-check'

/** The parts of an OpenAPI document that requests are made from. */
export interface Document {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}
interface Operation {
  parameters?: (Parameter | Ref)[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, Response | Ref>
  security?: object[]
}
interface Ref {
  $ref: string
}
interface Parameter {
  name: string
  in: string
  schema: Schema
}
interface Response {
  content?: Record<string, { schema: Schema }>
}
interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}

export interface FuzzRequest {
  /** Pattern of the operation, `post /v1/names`, and the path as sent. */
  operation: string
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
}

/** What a reference points at. */
export function resolve<T>(document: Document, value: T | Ref): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T
  const keys = value.$ref.slice(2).split('/')
  return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document) as T
}

/** Values that break careless readers, of every type. */
const NASTY: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    2 ** 53,
    '',
    ' ',
    'undefined',
    'null',
    '\u0000',
    '\ud800',
    '💩',
    'é',
    '../..',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    "' OR 1=1 --",
    '%00',
    '%',
    '<script>',
    '0x',
    '0x0',
    '-0',
    '1e18',
    'NaN',
  ],
  ...[
    'x'.repeat(33),
    'x'.repeat(3_000),
    '9'.repeat(78),
    (2n ** 256n).toString(),
    `0x${'f'.repeat(64)}`,
    'A/b',
  ],
  ...[
    [],
    {},
    [[]],
    [null],
    { __proto__: null },
    { constructor: 1 },
    JSON.parse('{"__proto__":{"isAdmin":true}}'),
  ],
]

/**
 * Requests of every operation of the documents: mostly of the form that they ask for, made of words that mean something
 * here, and now and then of something else.
 * @param words texts that occur in the database, or look as if
 * @param keys values of the Authorization header
 */
export function requests(
  documents: readonly Document[],
  words: readonly string[],
  keys: readonly string[],
): fc.Arbitrary<FuzzRequest> {
  const nasty = fc.oneof(fc.constantFrom(...NASTY), fc.jsonValue({ maxDepth: 3 }))
  const word = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...words) },
    { weight: 1, arbitrary: fc.string() },
  )
  const operations = documents.flatMap((document) =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ document, path, method, operation })),
    ),
  )

  function sent(document: Document, schema: Schema, depth = 0): fc.Arbitrary<unknown> {
    const meant = meantBy(document, resolve(document, schema), depth)
    return fc.oneof({ weight: 12, arbitrary: meant }, { weight: 1, arbitrary: nasty })
  }

  function meantBy(document: Document, schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const inner = (one: Schema) => sent(document, one, depth + 1)
    const options = schema.anyOf ?? schema.oneOf
    if (options) return fc.oneof(...options.map(inner))
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    switch ([schema.type].flat()[0]) {
      case 'object': {
        const model = Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([key, one]) => [key, inner(one)]),
        )
        const asked = (schema.required ?? []).filter((key) => key in model)
        return fc.record(model, { requiredKeys: asked })
      }
      case 'array':
        return fc.array(inner(schema.items ?? {}), { maxLength: depth === 0 ? 5 : 3 })
      case 'integer':
      case 'number':
        return fc.integer({ min: -1, max: 2_000 })
      case 'boolean':
        return fc.boolean()
      default:
        return word
    }
  }

  /** Text of a parameter, percent-encoded, or what no encoder writes. */
  const parameter = fc.oneof(
    { weight: 12, arbitrary: word.map((text) => encodeURIComponent(Buffer.from(text).toString())) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '%',
        '%00',
        '%C0%AF',
        '%ff',
        '..',
        '%2e%2e',
        'a+b',
        ';',
        '%2F',
        'x'.repeat(4_200),
      ),
    },
  )

  const one = ({
    document,
    path,
    method,
    operation,
  }: (typeof operations)[number]): fc.Arbitrary<FuzzRequest> => {
    const parameters = (operation.parameters ?? []).map((item) =>
      resolve<Parameter>(document, item),
    )
    const query = parameters.filter((item) => item.in === 'query')
    const schema = operation.requestBody?.content['application/json']?.schema
    const body = schema
      ? fc.oneof(
          {
            weight: 20,
            arbitrary: sent(document, schema).map((value) => JSON.stringify(value) ?? ''),
          },
          { weight: 1, arbitrary: fc.string() },
        )
      : fc.constant(undefined)
    const key = operation.security
      ? { weight: 6, arbitrary: fc.constantFrom(...keys) }
      : { weight: 1, arbitrary: fc.constantFrom(...keys) }
    return fc
      .record({
        inPath: fc.array(
          parameter.filter((text) => text !== ''),
          { minLength: 3, maxLength: 3 },
        ),
        inQuery: fc.tuple(
          ...query.map((item) =>
            fc.option(
              item.schema?.enum
                ? fc.oneof(fc.constantFrom(...item.schema.enum.map(String)), parameter)
                : fc.oneof(parameter, fc.nat(2_000).map(String)),
              { freq: 1 },
            ),
          ),
        ),
        authorization: fc.oneof({ weight: 1, arbitrary: fc.constant(undefined) }, key),
        body,
      })
      .map(({ inPath, inQuery, authorization, body }) => {
        let next = 0
        const filled = path.replace(/\{\w+\}/g, () => inPath[next++]!)
        const asked = query
          .flatMap(({ name }, i) => (inQuery[i] === null ? [] : [`${name}=${inQuery[i]}`]))
          .join('&')
        return {
          operation: `${method} ${path}`,
          method: method.toUpperCase(),
          body,
          path: asked === '' ? filled : `${filled}?${asked}`,
          headers: { ...(authorization !== undefined && { authorization }) },
        }
      })
  }
  return fc.oneof(...operations.map(one))
}
