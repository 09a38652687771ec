import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { routes } from '../server.js'
import { openApiDocument, openApiPath } from './openapi.js'
import { VERSION } from './version.js'

interface Document {
  openapi: string
  paths: Record<string, Record<string, { parameters?: { name: string; in: string }[]; responses: object }>>
}

const committed = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as Document

describe('docs/openapi.json', () => {
  it('is what the routes say (else: npm run openapi)', () => {
    expect(JSON.parse(JSON.stringify(openApiDocument(routes, VERSION)))).toEqual(committed)
    expect(committed.openapi).toBe('3.1.0')
  })

  it('has every route and no other', () => {
    const served = routes.flatMap((route) =>
      [route.path, ...(route.aliases ?? [])].map((path) => `${route.method} ${openApiPath(path)}`),
    )
    const documented = Object.entries(committed.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    )
    expect(documented.sort()).toEqual(served.sort())
    expect(served).toContain('post /v1/register/evm')
  })

  it('declares every parameter of a path, and testnet everywhere', () => {
    for (const [path, methods] of Object.entries(committed.paths)) {
      for (const operation of Object.values(methods)) {
        const names = (operation.parameters ?? []).map((parameter) => `${parameter.in} ${parameter.name}`)
        for (const [, name] of path.matchAll(/\{(\w+)\}/g)) expect(names).toContain(`path ${name}`)
        expect(names).toContain('query testnet')
        const statuses = Object.keys(operation.responses)
        expect(statuses).toEqual(expect.arrayContaining(['400', '500', '503']))
        expect(statuses.some((status) => status === '200' || status === '201')).toBe(true)
      }
    }
  })
})
