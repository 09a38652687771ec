import { createCipheriv, pbkdf2Sync, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ed25519 } from '@noble/curves/ed25519'
import bs58 from 'bs58'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createSigningAccount } from '../../src/chains/evm/relayerAccount.js'
import { createLogger } from '../../src/ops/logger/logger.js'
import { keccak256 } from '../../src/registry/primitives/keccak.js'
import { startTestDaemon, type TestDaemon } from '../support/daemon.js'
import { useFolder } from '../support/folder.js'
import { startHubWorld } from '../support/hubWorld.js'
import {
  INDISCRETIONS,
  type IndiscreetNode,
  startIndiscreetNode,
} from '../support/indiscreetNode.js'
import { signIn } from '../support/signIn.js'
import { useWorld } from '../support/useWorld.js'

const DEADLINE = { timeout: 40_000, interval: 200 }
const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}` as const

const seed = randomBytes(32)
const solanaKey = Buffer.concat([seed, ed25519.getPublicKey(seed)])
const relayerKey = generatePrivateKey()
const relayer = privateKeyToAccount(relayerKey).address
/** Secrets of the operator. */
const KEYS = {
  AIRDROP_OPERATOR_PRIVATE_KEY: generatePrivateKey(),
  SOLANA_RELAYER_PRIVATE_KEY: bs58.encode(solanaKey),
  TOKEN_KEY: hex(32),
  SHARE_KEY: hex(32),
  QUOTE_KEY: hex(32),
  LOG_KEY: hex(32),
}
const rpcKey = `planted${randomBytes(8).toString('hex')}`
const signerToken = `planted${randomBytes(8).toString('hex')}`
const password = `planted${randomBytes(8).toString('hex')}`
/** Secrets of callers: a smart wallet's signature, an invalid one, a share. */
const signature = hex(100)
const signature65 = hex(65)
const share = hex(33)

const world = useWorld(() => startHubWorld())
let node: IndiscreetNode
/** Remote signer with the relayer's key, at a URL with a user, a password and a token. */
let signer: IndiscreetNode
let signerUrl: string
let daemon: TestDaemon
let authKey = ''
/** All texts that anybody could read, apart from the log. */
const answered: string[] = []

beforeAll(async () => {
  await world.test.mine({ blocks: 5 })
  node = await startIndiscreetNode(world.anvil.rpcUrl, rpcKey)
  signer = await startIndiscreetNode(world.anvil.rpcUrl, signerToken)
  signerUrl = Object.assign(new URL(signer.rpcUrl), { username: 'relay', password }).href
  const databaseUrl = Object.assign(new URL(world.postgres.url), { password }).href
  // with a payments contract the relayer asks the node too
  const hub = {
    ...world.section,
    rpcUrls: [node.rpcUrl],
    pollMs: 100,
    communityPayments: `0x${'33'.repeat(20)}`,
  }
  daemon = await startTestDaemon(
    databaseUrl,
    { chains: [hub] },
    {
      ...KEYS,
      LOG_LEVEL: 'trace',
      RELAYER_SIGNER_URL: signerUrl,
      RELAYER_ADDRESS: relayer,
    },
  )
  const isCaughtUp = () => daemon.metric('clusterd_chain_caught_up')
  const caughtUp = 'clusterd_chain_caught_up{network="mainnet",chain="1"} 1'
  await vi.waitFor(async () => expect(await isCaughtUp()).toContain(caughtUp), DEADLINE)
  authKey = await signIn(daemon, generatePrivateKey())
})
afterAll(async () => {
  await daemon?.stop()
  node?.stop()
  signer?.stop()
})

async function read(url: string, init?: RequestInit): Promise<number> {
  const response = await fetch(url, init)
  answered.push(await response.text(), JSON.stringify([...response.headers]))
  return response.status
}

const post = (path: string, body: unknown): Promise<number> =>
  read(`${daemon.api}${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { authorization: `Bearer ${authKey}` },
  })

const wallet = privateKeyToAccount(generatePrivateKey()).address
const proof = (bytes: string) => ({
  signature: bytes,
  signingDate: new Date().toISOString(),
  type: 'evm',
  wallet,
})
const recovery = () => ({ address: wallet, share, ...proof(signature) })

/** Sends all requests that need the chain, the database or a secret, both valid and invalid. */
async function askAll(): Promise<number[]> {
  const statuses = await Promise.all([
    post('/v1/auth/token', proof(signature)),
    post('/v1/auth/token', proof(signature65)),
    post('/v1/auth/token', { ...proof(signature), wallet: signature }),
    post('/v1/auth/token', `{"signature":"${signature}",`),
    post('/v1/clusters/generate/wallet/recover', recovery()),
    post('/v1/clusters/generate/wallet', { type: 'evm', name: share }),
    post('/v1/clusters/wallets', [{ address: share, name: share, isPrivate: share }]),
    read(`${daemon.api}/v1/names/register/tx/${hex(32)}`),
    read(`${daemon.api}/v1/auth/validate`, { headers: { authorization: `Bearer ${share}` } }),
    post('/v1/names/register/evm', { network: '1', sender: wallet, names: [{ name: 'alice' }] }),
  ])
  for (const path of ['/status', '/ready', '/health', '/metrics'])
    await read(`${daemon.ops}${path}`)
  return statuses
}

