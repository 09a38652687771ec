import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openApiDocuments, routes } from '../../../scripts/declaredRoutes.js'
import { ERROR_STATUS } from './errors.js'
import { errorsOfRoute, openApiPath } from './openapi.js'

interface OpenApiDocument {
  openapi: string
  paths: Record<string, Record<string, OpenApiOperation>>
  components: Record<string, Record<string, unknown>>
}
interface OpenApiOperation {
  parameters: { name: string; in: string }[]
  responses: object
  deprecated?: boolean
}

const DOCUMENT_PATHS = ['/openapi.json', '/openapi-v0.1.json'] as const
const readGeneratedDocument = (path: string) =>
  JSON.parse(
    readFileSync(new URL(`../../client/generated${path}`, import.meta.url), 'utf8'),
  ) as OpenApiDocument

/** Target of a local reference. @throws Error for a dangling one */
function resolveReference(document: OpenApiDocument, ref: string): unknown {
  const [root, ...keys] = ref.split('/')
  if (root !== '#') throw new Error(`${ref} is no local reference`)
  return keys.reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !(key in value))
      throw new Error(`${ref} points at nothing`)
    return value[key as keyof typeof value]
  }, document)
}

/** The document with every reference replaced by its target. The documents have no recursive schemas. */
const withoutReferences = (document: OpenApiDocument): OpenApiDocument =>
  JSON.parse(JSON.stringify(document), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && '$ref' in value
      ? JSON.parse(JSON.stringify(resolveReference(document, String(value.$ref))))
      : value,
  ) as OpenApiDocument

const operationsOf = ({ paths }: OpenApiDocument) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )

it('all documents are committed in docs', () => {
  expect(Object.keys(openApiDocuments)).toEqual(DOCUMENT_PATHS)
})

it('every route is in exactly one document, and no other route is', () => {
  const served = routes.flatMap((route) =>
    [route.path, ...(route.aliases ?? [])].map((path) => `${route.method} ${openApiPath(path)}`),
  )
  const documented = DOCUMENT_PATHS.flatMap((path) =>
    operationsOf(readGeneratedDocument(path)),
  ).map(({ method, path }) => `${method} ${path}`)
  expect(documented.sort()).toEqual(served.sort())
  expect(served).toContain('post /v1/register/evm')
})

describe.each(DOCUMENT_PATHS)('%s', (path) => {
  const document = readGeneratedDocument(path)

  it('has v0.1, deprecated, in a document of its own', () => {
    expect(document.openapi).toBe('3.1.0')
    const isOld = path === '/openapi-v0.1.json'
    for (const { path, operation } of operationsOf(document)) {
      expect(path.startsWith('/v0.1/'), path).toBe(isOld)
      if (isOld) expect(operation.deprecated, path).toBe(true)
    }
  })

  it('declares every parameter of a path once, and testnet everywhere', () => {
    for (const { path, method, operation } of operationsOf(withoutReferences(document))) {
      const route = `${method} ${path}`
      const names = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`)
      expect(new Set(names).size, route).toBe(names.length)
      for (const [, name] of path.matchAll(/\{(\w+)\}/g))
        expect(names, route).toContain(`path ${name}`)
      expect(names, route).toContain('query testnet')
      const statuses = Object.keys(operation.responses)
      expect(statuses, route).toEqual(expect.arrayContaining(['400', '500', '503']))
      expect(statuses.includes('200') || statuses.includes('201'), route).toBe(true)
    }
  })
})

it('every error code is declared by a route', () => {
  const declared = new Set(routes.flatMap((route) => [...errorsOfRoute(route)]))
  expect(Object.keys(ERROR_STATUS).filter((code) => !declared.has(code as never))).toEqual([])
})
