import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'

/** A JSON schema of the OpenAPI documents, as far as this test reads it. */
interface Schema {
  $ref?: string
  type?: string | string[]
  items?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
}
interface Document {
  paths: Record<
    string,
    Record<string, { responses?: Record<string, { content?: Record<string, { schema: Schema }> }> }>
  >
  components: { schemas: Record<string, Schema> }
}

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** Paths of a schema's lists: `[]` is the response itself, `a[].b[]` a list inside its elements. */
function listsOf(document: Document, schema: Schema | undefined, place = ''): string[] {
  if (!schema) return []
  if (schema.$ref)
    return listsOf(document, document.components.schemas[schema.$ref.split('/').at(-1)!], place)
  const own = [schema.type].flat().includes('array')
    ? [`${place}[]`, ...listsOf(document, schema.items, `${place}[]`)]
    : []
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    listsOf(document, field, place === '' ? name : `${place}.${name}`),
  )
  const map = typeof schema.additionalProperties === 'object' ? [`${place}{}`] : []
  const cases = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])]
  return [...own, ...fields, ...map, ...cases.flatMap((one) => listsOf(document, one, place))]
}

/** Routes with the paths of the lists in their successful responses. */
function answersOf(name: string): string[] {
  const document = JSON.parse(read(`src/client/generated/${name}`)) as Document
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses = {} }]) => {
      const good = Object.entries(responses).filter(([status]) => status.startsWith('2'))
      const schemas = good.flatMap(([, { content = {} }]) =>
        Object.values(content).map(({ schema }) => schema),
      )
      const route = `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`
      return [...new Set(schemas.flatMap((schema) => listsOf(document, schema)))].map(
        (list) => `${route} ${list}`,
      )
    }),
  )
}

/** Routes by each of their paths, with the declared bounds of the lists in their responses. */
const declared = routes.flatMap((route) =>
  [route.path, ...(route.aliases ?? [])].flatMap((path) =>
    Object.entries(route.listBounds ?? {}).map(([list, bound]) => ({
      list: `${route.method.toUpperCase()} ${path} ${list}`,
      bound,
    })),
  ),
)

describe('every list in an answer', () => {
  const inDocuments = ['openapi.json', 'openapi-v0.1.json'].flatMap(answersOf)

  it('has a declared bound, and no bound is declared without a list', () => {
    expect(declared.map(({ list }) => list).sort()).toEqual([...inDocuments].sort())
  })

  it.each(declared)('$list is bounded by a number, a page or a rule', ({ bound }) => {
    expect(bound).toMatch(/^(page|asked|rule|set up): \S/)
  })
})
