import type {
  OpenAPIObject,
  OperationObject,
  ReferenceObject,
  SchemaObject,
} from 'openapi3-ts/oas31'

/** A route of an OpenAPI document. */
export interface Route extends OperationObject {
  method: string
  path: string
  /** Fragment identifier of the route in the page. */
  id: string
}

/** The routes by tag, in the order of the document. */
export function routesByTag({ paths }: OpenAPIObject): ReadonlyMap<string, readonly Route[]> {
  const byTag = new Map<string, Route[]>()
  for (const [path, operations] of Object.entries(paths!))
    for (const [method, operation] of Object.entries(operations) as [string, OperationObject][]) {
      const tag = operation.tags?.[0] ?? 'Others'
      const id = `${method}${path.replaceAll(/[^\w.]+/g, '-')}`
      byTag.set(tag, [...(byTag.get(tag) ?? []), { ...operation, method, path, id }])
    }
  return byTag
}

/** Resolves a reference of the document; any other value is returned unchanged. */
export function resolveReference<T extends object>(
  { components }: OpenAPIObject,
  value: T | ReferenceObject,
): T {
  if (!('$ref' in value)) return value
  const [, , kind = '', name = ''] = String(value.$ref).split('/')
  return (components as Record<string, Record<string, T>>)[kind]![name]!
}

/** A schema as the text of a TypeScript type, with its descriptions as comments. */
export function schemaTypeText(
  document: OpenAPIObject,
  value: SchemaObject | ReferenceObject,
  indent = '',
): string {
  const schema = resolveReference(document, value)
  const partsOf = (parts: (SchemaObject | ReferenceObject)[], sign: string) =>
    parts.map((part) => schemaTypeText(document, part, indent)).join(sign)
  if (schema.anyOf) return partsOf(schema.anyOf, ' | ')
  if (schema.allOf) return partsOf(schema.allOf, ' & ')
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  const types = [schema.type ?? 'unknown'].flat()
  return types.map((type) => ofType(document, schema, type, indent)).join(' | ')
}

function ofType(
  document: OpenAPIObject,
  schema: SchemaObject,
  type: string,
  indent: string,
): string {
  const inner = `${indent}  `
  if (type === 'array') return listText(schemaTypeText(document, schema.items ?? {}, indent))
  if (type === 'integer') return 'number'
  if (type !== 'object') return type
  const { properties = {}, required = [], additionalProperties: others } = schema
  const fields = Object.entries(properties).map(([name, field]) => {
    const { description } = resolveReference(document, field)
    const comment = description ? `${inner}// ${description}\n` : ''
    const sign = required.includes(name) ? ':' : '?:'
    return `${comment}${inner}${name}${sign} ${schemaTypeText(document, field, inner)}\n`
  })
  if (typeof others === 'object')
    fields.push(`${inner}[key: string]: ${schemaTypeText(document, others, inner)}\n`)
  return fields.length > 0 ? `{\n${fields.join('')}${indent}}` : 'object'
}

const listText = (element: string): string =>
  /[|&]/.test(element.split('\n', 1)[0] ?? '') ? `(${element})[]` : `${element}[]`

/** An example value of a schema, made from the examples in it. */
export function exampleOfSchema(
  document: OpenAPIObject,
  value: SchemaObject | ReferenceObject,
): unknown {
  const schema = resolveReference(document, value)
  if (schema.example !== undefined) return schema.example
  const [first] = schema.anyOf ?? schema.allOf ?? []
  if (first) return exampleOfSchema(document, first)
  if (schema.enum) return schema.enum[0]
  const [type] = [schema.type ?? 'string'].flat()
  if (type === 'array') return [exampleOfSchema(document, schema.items ?? {})]
  if (type === 'boolean') return false
  if (type === 'integer' || type === 'number') return 1
  if (type !== 'object') return 'text'
  const { properties = {}, required = [] } = schema
  const fields = required.map((name) => [name, exampleOfSchema(document, properties[name] ?? {})])
  return Object.fromEntries(fields)
}
