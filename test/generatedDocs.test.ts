import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ROOT } from '../scripts/files.js'

const before = process.argv
beforeAll(() => {
  process.argv = [...before, '--check']
})
afterAll(() => {
  process.argv = before
  process.exitCode = undefined
})

it.each(['alarms-doc', 'events-doc', 'interface-doc', 'limits-doc', 'metrics-doc'])(
  'what `npm run %s` writes is current',
  async (script) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    await import(join(ROOT, 'scripts', `${script}.ts`))
    const lines = log.mock.calls.map(([line]) => String(line))
    log.mockRestore()
    expect(lines).toEqual(lines.map(() => expect.stringMatching(/ is current$/)))
    expect(lines).not.toEqual([])
  },
)
