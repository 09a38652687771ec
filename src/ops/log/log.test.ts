import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const SECRET = 'do-not-print-me'

/** Standard output and error of a process, to which the log writes. */
async function outputOf(format: 'json' | 'pretty', body: string): Promise<string> {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  const source = `
    import { HttpRequestError } from 'viem'
    import { createLog, endOnBugs } from ${JSON.stringify(fileURLToPath(new URL('log.ts', import.meta.url)))}
    const log = createLog({ level: 'trace', format: '${format}' })
    const error = () => new HttpRequestError({ url: 'http://node/${SECRET}', body: { data: '${SECRET}' }, status: 500 })
    ${body}`
  const args = ['--import', tsx, '--input-type=module', '--eval', source]
  const run = promisify(execFile)(process.execPath, args)
  const { stdout, stderr } = await run.catch((failed: { stdout: string; stderr: string }) => failed)
  return stdout + stderr
}

const LINES = `
    const secrets = Object.fromEntries(
      ['authorization', 'signature', 'share', 'privateKey', 'relayerPrivateKey', 'secretKey', 'passphrase', 'databaseUrl']
        .map((key) => [key, '${SECRET}']))
    log.info(secrets, 'a line')
    log.info({ config: secrets }, 'a line')
    log.info({ headers: { authorization: '${SECRET}', 'x-auth-key': '${SECRET}' } }, 'a line')
    log.info({ req: { headers: { 'x-api-key': '${SECRET}', 'x-auth-key': '${SECRET}' } } }, 'a line')
    log.info({ err: new Error('a request failed', { cause: error() }) }, 'a line')`

describe('the log', () => {
  it.each(['json', 'pretty'] as const)('holds no key, signature or share (%s)', async (format) => {
    const text = await outputOf(format, LINES)
    expect(text.match(/a line/g)).toHaveLength(5)
    expect(text).toContain('[secret]')
    expect(text).not.toContain(SECRET)
  })

  it('names the token of a payment', async () => {
    expect(
      await outputOf('json', `log.info({ token: 'So11111111111111111111111111111111111111112' }, 'a line')`),
    ).toContain('So11111111111111111111111111111111111111112')
  })

  it.each(['throw error()', 'Promise.reject(error())'])('shows no more of what nothing caught (%s)', async (bug) => {
    const text = await outputOf('json', `endOnBugs(log)\n${bug}`)
    expect(text).toContain('a bug ended this process')
    expect(text).not.toContain(SECRET)
  })
})
