import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('bench:bulk asks for many at once and for pages at every depth, beside bare SQL', async () => {
  // the bench runs from the sources, without a build, and fails where an answer lacks something
  const args = ['--import', 'tsx', 'scripts/bench-bulk.ts', '--registrations', '1000', '--rounds', '2']
  const { stdout } = await promisify(execFile)(process.execPath, [...args, '--cli', 'src/cli.ts'], { cwd: ROOT })
  for (const title of ['POST /v1/names/address (1,000)', 'POST /v1/names (1,000)', 'GET /v1/events (1,000), end'])
    expect(stdout).toMatch(new RegExp(`${title.replace(/[()]/g, '\\$&')}( +[\\d.]+){5}`))
})
