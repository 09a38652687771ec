import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { createTestClient, createWalletClient, encodeDeployData, type Hex, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  testSmartWalletAbi,
  testSmartWalletBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestSmartWallet.js'
import { testSmartWalletFactoryBytecode } from '../../contracts/evm/artifacts/test-doubles/TestSmartWalletFactory.js'
import { requireProof } from '../../src/api/auth/proof.js'
import { createRequestContexts } from '../../src/api/http/context.js'
import { createEvmChain, createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { parseChainsFile } from '../../src/config/index.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { startAnvil } from '../../src/testing/chains/anvil.js'
import { breakChecksum } from '../support/checksum.js'
import { useWorld } from '../support/useWorld.js'
import { type ApiWorld, type Reply, startApi } from './support.js'
import { messageOf, type Proof, proofOf, solanaAccount } from './wallets.js'

const golden = (name: string) =>
  JSON.parse(readFileSync(new URL(`../vectors/auth/${name}.json`, import.meta.url), 'utf8'))
const smart = golden('smart-wallets')

let world: ApiWorld
const anvil = useWorld(() => startAnvil({ chainId: 31_337 }))
const solana = solanaAccount()

const account = privateKeyToAccount(`0x${'4e'.repeat(32)}`)

afterEach(() => void vi.useRealTimers())
beforeAll(async () => {
  const client = createWalletClient({ transport: http(anvil.rpcUrl) })
  const [from] = await client.getAddresses()
  const deploy = (data: Hex) => client.sendTransaction({ account: from!, chain: null, data })
  await deploy(
    encodeDeployData({
      abi: testSmartWalletAbi,
      bytecode: testSmartWalletBytecode,
      args: [smart.owner],
    }),
  )
  await deploy(testSmartWalletFactoryBytecode)
  world = await startApi({ rpcUrls: { '1': anvil.rpcUrl } })
})
afterAll(() => world.stop())

const prove = (of: 'evm' | 'solana' = 'evm'): Promise<Proof> =>
  proofOf(world, of === 'evm' ? account : solana)
const exchange = (proof: unknown): Promise<Reply> => world.post('/v1/auth/token', proof)
const sessions = async (): Promise<number> =>
  (await world.pool.query('SELECT 1 FROM sessions')).rowCount!
const validate = (headers: Record<string, string>, init: RequestInit = {}) =>
  world.request('/v1/auth/validate', { ...init, headers })

async function expectRefused(proof: unknown, status: number, error: string): Promise<void> {
  const before = await sessions()
  const startedMs = performance.now()
  expect(await exchange(proof)).toMatchObject({ status, body: { status, error } })
  expect(performance.now() - startedMs).toBeLessThan(15_000)
  expect(await sessions()).toBe(before)
}

describe('a smart wallet', () => {
  const wallet: string = smart.wallet
  const owner = privateKeyToAccount(`0x${'4c'.repeat(32)}`)

  it('signs in with its owner’s signature over the address-bound message', async () => {
    const { message, signingDate } = await messageOf(world, `?type=evm&wallet=${wallet}`)
    const proof = {
      signature: await owner.signMessage({ message }),
      signingDate,
      type: 'evm',
      wallet,
    }
    const { token } = (await exchange(proof)).body
    expect((await validate({ 'x-auth-key': token })).body).toMatchObject({ wallet, isValid: true })
    const { signature } = proof
    for (const form of [signature.slice(2), `\n${signature} `, JSON.stringify({ signature })])
      expect((await exchange({ ...proof, signature: form })).body, form).toEqual({ token })
    await expectRefused({ ...proof, wallet: smart.factory }, 401, 'unauthorized')
    await expectRefused(
      { ...proof, signature: await account.signMessage({ message }) },
      401,
      'unauthorized',
    )
  })

  it('cannot sign in with the plain message, which its owner may have signed for another wallet', async () => {
    const { message, signingDate } = await messageOf(world)
    const proof = {
      signature: await owner.signMessage({ message }),
      signingDate,
      type: 'evm',
      wallet,
    }
    await expectRefused(proof, 401, 'unauthorized')
    expect((await exchange({ ...proof, wallet: owner.address })).status).toBe(200)
  })

  it('stores no long signature in its session', async () => {
    // a contract that accepts every signature: it returns the magic value of ERC-1271 for any call
    const generous = `0x${'e5'.repeat(20)}` as const
    const code = '0x631626ba7e60e01b60005260206000f3' as const
    const client = createTestClient({ mode: 'anvil', transport: http(anvil.rpcUrl) })
    await client.setCode({ address: generous, bytecode: code })
    const { signingDate } = await messageOf(world)
    const signature = `0x${'ab'.repeat(8_192)}`
    const { body } = await exchange({ signature, signingDate, type: 'evm', wallet: generous })
    expect((await validate({ 'x-auth-key': body.token })).body).toMatchObject({
      wallet: generous,
      isValid: true,
    })
    const { rows } = await world.pool.query(
      'SELECT max(pg_column_size(s.*)) AS bytes FROM sessions s',
    )
    expect(rows[0].bytes).toBeLessThan(400)
  })

  it('signs in with the recorded signatures', async () => {
    const { domain, signingDate, tokenKey } = golden('messages')
    const chains = {
      network: 'mainnet',
      label: '1',
      role: 'hub',
      chainId: 31_337,
      rpcUrls: [anvil.rpcUrl],
      contract: `0x${'11'.repeat(20)}`,
    }
    const [config] = parseChainsFile({ chains: [chains] }, 'test').chains
    const chain = createEvmChain({ config: config!, chain: 1, rpc: createEvmChainRpc(config!) })
    const contextWith = (walletFactories: readonly string[]) =>
      createRequestContexts({
        pool: world.pool,
        chains: [chain],
        config: { serviceDomain: domain, tokenKey: fromHex(tokenKey), walletFactories },
      }).mainnet
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(signingDate) + 1_000 })
    const accepts = (signature: string, factories: readonly string[]) =>
      requireProof(contextWith(factories), {
        signature,
        signingDate,
        type: 'evm',
        wallet,
      }).then(
        () => true,
        (error: Error) => (error.name === 'ApiError' ? false : Promise.reject(error)),
      )
    for (const { form, signature, isValid } of smart.erc1271)
      expect(await accepts(signature, []), form).toBe(isValid)
    for (const { form, signature, isValid } of smart.erc6492) {
      expect(await accepts(signature, []), form).toBe(false)
      expect(await accepts(signature, [smart.factory]), form).toBe(isValid)
    }
  })
})

