import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../test/support/folder.js'
import { ConfigError } from './error.js'
import { readEnvironment } from './index.js'

/** Secrets in files instead of the environment. */

const folder = useFolder()
const key = (digits: string): string => `0x${digits.repeat(32)}`

/** Writes a text to a file. @returns its path */
function fileOf(text: string): string {
  const path = join(folder, `secret-${Math.random()}`)
  writeFileSync(path, text)
  return path
}

/** Values of each secret, and how the environment has them. */
const SECRETS: Record<
  string,
  [value: string, read: (env: ReturnType<typeof readEnvironment>) => unknown]
> = {
  DATABASE_URL: ['postgresql://u:p@host/db', ({ databaseUrl }) => databaseUrl],
  DATABASE_DIRECT_URL: ['postgresql://u:p@host/db', ({ databaseDirectUrl }) => databaseDirectUrl],
  OPS_TOKEN: ['a token of operators', ({ opsToken }) => opsToken],
  RELAYER_PRIVATE_KEY: [key('11'), ({ relayerKeySources }) => relayerKeySources.privateKey],
  RELAYER_SIGNER_URL: [
    'https://u:p@signer',
    ({ relayerKeySources }) => relayerKeySources.signerUrl,
  ],
  ENS_PRIVATE_KEY: [key('11'), ({ ensKeySources }) => ensKeySources.privateKey],
  ENS_SIGNER_URL: ['https://u:p@signer', ({ ensKeySources }) => ensKeySources.signerUrl],
  SOLANA_RELAYER_PRIVATE_KEY: [
    JSON.stringify([
      ...Buffer.alloc(32, 1),
      ...Buffer.from('8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c', 'hex'),
    ]),
    ({ relayKeys }) => relayKeys.solana,
  ],
  SOLANA_RPC_URL: ['http://u:p@node', ({ solanaRpcUrl }) => solanaRpcUrl],
  AIRDROP_OPERATOR_PRIVATE_KEY: [key('11'), ({ airdropOperatorKey }) => airdropOperatorKey],
  QUOTE_KEY: [`${key('11')}, ${key('22')}`, ({ quoteKeys }) => quoteKeys],
  LOG_KEY: [`${key('11')}, ${key('22')}`, ({ logKeySources }) => logKeySources.seeds],
  MIRROR_URL: ['https://u:p@names', ({ mirrorSource }) => mirrorSource.url],
  MIRROR_API_KEY: ['ck_of-the-source', ({ mirrorSource }) => mirrorSource.apiKey],
  TOKEN_KEY: [key('11'), ({ tokenKey }) => tokenKey],
  SHARE_KEY: [key('11'), ({ shareKeys }) => shareKeys],
}

describe.each(Object.entries(SECRETS))('%s', (variable, [value, read]) => {
  const direct = read(readEnvironment({ [variable]: value }))

  it.each(['', '\n', '\r\n', ' \n\n'])('is read from its file, which ends in %j', (end) => {
    const set = { [`${variable}_FILE`]: fileOf(`${value}${end}`) }
    expect(direct).toBeDefined()
    expect(read(readEnvironment(set))).toEqual(direct)
  })

  it('is refused where the environment has it too', () => {
    const set = { [variable]: value, [`${variable}_FILE`]: fileOf(value) }
    expect(() => readEnvironment(set)).toThrow(
      new ConfigError(`${variable} and ${variable}_FILE exclude one another: set one.`),
    )
  })

  it('is refused, with the name of the file, where the file can not be read', () => {
    expect(() => readEnvironment({ [`${variable}_FILE`]: '/nowhere' })).toThrow(
      new ConfigError(`${variable}_FILE: /nowhere can not be read (ENOENT).`),
    )
  })

  it('is refused, with the name of the file and without its content, where the content is wrong', () => {
    const path = fileOf('no-secret')
    const reading = () => readEnvironment({ [`${variable}_FILE`]: path })
    expect(reading).toThrow(`${variable} of ${variable}_FILE (${path})`)
    expect(reading).not.toThrow('no-secret')
  })
})

it('each variable with a key, a token or a URL that may hold a password is a secret', () => {
  const names = readFileSync('src/config/environment.ts', 'utf8').matchAll(/^ {2}([A-Z0-9_]+): /gm)
  const kept = [...names].map(([, name]) => name!).filter((name) => /KEY$|TOKEN$|URL$/.test(name))
  // public values: limits, the site's URL, and a public key
  const open = ['SITE_URL', 'LIMIT_KEY', 'MIRROR_KEY']
  expect(kept.filter((name) => !open.includes(name)).sort()).toEqual(Object.keys(SECRETS).sort())
})

it('a Solana key’s file has a second variable, and only one of the two may be set', () => {
  const path = fileOf(SECRETS.SOLANA_RELAYER_PRIVATE_KEY![0])
  const set = { SOLANA_RELAYER_KEY_FILE: path }
  expect(readEnvironment(set).relayKeys.solana).toHaveLength(64)
  expect(() => readEnvironment({ ...set, SOLANA_RELAYER_PRIVATE_KEY_FILE: path })).toThrow(
    'SOLANA_RELAYER_PRIVATE_KEY_FILE and SOLANA_RELAYER_KEY_FILE exclude one another: set one.',
  )
})

it('an endless file is read up to a limit', () => {
  expect(() => readEnvironment({ TOKEN_KEY_FILE: '/dev/zero' })).toThrow(
    new ConfigError('TOKEN_KEY_FILE: /dev/zero holds more than 65536 bytes, and no secret does.'),
  )
})

it('a process may provide the secret, such as the shell’s <(command)', async () => {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const writer = spawn('sh', ['-c', `sleep 0.2; printf %s "$KEY" > "$PIPE"`], {
    env: { ...process.env, KEY: key('11'), PIPE: path },
  })
  expect(readEnvironment({ TOKEN_KEY_FILE: path }).tokenKey).toHaveLength(32)
  await once(writer, 'close')
})

it('the file of a variable that is not secret is not read', () => {
  expect(readEnvironment({ PORT_FILE: '/nowhere' }).port).toBeUndefined()
})
