import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zeroHash } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { nextEnsKey, signedAnswer } from '../support/ens.js'
import { startDistributorWorld } from './support/distributor.js'
import { startEnsWorld } from './support/ens.js'
import {
  deliver,
  type HubWorld,
  hubCall,
  MINIMUM_WEI,
  messageOf,
  nameOf,
  placeBids,
  startHubWorld,
  withdrawRefund,
  word,
} from './support/hub.js'
import { NATIVE, startPaymentsWorld } from './support/payments.js'

/**
 * Gas of the transactions of users and the relayer, compared with contracts/evm/gas.json. Growth fails. After an
 * intended change, `UPDATE_GAS=1 npx vitest run test/contracts/gas.test.ts` writes the file.
 */
const FILE = join(import.meta.dirname, '../../contracts/evm/gas.json')
/** Tolerance for the number of zero bytes in random addresses in calldata. */
const NOISE = 0.005

/** Ceilings of the two most common calls, independent of gas.json. */
const CEILINGS = {
  'Hub: placeBid, 8 letters': 54_000,
  'CommunityPayments: placeBid, native': 69_000,
}

const gas: Record<string, number> = {}
const stops: (() => Promise<void>)[] = []
afterAll(() => Promise.all(stops.map((stop) => stop())))

const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, i) => nameOf(`${prefix}-${i}`))
const amounts = (count: number) => Array.from({ length: count }, () => MINIMUM_WEI)

async function measureHub() {
  const world = await startHubWorld()
  stops.push(world.stop)
  const { hub, alice, bob, relayer } = world
  type Tx = Parameters<HubWorld['succeed']>[0]
  const measure = async (label: string, tx: Tx) => {
    gas[`Hub: ${label}`] = Number((await world.succeed(tx)).gasUsed)
  }
  const bid = (from: Tx['from'], name: string) => ({
    from,
    to: hub,
    value: MINIMUM_WEI,
    data: hubCall('placeBid', [nameOf(name)]),
  })
  const bids = (count: number) => ({
    from: alice,
    to: hub,
    value: MINIMUM_WEI * BigInt(count),
    data: placeBids(amounts(count), names(count, `batch${count}`)),
  })
  const message = (count: number) => {
    const call = placeBids(amounts(count), names(count, `message${count}`))
    return world.receiving(messageOf(word(alice), call), MINIMUM_WEI * BigInt(count)).tx
  }
  const delivery = (count: number, first: number) =>
    deliver(
      ...Array.from({ length: count }, (_, i) => ({
        source: word(relayer),
        sequence: BigInt(first + i),
        from: word(bob),
        referral: zeroHash,
        amounts: amounts(1),
        names: names(1, `delivery${first + i}`),
      })),
    )
  await measure('placeBid, the first ever', bid(alice, 'first'))
  await measure('placeBid, 8 letters', bid(alice, 'eight-88'))
  await measure('placeBid, 32 letters', bid(alice, 'abcdefghijklmnopqrstuvwxyz012345'))
  await measure('placeBid, lost', bid(bob, 'first'))
  await measure('placeBids of 10', bids(10))
  await measure('placeBids of 100', bids(100))
  await measure('a message of 1 bid', message(1))
  await measure('a message of 100 bids', message(100))
  await measure('deliver, the first of 256', { from: relayer, to: hub, data: delivery(1, 0) })
  await measure('deliver, 1', { from: relayer, to: hub, data: delivery(1, 1) })
  await measure('deliver, 10', { from: relayer, to: hub, data: delivery(10, 2) })
  await measure('withdrawRefund', { from: bob, to: hub, data: withdrawRefund(bob) })
}

async function measurePayments() {
  const world = await startPaymentsWorld()
  stops.push(world.stop)
  const { alice, relayer, token, treasury } = world
  const measure = async (label: string, tx: Parameters<typeof world.succeed>[0]) => {
    gas[`CommunityPayments: ${label}`] = Number((await world.succeed(tx)).gasUsed)
  }
  const pay = async (count: number) => {
    const payments = []
    for (let i = 0; i < count; i++) payments.push(await world.pay(alice))
    return payments
  }
  await measure('placeBid, the first in a token', world.bidTx(alice, world.request()))
  await measure('placeBid, native', world.bidTx(alice, world.request()))
  await world.pay(alice, { token })
  await measure('placeBid, token', world.bidTx(alice, world.request({ token })))
  const [one, other, ...ten] = await pay(12)
  await measure('refuse, 1', world.endTx('refuse', [one!], relayer))
  await measure('release, 1', world.endTx('release', [other!], relayer))
  await measure('refuse, 10', world.endTx('refuse', ten, relayer))
  await measure('release, 10', world.endTx('release', await pay(10), relayer))
  await measure('withdraw', world.withdrawTx(treasury, NATIVE, treasury))
}

async function measureDistributor() {
  const world = await startDistributorWorld(1_000)
  stops.push(world.stop)
  gas['AirdropDistributor: claim, among 1,000'] = Number(
    (await world.succeed(world.claimTx(world.claims[0]!))).gasUsed,
  )
}

async function measureEns() {
  const world = await startEnsWorld()
  stops.push(world.stop)
  const measure = async (label: string, tx: Parameters<typeof world.succeed>[0]) => {
    gas[`EnsResolver: ${label}`] = Number((await world.succeed(tx)).gasUsed)
  }
  await measure('resolveWithProof, an address', world.proof(await signedAnswer(world.answer)))
  await measure('setSigner, the second', world.set(1n, nextEnsKey.address))
  const response = await signedAnswer(world.answer, { by: nextEnsKey })
  await measure('resolveWithProof, by the second signer', world.proof(response))
}

test('no transaction of users and the relayer costs more gas than before', async () => {
  await measureHub()
  await measurePayments()
  await measureDistributor()
  await measureEns()
  if (process.env.UPDATE_GAS) writeFileSync(FILE, `${JSON.stringify(gas, null, 2)}\n`)
  const before: Record<string, number> = JSON.parse(readFileSync(FILE, 'utf8'))
  expect(Object.keys(gas)).toEqual(Object.keys(before))
  const grown = Object.entries(gas).filter(([label, used]) => used > before[label]! * (1 + NOISE))
  expect(grown.map(([label, used]) => `${label}: ${used}, ${before[label]} before`)).toEqual([])
  for (const [label, most] of Object.entries(CEILINGS))
    expect(gas[label], label).toBeLessThanOrEqual(most)
}, 120_000)