describe('an invalid proof', () => {
  let evm: Proof
  let sol: Proof
  let strangers: string
  const stranger = privateKeyToAccount(generatePrivateKey())
  beforeAll(async () => {
    evm = await prove()
    sol = await prove('solana')
    strangers = await stranger.signMessage({ message: (await messageOf(world)).message })
  })
  const movedMs = (ms: number) => new Date(Date.now() + ms).toISOString()
  const atOtherTime = () => new Date(Date.parse(evm.signingDate) + 1).toISOString()
  const ofWrongChecksum = breakChecksum(account.address)
  const withNonce = { nonce: 'x'.repeat(16) }

  it.each<[name: string, proof: () => Proof]>([
    ["another's wallet", () => ({ ...evm, wallet: stranger.address })],
    ["another's signature", () => ({ ...evm, signature: strangers })],
    ['a signature cut short', () => ({ ...evm, signature: evm.signature.slice(0, -4) })],
    ['a signature with a byte more', () => ({ ...evm, signature: `${evm.signature}00` })],
    ['an empty signature', () => ({ ...evm, signature: `0x${'00'.repeat(65)}` })],
    ['the empty signature of a multisig', () => ({ ...evm, signature: '0x', ...withNonce })],
    ['a signature of Solana', () => ({ ...evm, signature: sol.signature })],
    ["another's Solana wallet", () => ({ ...sol, wallet: solanaAccount().address })],
    ['the zero key of Solana', () => ({ ...sol, wallet: '1'.repeat(32) })],
    ['an empty signature on Solana', () => ({ ...sol, signature: `0x${'00'.repeat(64)}` })],
    ['another date', () => ({ ...evm, signingDate: atOtherTime() })],
    ['a date of 11 minutes ago', () => ({ ...evm, signingDate: movedMs(-11 * 60_000) })],
    ['a date in 2 minutes', () => ({ ...evm, signingDate: movedMs(2 * 60_000) })],
    ['the first date', () => ({ ...evm, signingDate: '1970-01-01T00:00:00.000Z' })],
  ])('is unauthorized with %s, and changes nothing', async (_, proof) => {
    await expectRefused(proof(), 401, 'unauthorized')
  })

  it.each<[name: string, proof: () => Proof]>([
    ['an EVM wallet as Solana', () => ({ ...evm, type: 'solana' })],
    ['a Solana wallet as EVM', () => ({ ...sol, type: 'evm' })],
    ['an EVM wallet as Bitcoin', () => ({ ...evm, type: 'bitcoin' })],
    ['an EVM proof of a Solana wallet', () => ({ ...evm, wallet: sol.wallet })],
    ['a wrong checksum', () => ({ ...evm, wallet: ofWrongChecksum })],
    ['60,000 characters', () => ({ ...evm, wallet: '0'.repeat(60_000) })],
    ['60,000 characters on Solana', () => ({ ...sol, wallet: 'z'.repeat(60_000) })],
  ])('has an unsupported address with %s, and changes nothing', async (_, proof) => {
    await expectRefused(proof(), 400, 'unsupported_address')
  })

  it.each<[name: string, proof: () => unknown]>([
    ['a text as its signature', () => ({ ...evm, signature: 'no signature' })],
    ['no signature', () => ({ ...evm, signature: '' })],
    ['a long signature', () => ({ ...evm, signature: `0x${'a'.repeat(60_000)}` })],
    ['an EVM signature on Solana', () => ({ ...sol, signature: evm.signature })],
    ['a long signature on Solana', () => ({ ...sol, signature: 'z'.repeat(60_000) })],
    ['a short signature on Solana', () => ({ ...sol, signature: sol.signature.slice(0, -2) })],
    ['an unknown type', () => ({ ...evm, type: 'dogecoin' })],
    ['no type', () => ({ ...evm, type: undefined })],
    ['a signature that is a number', () => ({ ...evm, signature: 1 })],
    ['a wallet that is a list', () => ({ ...evm, wallet: [evm.wallet] })],
    ['no date', () => ({ ...evm, signingDate: '' })],
    ['the date 0', () => ({ ...evm, signingDate: '0' })],
    ['30 February', () => ({ ...evm, signingDate: '2026-02-30T00:00:00.000Z' })],
    ['a date in words', () => ({ ...evm, signingDate: new Date().toString() })],
    ['a zone', () => ({ ...evm, signingDate: evm.signingDate.replace('Z', '+00:00') })],
    ['a long date', () => ({ ...evm, signingDate: 'x'.repeat(60_000) })],
    ['no field', () => ({})],
    ['a list', () => []],
  ])('is malformed with %s, and changes nothing', async (_, proof) => {
    await expectRefused(proof(), 400, 'invalid_request')
  })

  const vector = (kind: string, form: string): { wallet: string; signature: string } =>
    golden(kind).find((row: { form: string }) => row.form === form)
  const bip322 = golden('../standards/bip322-generated')
  const full = bip322.full[1]
  const funds = bip322.proof_of_funds[2]
  const shared = bip322.simple[2]
  const cosmosKeys = JSON.stringify({
    pub_key: { type: 'tendermint/PubKeyMultisigThreshold', value: { threshold: '2' } },
    signature: 'AA==',
  })

  it.each<[string, string, string, string]>([
    ['ful', 'bitcoin', full.address, full.bip322_signatures[0]],
    ['pof', 'bitcoin', funds.address, funds.bip322_signatures[0]],
    ['multisig', 'bitcoin', shared.address, shared.bip322_signatures[0]],
    ['multisig', 'cosmos', vector('cosmos', 'DER').wallet, cosmosKeys],
    ...['multisig', 'zkLogin', 'passkey'].map((form) => {
      const { wallet, signature } = vector('sui', form)
      return [form, 'sui', wallet, signature] satisfies [string, string, string, string]
    }),
  ])('of %s (%s) is refused by a sentence that names it', async (name, type, wallet, signature) => {
    const { signingDate } = await messageOf(world)
    const { status, body } = await exchange({ signature, signingDate, type, wallet })
    expect(status).toBe(400)
    expect(body.message).toContain(name)
    expect(body.message).toContain('not verified here')
  })

  it('is stored with its session where it is short, and not with a long envelope', async () => {
    const proof = await prove()
    const long = JSON.stringify({ message: 'x'.repeat(1_000), signature: proof.signature })
    const { token } = (await exchange({ ...proof, signature: long })).body
    expect((await validate({ 'x-auth-key': token })).body.signature).toBe('')
  })

  it('with random fields gets a 4xx', async () => {
    const evm = await prove()
    const sol = await prove('solana')
    const text = fc.oneof(
      fc.constantFrom(...Object.values(evm), ...Object.values(sol)),
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.stringMatching(/^0x([0-9a-f]{2}){60,70}$/),
      fc.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/),
    )
    const field = fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: fc.jsonValue() })
    const proof = fc.record(
      { signature: field, signingDate: field, type: field, wallet: field },
      { requiredKeys: [] },
    )
    const before = await sessions()
    await fc.assert(
      fc.asyncProperty(proof, async (body) => {
        const isGood = [evm, sol].some((good) => JSON.stringify(good) === JSON.stringify(body))
        const { status } = await exchange(body)
        if (!isGood) expect(status).toBeGreaterThanOrEqual(400)
        expect(status).toBeLessThan(500)
      }),
      { numRuns: 200 },
    )
    expect(await sessions()).toBeLessThanOrEqual(before + 2)
  })
})
