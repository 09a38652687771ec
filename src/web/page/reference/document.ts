/** The parts of an OpenAPI document that the reference shows. */
export interface OpenApiDocument {
  info: { title: string; version: string; description: string }
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}

interface Operation {
  summary: string
  description?: string
  tags: string[]
  deprecated?: boolean
  parameters?: (Parameter | Reference)[]
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, Response | Reference>
  security?: Record<string, unknown>[]
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

export interface Response {
  description: string
  content?: Record<string, Content>
}

interface Content {
  schema: Schema | Reference
  example?: unknown
}

interface Reference {
  $ref: string
}

/** A schema of JSON Schema 2020-12. */
interface Schema {
  type?: string | string[]
  description?: string
  example?: unknown
  enum?: unknown[]
  anyOf?: (Schema | Reference)[]
  allOf?: (Schema | Reference)[]
  items?: Schema | Reference
  properties?: Record<string, Schema | Reference>
  additionalProperties?: Schema | Reference | boolean
  required?: string[]
}

/** A route of the document. */
export interface Route extends Operation {
  method: string
  path: string
  /** Fragment identifier of the route in the page. */
  id: string
}

/** The routes by tag, in the order of the document. */
export function routesByTag({ paths }: OpenApiDocument): ReadonlyMap<string, readonly Route[]> {
  const byTag = new Map<string, Route[]>()
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      const tag = operation.tags[0] ?? 'Others'
      const id = `${method}${path.replaceAll(/[^\w.]+/g, '-')}`
      byTag.set(tag, [...(byTag.get(tag) ?? []), { ...operation, method, path, id }])
    }
  return byTag
}

/** Resolves a reference of the document; any other value is returned unchanged. */
export function resolveReference<T extends object>(
  document: OpenApiDocument,
  value: T | Reference,
): T {
  if (!('$ref' in value)) return value
  const [, , kind = '', name = ''] = value.$ref.split('/')
  return document.components[kind]?.[name] as T
}

/** A schema as a type of TypeScript, with its descriptions as comments. */
export function typeText(
  document: OpenApiDocument,
  value: Schema | Reference,
  indent = '',
): string {
  const schema = resolveReference(document, value)
  const partsOf = (parts: (Schema | Reference)[], sign: string) =>
    parts.map((part) => typeText(document, part, indent)).join(sign)
  if (schema.anyOf) return partsOf(schema.anyOf, ' | ')
  if (schema.allOf) return partsOf(schema.allOf, ' & ')
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  const types = [schema.type ?? 'unknown'].flat()
  return types.map((type) => ofType(document, { ...schema, type }, indent)).join(' | ')
}

function ofType(document: OpenApiDocument, schema: Schema, indent: string): string {
  const inner = `${indent}  `
  if (schema.type === 'array') return listText(typeText(document, schema.items ?? {}, indent))
  if (schema.type === 'integer') return 'number'
  if (schema.type !== 'object') return String(schema.type)
  const { properties = {}, required = [], additionalProperties: others } = schema
  const fields = Object.entries(properties).map(([name, field]) => {
    const { description } = resolveReference(document, field)
    const comment = description ? `${inner}// ${description}\n` : ''
    const sign = required.includes(name) ? ':' : '?:'
    return `${comment}${inner}${name}${sign} ${typeText(document, field, inner)}\n`
  })
  if (typeof others === 'object')
    fields.push(`${inner}[key: string]: ${typeText(document, others, inner)}\n`)
  return fields.length > 0 ? `{\n${fields.join('')}${indent}}` : 'object'
}

const listText = (element: string): string =>
  /[|&]/.test(element.split('\n', 1)[0] ?? '') ? `(${element})[]` : `${element}[]`

/** An example value of a schema, made from the examples in it. */
export function exampleOf(document: OpenApiDocument, value: Schema | Reference): unknown {
  const schema = resolveReference(document, value)
  if (schema.example !== undefined) return schema.example
  const [first] = schema.anyOf ?? schema.allOf ?? []
  if (first) return exampleOf(document, first)
  if (schema.enum) return schema.enum[0]
  const [type] = [schema.type ?? 'string'].flat()
  if (type === 'array') return [exampleOf(document, schema.items ?? {})]
  if (type === 'boolean') return false
  if (type === 'integer' || type === 'number') return 1
  if (type !== 'object') return 'text'
  const { properties = {}, required = [] } = schema
  const fields = required.map((name) => [name, exampleOf(document, properties[name] ?? {})])
  return Object.fromEntries(fields)
}
