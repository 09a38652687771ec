import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { describeMix, runMix } from './lib/run.js'

const SEED = 7
const RUN_MS = 180_000
const DEADLINE_MS = 900_000

it('one process answers all requests for minutes as a quiet process does', {
  timeout: DEADLINE_MS,
}, async () => {
  const report = await runMix({ seed: SEED, runMs: RUN_MS, hasLongest: true })
  console.log(describeMix(report))
  expect(report.faults.map(({ what }) => what)).toEqual([])
  expect(report.rounds).toBeGreaterThan(1)
})

it.each(['--seed x', '--seconds 0'])('`npm run mix -- %s` is refused with the usage', (options) => {
  const { status, stdout } = spawnSync('npx', ['tsx', 'scripts/mix.ts', ...options.split(' ')], {
    encoding: 'utf8',
  })
  expect(status).toBe(2)
  expect(stdout).toContain('--seed <n>')
})
