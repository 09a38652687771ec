import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { createPool } from '../../src/db/pg/pool.js'
import { startStack, type World } from '../../src/testing/index.js'
import { recordGolden } from '../golden/journal.js'
import { shareWorld, signalSharedWorld } from './signals.js'

const BLOCK_MS = 200

declare module 'vitest' {
  export interface ProvidedContext {
    /** The one world that the tests under test/e2e share. */
    world: World
    /** The world's home folder. */
    home: string
  }
}

/**
 * Starts the shared world once per run, only when a test under test/e2e runs. vitest starts it before all other tests;
 * its chains and its daemon are stopped until `wakeWorld.ts`, and again by `restWorld.ts`, to leave them the machine.
 */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-shared-'))
  const removeHome = () => fs.rmSync(home, { recursive: true, force: true })
  const stack = await startStack({ home, blockMs: BLOCK_MS }).catch((error) => {
    removeHome()
    throw error
  })
  provide('world', stack.world)
  provide('home', home)
  const { surfpool } = stack.solana ?? {}
  const pids = [stack.daemon, ...Object.values(stack.anvils), ...(surfpool ? [surfpool] : [])].map(({ pid }) => pid)
  shareWorld(pids)
  signalSharedWorld('SIGSTOP')
  return async () => {
    signalSharedWorld('SIGCONT')
    await record(stack.world)
    await stack.stop()
    removeHome()
  }
}

/** `RECORD_GOLDEN=<file>`: writes what the tests have journalled on the mainnet, for test/golden. */
async function record({ databaseUrl }: World): Promise<void> {
  const file = process.env.RECORD_GOLDEN
  if (!file) return
  const pool = createPool({ url: databaseUrl, max: 1, applicationName: 'golden' })
  await recordGolden(pool, 'mainnet', file).finally(() => pool.end())
}
