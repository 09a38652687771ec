import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { createPool } from '../../src/db/pg/pool.js'
import { type Stack, startStack, type World } from '../../src/testing/index.js'
import { useBuiltPrograms } from '../../src/testing/processes/programs.js'
import { recordGolden } from '../golden/journal.js'
import { builtProgram } from './built.js'
import { expectSharedWorld, shareWorld, signalSharedWorld } from './signals.js'

const BLOCK_MS = 300

declare module 'vitest' {
  export interface ProvidedContext {
    /** Home folder of the one world that the tests under test/e2e share. */
    home: string
  }
}

/**
 * Starts the shared world once per run, where a test under test/e2e runs, beside the first of all tests. Its chains and
 * its daemon are stopped until `wakeWorld.ts`, and again by `restWorld.ts`, to leave others the machine.
 */
export default function setup(project: TestProject): () => Promise<void> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-shared-'))
  project.provide('home', home)
  expectSharedWorld(path.join(home, 'processes'))
  const { programs } = project.getProvidedContext()
  useBuiltPrograms((program) => builtProgram(programs, program))
  const starting = startStack({ home, blockMs: BLOCK_MS }).then(share, (error: Error) =>
    shareWorld(error),
  )
  return async () => {
    const stack = await starting
    if (stack) {
      signalSharedWorld('SIGCONT')
      await record(stack.world)
      await stack.stop()
    }
    fs.rmSync(home, { recursive: true, force: true })
  }
}

function share(stack: Stack): Stack {
  const { surfpool } = stack.solana ?? {}
  const pids = [stack.daemon, ...Object.values(stack.anvils), ...(surfpool ? [surfpool] : [])].map(
    ({ pid }) => pid,
  )
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  shareWorld(pids)
  return stack
}

/** `RECORD_GOLDEN=<file>`: writes what the tests have journalled on the mainnet, for test/golden. */
async function record({ databaseUrl }: World): Promise<void> {
  const file = process.env.RECORD_GOLDEN
  if (!file) return
  const pool = createPool({ url: databaseUrl, max: 1, applicationName: 'golden' })
  await recordGolden(pool, 'mainnet', file).finally(() => pool.end())
}