/** The secrets that a text contains, without prefixes and in the forms that logs may give them. */
function found(text: string): string[] {
  const own = [
    ...Object.values(KEYS),
    relayerKey,
    rpcKey,
    signerToken,
    password,
    signature,
    signature65,
    share,
    authKey,
  ]
  const forms = [
    ...own,
    solanaKey.toString('hex'),
    [...solanaKey].join(','),
    // in basic authentication, as a server may repeat it
    Buffer.from(`relay:${password}`).toString('base64'),
  ]
  const lower = text.toLowerCase()
  return forms.filter((form) => lower.includes(form.toLowerCase().replace(/^0x/, '').slice(0, 24)))
}

const logged = () => daemon.warnings().join('')

it.each(INDISCRETIONS)(
  'secrets in a node’s answers (%s) appear nowhere else',
  async (fault) => {
    const before = node.count()
    node.be(fault)
    const alarms = async () => (await daemon.metric('clusterd_alarm')).join()
    await expect.poll(alarms, DEADLINE).toContain('ClusterdChainFailing')
    const statuses = await askAll()
    expect(statuses).toContain(503)
    await expect.poll(() => node.count(), DEADLINE).toBeGreaterThan(before)
    node.be(null)
    await expect.poll(alarms, DEADLINE).not.toContain('ClusterdChainFailing')
    expect(found(logged())).toEqual([])
    expect(found(answered.join())).toEqual([])
  },
  120_000,
)

it.each(INDISCRETIONS)('secrets in a signer’s answers (%s) appear nowhere else', async (fault) => {
  const lines: string[] = []
  const log = createLogger({ level: 'trace', to: { write: (line) => void lines.push(line) } })
  signer.be(fault)
  const before = signer.count()
  const account = createSigningAccount({ signerUrl, address: relayer })
  const tx = {
    type: 'eip1559',
    chainId: 1,
    nonce: 0,
    gas: 21_000n,
    to: relayer,
    maxFeePerGas: 1n,
  } as const
  await account
    .signTransaction({ ...tx, data: hex(4) })
    .catch((err: unknown) => log.error({ err }, String(err)))
  expect(signer.count()).toBe(before + 1)
  expect(lines.join()).toContain('SignerUnavailableError')
  expect(found(lines.join())).toEqual([])
})

/** A keystore file, as geth writes it. */
function keystore(): string {
  const salt = randomBytes(32)
  const iv = randomBytes(16)
  const derived = pbkdf2Sync(password, salt, 1_000, 32, 'sha256')
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([
    cipher.update(Buffer.from(relayerKey.slice(2), 'hex')),
    cipher.final(),
  ])
  const mac = keccak256(Buffer.concat([derived.subarray(16), ciphertext]))
  const kdfparams = { c: 1_000, dklen: 32, salt: salt.toString('hex'), prf: 'hmac-sha256' }
  const crypto = {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: iv.toString('hex') },
    kdf: 'pbkdf2',
    kdfparams,
  }
  const bytes = { ciphertext: ciphertext.toString('hex'), mac: Buffer.from(mac).toString('hex') }
  return JSON.stringify({ version: 3, crypto: { ...crypto, ...bytes } })
}

const home = useFolder()

it('a daemon that opens a keystore, or fails to, shows neither the key nor the password', async () => {
  const file = (name: string, content: string) => {
    writeFileSync(join(home, name), content)
    return join(home, name)
  }
  const content = keystore()
  const env = { ...KEYS, LOG_LEVEL: 'trace', RELAYER_KEYSTORE: file('keystore', content) }
  const chains = { chains: [world.section] }
  const right = { ...env, RELAYER_PASSWORD_FILE: file('password', `${password}\n`) }
  const opened = await startTestDaemon(world.postgres.url, chains, right)
  for (const path of ['/status', '/metrics']) await read(`${opened.ops}${path}`)
  await opened.stop()
  const wrong = { ...env, RELAYER_PASSWORD_FILE: file('wrong', `${password}x`) }
  const refusal = await startTestDaemon(world.postgres.url, chains, wrong).catch(String)
  expect(refusal).toContain('RELAYER_KEYSTORE can not be opened')
  const texts = [...opened.warnings(), ...answered, refusal].join()
  expect(opened.warnings()).not.toEqual([])
  expect(found(texts)).toEqual([])
  const { crypto } = JSON.parse(content) as { crypto: { ciphertext: string; mac: string } }
  expect(texts).not.toContain(crypto.ciphertext)
  expect(texts).not.toContain(crypto.mac)
})

it('an outage of the database shows no secret either', async () => {
  await world.postgres.stop()
  const statuses = await askAll()
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(3)
  expect(logged()).toContain('a request could not be served')
  expect(logged()).toContain('RpcError')
  expect(found(logged())).toEqual([])
  expect(found(answered.join())).toEqual([])
})

it('the search finds secrets that are there', () => {
  expect(
    found(`x ${JSON.stringify({ relayerKey })} ${rpcKey} ${[...solanaKey].join(',')}`),
  ).toHaveLength(3)
})
