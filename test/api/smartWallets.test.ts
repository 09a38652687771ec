import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, describe, expect, it } from 'vitest'
import type { LimitSettings } from '../../src/api/limits/gate.js'
import { Client } from '../../src/client/client.js'
import type { Safe } from '../support/safe.js'
import { wrapSignature } from '../support/safe.js'
import {
  askedOf,
  called,
  chains,
  expectKey,
  expectRefused,
  forgetCalls,
  HUB,
  hub,
  INVALID,
  messageFor,
  NO_CODE,
  newAccount,
  OTHER,
  other,
  plan,
  type Safes,
  SPOKE,
  setLies,
  signIn,
  spoke,
  useSmartWalletWorld,
  VALID,
  word,
  world,
} from './smartWalletWorld.js'
import type { Reply } from './support.js'
import { limitsOf, secondApi, stillBucket } from './support.js'

useSmartWalletWorld()

/** Smart wallets that sign in, of Safe's real contracts. */

describe('a deployed wallet', () => {
  it('signs in on the hub, of which two nodes are asked', async () => {
    const safe = await plan()
    await hub.deploy(safe)
    forgetCalls()
    await expectKey(signIn(safe), safe)
    expect(askedOf('hub')).toEqual(['hub 1', 'hub 2'])
    await expectKey(signIn(safe, { chainId: HUB }), safe)
    await expectRefused(signIn(safe, { by: newAccount() }))
    expect(askedOf('spoke')).toEqual([])
  })

  it('signs in on another mainnet chain, which its message names', async () => {
    const safe = await plan()
    await spoke.deploy(safe)
    const { message } = await messageFor(safe.address, { chainId: SPOKE })
    expect(message).toContain(`\nChain ID: ${SPOKE}\n`)
    expect((await messageFor(safe.address)).message).toContain(`\nChain ID: ${HUB}\n`)
    await expectKey(signIn(safe, { on: spoke, chainId: SPOKE }), safe)
    await expectRefused(signIn(safe, { on: spoke }))
    forgetCalls()
    await expectRefused(signIn(safe, { on: spoke, chainId: SPOKE, by: newAccount() }))
    expect(askedOf('other')).toEqual([])
  })

  it('has a signature for one chain only', async () => {
    const safe = await plan()
    await spoke.deploy(safe)
    const { message, signingDate } = await messageFor(safe.address)
    const signature = await spoke.sign(safe, safe.owner, message)
    const proof = { type: 'evm', wallet: safe.address, signature, signingDate }
    await expectRefused(world.post('/v1/auth/token', { ...proof, chainId: SPOKE }))
  })

  it('is decided by the hub where it has code, whichever chain is named', async () => {
    const safe = await plan()
    const other = newAccount()
    await hub.deploy(safe)
    await spoke.deploy(safe)
    await spoke.replaceOwner(safe, other)
    // the contract of the other chain accepts the signature
    const named = { chainId: SPOKE }
    await expectRefused(signIn(safe, { ...named, on: spoke, by: other }))
    forgetCalls()
    await expectKey(signIn(safe, named), safe)
    expect(askedOf('spoke')).toEqual([])
  })

  it('signs in by the client, which names the chain', async () => {
    const safe = await plan()
    await spoke.deploy(safe)
    const { address, owner } = safe
    const signMessage = ({ message }: { message: string }) => spoke.sign(safe, owner, message)
    const wallet = { address, signMessage }
    const client = new Client({ url: world.url })
    await expect(client.signIn(wallet)).rejects.toMatchObject({ code: 'unauthorized' })
    expect(await client.signIn(wallet, { chainId: SPOKE })).toBe(client.token)
  })

  it('recovers the key of a wallet that was generated for it', async () => {
    const safe = await plan()
    await spoke.deploy(safe)
    const token = await expectKey(signIn(safe, { on: spoke, chainId: SPOKE }), safe)
    const send = (path: string, body: unknown) =>
      world.request(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      })
    await send('/v1/clusters', {})
    const wallet = { type: 'evm', name: 'made' }
    const { address, share } = (await send('/v1/clusters/generate/wallet', wallet)).body
    const query = `type=evm&wallet=${safe.address}&recover=${address}&chainId=${SPOKE}`
    const { message, signingDate } = (await world.get(`/v1/auth/message?${query}`)).body
    const signature = await spoke.sign(safe, safe.owner, message)
    const body = { address, share, signature, signingDate }
    const recover = '/v1/clusters/generate/wallet/recover'
    expect((await send(recover, body)).status).toBe(401)
    const { body: made } = await send(recover, { ...body, chainId: SPOKE })
    expect(privateKeyToAccount(made.privateKey).address.toLowerCase()).toBe(address)
  })
})

