import { openApiDocument } from './http/openapi.js'
import type { Route } from './http/route.js'
import { VERSION } from './http/version.js'
import { v01Routes } from './v0.1/index.js'
import { v1Routes } from './v1/index.js'

/** Every route, in the order in which Express tries them. */
export const routes: readonly Route[] = [...v1Routes, ...v01Routes]

/** The OpenAPI documents by the path that serves each: one per version of the interface. */
export const openApiDocuments = (): Readonly<Record<string, object>> => ({
  '/openapi.json': openApiDocument(v1Routes, {
    title: 'clusterd',
    version: VERSION,
    description: 'Names and bundles of wallets: look-ups, registration on chain, transaction status and an event feed.',
  }),
  '/openapi-v0.1.json': openApiDocument(v01Routes, {
    title: 'clusterd v0.1',
    version: VERSION,
    description:
      'The deprecated interface: views of the answers of v1 in their old shapes. /openapi.json describes v1.',
  }),
})
