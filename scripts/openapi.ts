import { writeFileSync } from 'node:fs'
import { openApiDocuments } from './declaredRoutes.js'

/** Writes the OpenAPI documents from the routes' schemas, for the client's types and the tests. */
for (const [path, document] of Object.entries(openApiDocuments))
  writeFileSync(`src/client/generated${path}`, `${JSON.stringify(document(), null, 2)}\n`)
