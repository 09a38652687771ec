import { defineConfig } from 'vitest/config'

// the others are for node:test
export default defineConfig({ test: { include: ['test/attach.test.ts'] } })
