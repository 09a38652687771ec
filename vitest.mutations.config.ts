import { defineConfig } from 'vitest/config'

/** Unit tests alone, for `npm run mutations:unit` (stryker.config.json): no chain, no database, no process. */
export default defineConfig({
  test: {
    include: ['src/{registry,relayer}/**/*.test.ts', 'test/model/{clusters,communities}.test.ts'],
  },
})
