import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { testProgram } from '../../../test/setup/built.js'

const SECRET = 'do-not-print-me'

/** Standard output and error of a process that writes to the log (test/support/logProcess.ts). */
async function outputOf(format: 'json' | 'pretty', what: string): Promise<string> {
  const args = [await testProgram('test/support/logProcess'), format, SECRET, what]
  const failed = (error: { stdout: string; stderr: string }) => error
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args).catch(failed)
  return stdout + stderr
}

describe('the log', () => {
  it.each(['json', 'pretty'] as const)('holds no key, signature or share (%s)', async (format) => {
    const text = await outputOf(format, 'secrets')
    expect(text.match(/a line/g)).toHaveLength(5)
    expect(text).toContain('[secret]')
    expect(text).not.toContain(SECRET)
  })

  it('shows the token of a payment', async () => {
    expect(await outputOf('json', 'token')).toContain('So11111111111111111111111111111111111111112')
  })

  it.each(['throw', 'reject'])('shows no more of an uncaught error (%s)', async (bug) => {
    const text = await outputOf('json', bug)
    expect(text).toContain('a bug ended this process')
    expect(text).not.toContain(SECRET)
  })
})
