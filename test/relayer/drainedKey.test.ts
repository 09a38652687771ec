import { SystemProgram } from '@solana/web3.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keypairOf } from '../../src/testing/solana/accounts.js'
import { sendSolana } from '../../src/testing/solana/sendSolana.js'
import { type PaymentWorld, startPaymentWorld } from './paymentWorld.js'

let world: PaymentWorld
beforeAll(async () => {
  world = await startPaymentWorld()
})
afterAll(() => world?.stop())

const keys = () => ({
  relay: keypairOf(world.solana.relayAuthority),
  funder: keypairOf(world.solana.accounts[1]!),
})
type Key = ReturnType<typeof keypairOf>
const send = (from: Key, to: Key, lamports: bigint) => {
  const move = { fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports }
  return sendSolana(world.connection, [from], SystemProgram.transfer(move))
}

async function drain(): Promise<void> {
  const { relay, funder } = keys()
  const rent = BigInt(await world.connection.getMinimumBalanceForRentExemption(0))
  // enough for 178 fees, if they might be paid of the rent
  await send(relay, funder, (await world.balance(relay)) - rent - 5_000n - 1n)
  expect(await world.balance(relay)).toBe(rent + 1n)
}
const fund = () => send(keys().funder, keys().relay, 50_000_000n)

type Stepping = Awaited<ReturnType<PaymentWorld['restart']>>
type Paid = Awaited<ReturnType<PaymentWorld['pay']>>
async function isClosedBy(payer: Stepping, paid: Paid): Promise<boolean> {
  for (let i = 0; i < 40 && (await world.closings(paid)) === 0; i++) {
    await payer.step()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return (await world.closings(paid)) === 1
}

it('a relay authority that fees have drained to its rent waits for SOL, and goes on at once when some comes', async () => {
  const { bridge } = world
  await drain()

  const paid = await world.pay('drained', { foreign: true })
  const payer = await world.restart({ autoRefunds: true })
  await payer.step()
  expect(await world.payout(paid)).toMatchObject({ state: 0, reason: 'insufficient_funds' })
  expect(await world.closings(paid)).toBe(0)
  // dry for long: the next attempt would be an hour away
  await bridge.pool.query('UPDATE jobs SET failures = 9, next_ms = next_ms + 3600000 WHERE kind = 7')
  await payer.step()
  await fund()
  // the balance is looked at every few seconds
  bridge.aheadMs = 10_000
  expect(await isClosedBy(payer, paid)).toBe(true)
})

it('what a host whose clock was a day ahead has put off goes on once the clock is set right', async () => {
  const { bridge } = world
  await drain()
  bridge.aheadMs = 86_400_000
  const paid = await world.pay('ahead', { foreign: true })
  const payer = await world.restart({ autoRefunds: true })
  await payer.step()
  // an hour's pause, for another reason than its funds, which would wake it themselves
  await bridge.pool.query(
    "UPDATE jobs SET reason = 'unreachable', next_ms = next_ms + 3600000 WHERE reason = 'insufficient_funds'",
  )
  await fund()
  await payer.step()
  expect(await world.closings(paid)).toBe(0)
  bridge.aheadMs = 0
  expect(await isClosedBy(payer, paid)).toBe(true)
})
