import { randomBytes } from 'node:crypto'
import { SystemProgram } from '@solana/web3.js'
import bs58 from 'bs58'
import { beforeEach, expect, it } from 'vitest'
import { createSolanaRpc } from '../../src/chains/rpc/solana.js'
import { createSolanaSigner } from '../../src/chains/solana/signer.js'
import { keypairOfAccount } from '../../src/testing/solana/accounts.js'
import { type Alter, startSolanaProxy } from '../solana/solanaProxy.js'
import { sendSolanaTransaction } from '../support/sendSolana.js'
import { useWorld } from '../support/useWorld.js'
import { type PaymentWorld, startPaymentWorld } from './paymentWorld.js'

const SETTLE = 6
const CONFIRMED = 4

const world = useWorld(() => startPaymentWorld())
const proxy = useWorld(() => startSolanaProxy(world.solana.rpcUrl))
const second = useWorld(() => startSolanaProxy(world.solana.rpcUrl))
beforeEach(() => {
  world.bridge.aheadMs = 0
})

const keys = () => ({
  relay: keypairOfAccount(world.solana.relayAuthority),
  funder: keypairOfAccount(world.solana.accounts[1]!),
})
type Key = ReturnType<typeof keypairOfAccount>
const send = (from: Key, to: Key, lamports: bigint) => {
  const move = { fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports }
  return sendSolanaTransaction(world.connection, [from], SystemProgram.transfer(move))
}

async function drain(): Promise<void> {
  const { relay, funder } = keys()
  const rent = BigInt(await world.connection.getMinimumBalanceForRentExemption(0))
  // enough for 178 fees, if they might be paid of the rent
  await send(relay, funder, (await world.balance(relay)) - rent - 5_000n - 1n)
  expect(await world.balance(relay)).toBe(rent + 1n)
}
const fund = () => send(keys().funder, keys().relay, 50_000_000n)

const signerOn = (rpcUrls: string[]) =>
  createSolanaSigner({
    rpc: createSolanaRpc({ rpcUrls }),
    registrar: world.registrar,
    commitment: 'confirmed',
    secretKey: keys().relay.secretKey,
    maxUnitPrice: 0,
  })
type Answer = { value?: { lastValidBlockHeight: number } }
const FAR = 10 ** 9
/** Valid until a block that does not exist for years. */
const farBlockhash = () => ({ blockhash: bs58.encode(randomBytes(32)), lastValidBlockHeight: FAR })

