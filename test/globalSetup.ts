import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { startStack, type World } from '../src/testing/index.js'

const BLOCK_MS = 200

declare module 'vitest' {
  export interface ProvidedContext {
    /** The one world that the tests under test/e2e share. */
    world: World
    /** Its home folder. */
    home: string
  }
}

/** Starts the shared world once a run, only when a test under test/e2e runs. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-shared-'))
  const removeHome = () => fs.rmSync(home, { recursive: true, force: true })
  const stack = await startStack({ home, blockMs: BLOCK_MS }).catch((error) => {
    removeHome()
    throw error
  })
  provide('world', stack.world)
  provide('home', home)
  return async () => {
    await stack.stop()
    removeHome()
  }
}
