import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { testProgram } from '../setup/built.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SMALL = ['--leaves', '300', '--wallets', '4', '--bundles', '2', '--rounds', '20']

test('bench:airdrop loads a file, looks claims up and prints the ratio', async () => {
  // over this run's build; the bench fails where a claim has no transaction
  const args = [await testProgram('scripts/bench-airdrop'), ...SMALL, '--cli', await testProgram('cli')]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT })
  expect(stdout).toMatch(/loaded 300 accounts in [\d.]+ s: [\d,]+ per second, peak \d+ MiB/)
  expect(stdout).toContain('bundles of 4 wallets among 300 leaves, 20 rounds')
  expect(stdout).toMatch(/GET \/v1\/airdrop\/claim\/:community +[\d.]+ +[\d.]+/)
  expect(stdout).toMatch(/ratio at p50 [\d.]+, at p99 [\d.]+/)
})