const wrapped = (safe: Safe, factory = safe.deployment.factory) => ({
  as: (signature: Hex) => wrapSignature(signature, { ...safe.deployment, factory }),
})

describe('a wallet without code on the hub', () => {
  /** Code that accepts every signature (ERC-1271). */
  const ACCEPTS_ALL: Hex = '0x631626ba7e60e01b60005260206000f3'
  const setCode = (safe: Safe, code = ACCEPTS_ALL) => other.setCode(safe, code)
  async function expectElsewhere(reply: Promise<Reply>, chainId: number) {
    const { body } = await reply
    expect(body).toMatchObject({ status: 401, error: 'unauthorized' })
    expect(body.message).toContain(`code on the chain ${chainId}, which does not accept`)
  }

  it.each([
    ['', {}],
    [', also where the first node hides the wallet’s code', { 'spoke 1': NO_CODE }],
    [', also where the second node hides it', { 'spoke 2': NO_CODE }],
  ])('is not opened by whoever has other code at its address elsewhere%s', async (_, hidden) => {
    const safe = await plan()
    await spoke.deploy(safe)
    await setCode(safe)
    setLies(hidden)
    await expectElsewhere(signIn(safe, { chainId: OTHER, by: newAccount() }), SPOKE)
    await hub.deploy(safe)
    await expectKey(signIn(safe, { chainId: OTHER }), safe)
  })

  it('signs in where each chain that has its code accepts the signature', async () => {
    const safe = await plan()
    await spoke.deploy(safe)
    await setCode(safe)
    await expectKey(signIn(safe, { on: spoke, chainId: SPOKE }), safe)
    await setCode(safe, '0x00')
    await expectElsewhere(signIn(safe, { on: spoke, chainId: SPOKE }), OTHER)
  })

  it.each([
    ['the hub', () => ({ on: hub })],
    ['another chain', () => ({ on: other, chainId: OTHER })],
  ])('is not opened by its first owner, who deploys it on %s', async (_, where) => {
    const safe = await plan()
    await spoke.deploy(safe)
    await spoke.replaceOwner(safe, newAccount())
    await expectElsewhere(signIn(safe, { ...where(), ...wrapped(safe) }), SPOKE)
  })
})

describe('a wallet that is not deployed', () => {
  it.each([
    ['the hub', () => ({ on: hub })],
    ['another chain', () => ({ on: spoke, chainId: SPOKE })],
  ])('signs in by a known factory on %s, and stays undeployed', async (_, where) => {
    const safe = await plan()
    await expectRefused(signIn(safe, where()))
    await expectKey(signIn(safe, { ...where(), ...wrapped(safe) }), safe)
    await expectRefused(signIn(safe, { ...where(), ...wrapped(safe), by: newAccount() }))
    const other = await plan()
    await expectRefused(signIn(safe, { ...where(), ...wrapped(other) }))
    expect([await hub.hasCode(safe), await spoke.hasCode(safe)]).toEqual([false, false])
  })

  it('is decided by the hub once it is deployed there', async () => {
    const safe = await plan()
    await hub.deploy(safe)
    await hub.replaceOwner(safe, newAccount())
    await expectRefused(signIn(safe, wrapped(safe)))
    const named = { on: spoke, chainId: SPOKE }
    await expectRefused(signIn(safe, { ...named, ...wrapped(safe) }))
  })

  it('gets a sentence about another factory, and no node is asked', async () => {
    const factory = `0x${'ab'.repeat(20)}` as const
    const safe = await plan()
    forgetCalls()
    const { status, body } = await signIn(safe, wrapped(safe, factory))
    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(body.message).toContain(`factory ${factory} (ERC-6492)`)
    expect(called).toEqual([])
  })

  it.each([
    ['nothing but the suffix', ''],
    ['two words', 'ff'.repeat(64)],
    ['offsets that lead outside', `${'00'.repeat(12)}${'ab'.repeat(20)}${'ff'.repeat(64)}`],
  ])('of which the wrapping has %s is refused as malformed', async (_, inner) => {
    const safe = await plan()
    forgetCalls()
    const reply = await signIn(safe, { as: () => `0x${inner}${'6492'.repeat(16)}` })
    expect(reply.body).toMatchObject({ status: 400, error: 'invalid_request' })
    expect(called).toEqual([])
  })
})

