import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const SECRET = 'do-not-print-me'

/** Standard output of a process, to which the log writes. */
async function logged(format: 'json' | 'pretty'): Promise<string> {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  const source = `import { createLog } from ${JSON.stringify(fileURLToPath(new URL('log.ts', import.meta.url)))}
    const log = createLog({ level: 'trace', format: '${format}' })
    const secrets = Object.fromEntries(
      ['authorization', 'signature', 'token', 'share', 'privateKey', 'relayerPrivateKey', 'secretKey', 'passphrase', 'databaseUrl']
        .map((key) => [key, '${SECRET}']))
    log.info(secrets, 'a line')
    log.info({ config: secrets }, 'a line')
    log.info({ headers: { authorization: '${SECRET}', 'x-auth-key': '${SECRET}' } }, 'a line')
    log.info({ req: { headers: { authorization: '${SECRET}', 'x-auth-key': '${SECRET}' } } }, 'a line')`
  const args = ['--import', tsx, '--input-type=module', '--eval', source]
  return (await promisify(execFile)(process.execPath, args)).stdout
}

describe('the log', () => {
  it.each(['json', 'pretty'] as const)('holds no key, signature or share (%s)', async (format) => {
    const text = await logged(format)
    expect(text.match(/a line/g)).toHaveLength(4)
    expect(text).toContain('[secret]')
    expect(text).not.toContain(SECRET)
  })
})
