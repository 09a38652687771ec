// any existing file keeps the CLI from downloading its engine
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath

import { defineConfig } from 'prisma/config'

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
})