describe('nodes that contradict each other', () => {
  it.each([
    ['hub 1', VALID],
    ['hub 2', VALID],
    ['spoke 1', VALID],
    ['spoke 2', VALID],
  ])('open no key: %s accepts every signature', async (node, lie) => {
    const safe = await plan()
    await spoke.deploy(safe)
    setLies({ [node]: lie })
    const named = { on: spoke, chainId: SPOKE }
    await expectRefused(signIn(safe, { ...named, by: newAccount() }))
    await expectRefused(signIn(safe, { by: newAccount() }))
  })

  it.each(['hub 1', 'hub 2'])('open no key: %s hides the code', async (node) => {
    const safe = await plan()
    const other = newAccount()
    await hub.deploy(safe)
    await spoke.deploy(safe)
    await spoke.replaceOwner(safe, other)
    setLies({ [node]: NO_CODE })
    await expectRefused(signIn(safe, { chainId: SPOKE, on: spoke, by: other }))
  })

  it.each<Hex>(['0x', INVALID, word(3), `${VALID}00`])(
    'open no key where both answer %s',
    async (answer) => {
      const safe = await plan()
      await hub.deploy(safe)
      setLies({ 'hub 1': answer, 'hub 2': answer })
      await expectRefused(signIn(safe))
    },
  )
})

describe('with limits', () => {
  const apis: { stop(): Promise<void> }[] = []
  const mostInASecond = (): number => {
    const inSecondAfter = ({ ms }: { ms: number }): number =>
      called.filter((later) => later.ms >= ms && later.ms < ms + 1_000).length
    return Math.max(...called.map(inSecondAfter))
  }
  const start = async (address: LimitSettings['address'], ofApi = chains) => {
    const limits = limitsOf(1, { address })
    const api = await secondApi(world, { chains: ofApi, trustProxy: 1, limits })
    apis.push(api)
    return (from: string, proof: object) =>
      fetch(`${api.url}/v1/auth/token`, {
        method: 'POST',
        headers: { 'x-forwarded-for': from },
        body: JSON.stringify(proof),
      })
  }
  afterAll(() => Promise.all(apis.map((api) => api.stop())))
  const proofOn = async (safes: Safes, chainId: number) => {
    const safe = await plan()
    await safes.deploy(safe)
    const { message, signingDate } = await messageFor(safe.address, { chainId })
    const signature = await safes.sign(safe, safe.owner, message)
    return { type: 'evm', wallet: safe.address, signature, signingDate, chainId }
  }

  it('a sign-in costs 10 units, and 5 for each node that is asked', async () => {
    const send = await start(stillBucket(300))
    const spent = async (from: string, proof: object): Promise<number> => {
      const { status, headers } = await send(from, proof)
      expect(status).toBe(200)
      return 300 - Number(/r=(\d+)/.exec(headers.get('ratelimit')!)![1])
    }
    const account = newAccount()
    const { message, signingDate } = await messageFor(account.address)
    const signature = await account.signMessage({ message })
    const ofKey = { type: 'evm', wallet: account.address, signature, signingDate }
    expect(await spent('203.0.113.1', ofKey)).toBe(10)
    expect(await spent('203.0.113.2', await proofOn(hub, HUB))).toBe(20)
    expect(await spent('203.0.113.3', await proofOn(spoke, SPOKE))).toBe(40)
  })

  it('a sign-in that asks many chains causes at most 20 calls of nodes in any second', async () => {
    const many = [...chains, ...Array.from({ length: 8 }, () => chains.at(-1)!)]
    const send = await start({ perSecond: 50, burst: 300 }, many)
    const proof = await proofOn(spoke, SPOKE)
    forgetCalls()
    expect((await send('203.0.113.7', proof)).status).toBe(200)
    expect(called.length).toBe(22)
    expect(mostInASecond()).toBeLessThanOrEqual(20)
  })

  it('an address causes at most 20 calls of nodes in any second', async () => {
    const send = await start({ perSecond: 50, burst: 300 })
    const untilMs = performance.now() + 4_000
    const statuses = new Set<number>()
    let count = 0
    const flood = async () => {
      while (performance.now() < untilMs) {
        const signingDate = new Date().toISOString()
        const signature = `0x${'ab'.repeat(65)}`
        const wallet = newAccount().address
        count += 1
        const chainId = count % 2 ? SPOKE : undefined
        const proof = { type: 'evm', wallet, signature, signingDate, chainId }
        statuses.add((await send('203.0.113.9', proof)).status)
      }
    }
    forgetCalls()
    await Promise.all(Array.from({ length: 8 }, flood))
    expect(mostInASecond()).toBeLessThanOrEqual(20)
    // more than one sign-in asks
    expect(called.length).toBeGreaterThan(4)
    expect([...statuses].sort()).toEqual([401, 429])
  })
})