type Stepping = Awaited<ReturnType<PaymentWorld['restart']>>
type Paid = Awaited<ReturnType<PaymentWorld['pay']>>
async function isClosedBy(payer: Stepping, paid: Paid): Promise<boolean> {
  for (let i = 0; i < 40 && (await world.closings(paid)) === 0; i++) {
    await payer.step()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return (await world.closings(paid)) === 1
}

/** Steps until the payment is closed. What is signed expires meanwhile, and what failed is tried again. */
async function stepUntilClosed(payer: Stepping, paid: Paid, stepMs: number): Promise<void> {
  for (let i = 0; i < 60 && (await world.closings(paid)) === 0; i++) {
    await payer.step().catch(() => {})
    world.bridge.aheadMs += stepMs
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
}

it('a settlement is not done by one answer of a node that took it for another', async () => {
  const paid = await world.pay('one-word')
  await world.deliver()
  let isLying = true
  const payer = await world.restart({
    signer: world.signerWith({
      // the transaction is lost on its way, and the node gives the statuses of another question, once
      send: async (raw) => (isLying ? null : world.signer.send(raw)),
      async statuses(asked) {
        const now = await world.signer.statuses(asked)
        if (!isLying) return now
        isLying = false
        return { ...now, statuses: asked.map(() => ({ isConfirmed: true, error: null })) }
      },
    }),
  })
  await world.finish(payer)
  expect(isLying).toBe(false)
  expect(await world.payout(paid)).toMatchObject({ kind: SETTLE, state: CONFIRMED })
  // the job is done, so the money has to be kept: the payer would take it back after a week, beside the name
  expect(await world.closings(paid)).toBe(1)
})

it.each([1, 2, 3])(
  'one lie about a blockhash, its end and the height does not keep a payment from being given back by %d nodes',
  async (count) => {
    const paid = await world.pay(`odd-${count}`, { foreign: true })
    const payer = await world.restart({ signer: signerOn(Array(count).fill(proxy.url)) })
    let lies = 0
    // until a transaction is signed by the answers
    proxy.alter = (method, _, result) => {
      if (lies > 0 && method === 'getSignatureStatuses') proxy.alter = null
      if (method === 'getEpochInfo') return { ...(result as object), blockHeight: FAR }
      if (method !== 'getLatestBlockhash') return result
      lies += 1
      return { ...(result as object), value: farBlockhash() }
    }
    await stepUntilClosed(payer, paid, 60_000)
    proxy.alter = null
    expect(lies).toBeGreaterThan(0)
    expect(await world.closings(paid)).toBe(1)
  },
)

type Lies = Record<string, (result: Answer) => object>

const dead = ({ value, ...result }: Answer) => {
  const blockhash = bs58.encode(randomBytes(32))
  const lastValidBlockHeight = value!.lastValidBlockHeight - 149
  return { ...result, value: { blockhash, lastValidBlockHeight } }
}
/** A node whose first blockhash is dead, so that the first transaction lands nowhere. */
function lying(lies: Lies): Alter {
  let isFirst = true
  return (method, _, result) => {
    const isLost = isFirst && method === 'getLatestBlockhash'
    if (isLost) isFirst = false
    const lie = isLost ? dead : lies[method]
    return lie ? lie(result as Answer) : result
  }
}
const unconfirmed = { slot: FAR, confirmations: 0, err: null, confirmationStatus: 'processed' }
const REFUSAL = { code: -32_602, message: 'Invalid params' }
let made = 0

it.each<[what: string, lies: Lies, refused?: readonly string[]]>([
  ['has no balance of the authority', { getBalance: (result) => ({ ...result, value: 0 }) }],
  ['is at block 0', { getEpochInfo: (result) => ({ ...result, blockHeight: 0 }) }],
  ['returns blockhashes that no block has', { getLatestBlockhash: dead }],
  [
    'returns blockhashes of the future, and is there',
    {
      getLatestBlockhash: (result) => ({ ...result, value: farBlockhash() }),
      getEpochInfo: (result) => ({ ...result, blockHeight: FAR - 9 }),
    },
  ],
  ['is at a slot of the future', { getEpochInfo: (result) => ({ ...result, absoluteSlot: FAR }) }],
  [
    'has every transaction in an unconfirmed block',
    { getSignatureStatuses: (result) => ({ ...result, value: Array(100).fill(unconfirmed) }) },
  ],
  ['refuses its height', {}, ['getEpochInfo']],
  ['refuses the statuses', {}, ['getSignatureStatuses']],
])(
  'a payment is given back where the first of two or three nodes always %s',
  async (_, lies, refused) => {
    for (const others of [1, 2]) {
      const paid = await world.pay(`first-${made++}`, { foreign: true })
      const honest = Array.from({ length: others }, () => second.url)
      const payer = await world.restart({ signer: signerOn([proxy.url, ...honest]) })
      proxy.alter = lying(lies)
      second.alter = lying({})
      proxy.errorOf = (method) => (refused?.includes(method) ? REFUSAL : undefined)
      await stepUntilClosed(payer, paid, 3_600_000)
      Object.assign(proxy, { alter: null, errorOf: null })
      second.alter = null
      expect(await world.closings(paid), `${others} honest nodes`).toBe(1)
    }
  },
)

it('a relay authority that fees have drained to its rent waits for SOL, and goes on at once when some comes', async () => {
  const { bridge } = world
  await drain()

  const paid = await world.pay('drained', { foreign: true })
  const payer = await world.restart()
  await payer.step()
  expect(await world.payout(paid)).toMatchObject({ state: 0, reason: 'insufficient_funds' })
  expect(await world.closings(paid)).toBe(0)
  // dry for long: the next attempt would be an hour away
  await bridge.pool.query(
    'UPDATE jobs SET failures = 9, next_ms = next_ms + 3600000 WHERE kind = 7',
  )
  await payer.step()
  await fund()
  // the balance is read every few seconds
  bridge.aheadMs = 10_000
  expect(await isClosedBy(payer, paid)).toBe(true)
})

it('what a host whose clock was a day ahead has put off goes on once the clock is set right', async () => {
  const { bridge } = world
  await drain()
  bridge.aheadMs = 86_400_000
  const paid = await world.pay('ahead', { foreign: true })
  const payer = await world.restart()
  await payer.step()
  // an hour's pause, for another reason than its funds, which would wake it themselves
  await bridge.pool.query(
    "UPDATE jobs SET reason = 'unreachable', next_ms = $1 WHERE reason = 'insufficient_funds'",
    [Date.now() + bridge.aheadMs + 3_600_000],
  )
  await fund()
  await payer.step()
  expect(await world.closings(paid)).toBe(0)
  bridge.aheadMs = 0
  expect(await isClosedBy(payer, paid)).toBe(true)
})
