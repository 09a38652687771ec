import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { testProgram } from '../setup/built.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('bench:bulk asks for many at once and for pages at every depth, beside bare SQL', async () => {
  // over this run's build; the bench fails where an answer lacks something
  const args = [await testProgram('scripts/bench-bulk'), '--registrations', '1000', '--rounds', '2']
  const { stdout } = await promisify(execFile)(process.execPath, [...args, '--cli', await testProgram('cli')], {
    cwd: ROOT,
  })
  for (const title of ['POST /v1/names/address (1,000)', 'POST /v1/names (1,000)', 'GET /v1/events (1,000), end'])
    expect(stdout).toMatch(new RegExp(`${title.replace(/[()]/g, '\\$&')}( +[\\d.]+){5}`))
})
