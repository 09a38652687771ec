import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { testProgram } from '../setup/built.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('bench:live follows blocks to their answers, beside a bare follower', async () => {
  // over this run's build; the bench fails where a registration does not appear
  const args = [await testProgram('scripts/bench-live'), '--blocks', '2', '--cli', await testProgram('cli')]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT })
  for (const row of [/clusterd start, 5 a block +[\d.]+ +[\d.]+/, /bare follower, 500 a block +[\d.]+ +[\d.]+/])
    expect(stdout).toMatch(row)
})
