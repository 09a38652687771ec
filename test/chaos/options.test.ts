import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

/** Runs `scripts/chaos.ts` with options that must not start a run. */
const chaos = (...options: string[]) =>
  spawnSync('npx', ['tsx', 'scripts/chaos.ts', ...options], { encoding: 'utf8' })

it.each(['--seeds 3,8-10', '--seeds 9-8', '--seed x', '--minutes 0'])(
  '`%s`, which names no run, is refused with the usage: no run must not look like runs without a breach',
  (options) => {
    const { status, stdout } = chaos(...options.split(' '))
    expect(status).toBe(2)
    expect(stdout).toContain('--seeds <n>-<n>')
  },
)
