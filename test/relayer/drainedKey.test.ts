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

it('a relay authority that fees have drained to its rent waits for SOL, and goes on at once when some comes', async () => {
  const { connection, solana, bridge } = world
  const relay = keypairOf(solana.relayAuthority)
  const funder = keypairOf(solana.accounts[1]!)
  const rent = BigInt(await connection.getMinimumBalanceForRentExemption(0))
  const send = (from: typeof relay, to: typeof relay, lamports: bigint) => {
    const move = { fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports }
    return sendSolana(connection, [from], SystemProgram.transfer(move))
  }
  // enough for 178 fees, if they might be paid of the rent
  await send(relay, funder, (await world.balance(relay)) - rent - 5_000n - 1n)
  expect(await world.balance(relay)).toBe(rent + 1n)

  const paid = await world.pay('drained', { foreign: true })
  const payer = await world.restart({ autoRefunds: true })
  await payer.step()
  expect(await world.payout(paid)).toMatchObject({ state: 0, reason: 'insufficient_funds' })
  expect(await world.closings(paid)).toBe(0)
  // dry for long: the next attempt would be an hour away
  await bridge.pool.query('UPDATE jobs SET failures = 9, next_ms = next_ms + 3600000 WHERE kind = 7')
  await payer.step()
  await send(funder, relay, 50_000_000n)
  // the balance is looked at every few seconds
  bridge.aheadMs = 10_000
  for (let i = 0; i < 40 && (await world.closings(paid)) === 0; i++) {
    await payer.step()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  expect(await world.closings(paid)).toBe(1)
})
