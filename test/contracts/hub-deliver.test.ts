import { ContractFunctionRevertedError, zeroHash } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { freshEach } from './support/chain.js'
import {
  DELIVER_LIMIT_WEI,
  type Delivery,
  deliver,
  deliveryId,
  eventsOf,
  type HubWorld,
  hubCall,
  MINIMUM_WEI,
  nameOf,
  REASON,
  startHubWorld,
  word,
} from './support/hub.js'

const PAYER = `0x${'51'.repeat(32)}` as const
const REFERRAL = `0x${'cd'.repeat(32)}` as const
const NAMES = ['one', 'two'].map(nameOf)
const AMOUNTS = [MINIMUM_WEI, 2n * MINIMUM_WEI]
const SOURCE = `0x${'50'.repeat(32)}` as const
const DAY_S = 86_400n

let world: HubWorld

beforeAll(async () => {
  world = await startHubWorld()
})
freshEach(() => world)
afterAll(() => world.stop())

let count = 0n
/** A payment with a sequence of its own. */
const payment = (parts: Partial<Delivery> = {}): Delivery => ({
  ...{ source: SOURCE, sequence: count++, from: PAYER, amounts: AMOUNTS, names: NAMES, referral: zeroHash },
  ...parts,
})
const one = (label: string, amount = MINIMUM_WEI) => payment({ amounts: [amount], names: [nameOf(label)] })

const send = (...deliveries: readonly Delivery[]) =>
  world.succeed({ from: world.relayer, to: world.hub, data: deliver(...deliveries) })
const reasonOf = (...deliveries: readonly Delivery[]) => world.reasonOf(world.relayer, deliver(...deliveries))
const isDelivered = ({ source, sequence }: Delivery) =>
  world.publicClient.readContract({
    ...{ address: world.hub, abi: hubAbi },
    ...{ functionName: 'isDelivered', args: [source, sequence] },
  })
const deliveredOn = (day: bigint) =>
  world.publicClient.readContract({ address: world.hub, abi: hubAbi, functionName: 'deliveredOn', args: [day] })
const NO_MONEY = { balance: 0n, kept: 0n, owed: 0n }

test('a delivery wins names for the payer and moves no money', async () => {
  const paid = payment()
  expect(await isDelivered(paid)).toBe(false)
  expect(eventsOf(await send(paid))).toEqual(logsOf(paid))
  expect(await Promise.all(NAMES.map(world.ownerOf))).toEqual([PAYER, PAYER])
  expect(await world.money()).toEqual(NO_MONEY)
  expect(await isDelivered(paid)).toBe(true)
})

test('its referral is in the logs', async () => {
  const receipt = await send(payment({ referral: REFERRAL }))
  expect(eventsOf(receipt)[0]).toEqual(['Bid', PAYER, MINIMUM_WEI, NAMES[0], REFERRAL])
})

test('bids that lose or are refused are logged and credit nothing: they are refunded where they were paid', async () => {
  await world.succeed({ from: world.bob, to: world.hub, data: hubCall('placeBid', [NAMES[0]!]), value: MINIMUM_WEI })
  const names = [NAMES[0]!, nameOf('No'), NAMES[1]!]
  const amounts = [MINIMUM_WEI, MINIMUM_WEI, 1n]
  const paid = payment({ names, amounts })
  expect(eventsOf(await send(paid))).toEqual([
    ['Bid', PAYER, MINIMUM_WEI, names[0]],
    ['Bid', PAYER, MINIMUM_WEI, names[1]],
    ['BidRefused', PAYER, MINIMUM_WEI, names[1], REASON.malformedName],
    ['Bid', PAYER, 1n, names[2]],
    ['BidRefused', PAYER, 1n, names[2], REASON.belowMinimum],
    ['Received', deliveryId(paid), PAYER, 3n],
  ])
  expect(await Promise.all(names.map(world.ownerOf))).toEqual([word(world.bob), zeroHash, zeroHash])
  expect(await world.refundOf(PAYER)).toBe(0n)
  expect(await world.money()).toEqual({ balance: MINIMUM_WEI, kept: MINIMUM_WEI, owed: 0n })
})

describe('a batch', () => {
  const [other, third] = [`0x${'52'.repeat(32)}`, `0x${'53'.repeat(32)}`] as const

  test('counts in its order, each payment for its own payer', async () => {
    const [first, second, last] = [one('a'), { ...one('a'), from: other }, { ...one('b'), from: third }]
    expect(eventsOf(await send(first!, second!, last!))).toEqual([first!, second!, last!].flatMap(logsOf))
    expect(await Promise.all(['a', 'b'].map((label) => world.ownerOf(nameOf(label))))).toEqual([PAYER, third])
    expect(await world.money()).toEqual(NO_MONEY)
  })

  test('skips what was delivered before, in another batch or in itself, without a log', async () => {
    const [first, second] = [one('a'), one('b')]
    await send(first)
    const again = { ...first, names: [nameOf('other')] }
    expect(eventsOf(await send(again, second, { ...second, names: [nameOf('more')] }))).toEqual(logsOf(second))
    expect(await Promise.all(['other', 'more'].map((label) => world.ownerOf(nameOf(label))))).toEqual([
      zeroHash,
      zeroHash,
    ])
    expect(eventsOf(await send(first, second))).toEqual([])
    expect(eventsOf(await send())).toEqual([])
  })

  test('takes every sequence of every source apart', async () => {
    const sequences = [0n, 1n, 127n, 128n, 255n, 256n, 257n, 511n, 2n ** 63n, 2n ** 64n - 1n]
    const all = [SOURCE, other].flatMap((source) => sequences.map((sequence) => ({ ...one('a'), source, sequence })))
    for (const paid of all) {
      expect(await isDelivered(paid)).toBe(false)
      expect(eventsOf(await send(paid)).at(-1)).toEqual(['Received', deliveryId(paid), PAYER, 1n])
    }
    for (const paid of all) expect(await isDelivered(paid)).toBe(true)
    expect(await isDelivered({ ...all[0]!, sequence: 2n })).toBe(false)
  })

  test('with one payment in bad form reverts as a whole', async () => {
    const good = one('a')
    expect(await reasonOf(good, payment({ amounts: [1n] }))).toBe('BadBatch')
    expect(await reasonOf(good, payment({ from: zeroHash }))).toBe('ZeroSender')
    expect(await isDelivered(good)).toBe(false)
  })
})

test('only the relayer delivers, without value, while the hub is not paused', async () => {
  for (const stranger of [world.owner, world.pauser, world.alice, world.endpoint]) {
    expect(await world.reasonOf(stranger, deliver(payment()))).toBe('NotRelayer')
  }
  expect((await world.send({ from: world.relayer, to: world.hub, data: deliver(payment()), value: 1n })).status).toBe(
    'reverted',
  )
  await world.succeed({ from: world.pauser, to: world.hub, data: hubCall('pause', []) })
  expect(await reasonOf(payment())).toBe('EnforcedPause')
  await world.succeed({ from: world.owner, to: world.hub, data: hubCall('unpause', []) })
  await send(payment())
})

test('a delivery in bad form reverts: the relayer made it, and can make it right', async () => {
  expect(await reasonOf(payment({ from: zeroHash }))).toBe('ZeroSender')
  expect(await reasonOf(payment({ amounts: [], names: [] }))).toBe('BadBatch')
  expect(await reasonOf(payment({ amounts: [1n] }))).toBe('BadBatch')
  expect(await reasonOf(payment({ names: [NAMES[0]!] }))).toBe('BadBatch')
  expect(await reasonOf(payment({ amounts: [2n ** 255n, 2n ** 255n] }))).toBe('BadBatch')
})

describe('what is won in a day (UTC)', () => {
  let tomorrow: bigint
  beforeEach(async () => {
    tomorrow = (await world.publicClient.getBlock()).timestamp / DAY_S + 1n
    await world.testClient.setNextBlockTimestamp({ timestamp: tomorrow * DAY_S })
  })

  test('is limited; the next day counts from nothing', async () => {
    await send(one('a', DELIVER_LIMIT_WEI - MINIMUM_WEI))
    // A bid that loses gives nothing away, whatever it says it is worth.
    await send(one('a', DELIVER_LIMIT_WEI * 100n))
    expect(await reasonOf(one('b', MINIMUM_WEI + 1n))).toBe('DeliverLimitExceeded')
    await send(one('b'))
    expect(await deliveredOn(tomorrow)).toBe(DELIVER_LIMIT_WEI)

    const last = one('c')
    expect(await reasonOf(last)).toBe('DeliverLimitExceeded')
    await world.testClient.setNextBlockTimestamp({ timestamp: (tomorrow + 1n) * DAY_S - 1n })
    expect((await world.send({ from: world.relayer, to: world.hub, data: deliver(last) })).status).toBe('reverted')
    expect(await isDelivered(last)).toBe(false)
    await world.testClient.setNextBlockTimestamp({ timestamp: (tomorrow + 1n) * DAY_S })
    await send(last)
    expect(await deliveredOn(tomorrow + 1n)).toBe(MINIMUM_WEI)
    expect(await world.money()).toEqual(NO_MONEY)
  })

  test('counts over the payments of a batch, which reverts as a whole', async () => {
    const [first, second] = [one('a', DELIVER_LIMIT_WEI - MINIMUM_WEI), one('b', MINIMUM_WEI + 1n)]
    expect(await reasonOf(first, second)).toBe('DeliverLimitExceeded')
    await send(first, { ...second, amounts: [MINIMUM_WEI] })
    expect(await deliveredOn(tomorrow)).toBe(DELIVER_LIMIT_WEI)
    // what wins nothing goes through on a day that is used up
    await send(one('a'))
  })

  test('tells what a payment wins, what was won before it, and the limit, at any amount', async () => {
    const limitError = (...deliveries: readonly Delivery[]) =>
      world.publicClient
        .simulateContract({
          ...{ account: world.relayer, address: world.hub, abi: hubAbi },
          ...{ functionName: 'deliver', args: [deliveries] },
        })
        .then(
          () => undefined,
          (error) => error.walk((cause: unknown) => cause instanceof ContractFunctionRevertedError).data?.args,
        )
    const most = 2n ** 256n - 1n
    expect(await limitError(one('a', most))).toEqual([most, 0n, DELIVER_LIMIT_WEI])
    expect(await limitError(one('a'), one('b', most))).toEqual([most, MINIMUM_WEI, DELIVER_LIMIT_WEI])
    await send(one('a'), one('b'))
    const lower = hubCall('setDeliverLimit', [MINIMUM_WEI])
    await world.succeed({ from: world.owner, to: world.hub, data: lower })
    expect(await limitError(one('c'))).toEqual([MINIMUM_WEI, 2n * MINIMUM_WEI, MINIMUM_WEI])
    await world.succeed({ from: world.owner, to: world.hub, data: hubCall('setDeliverLimit', [most]) })
    expect(await limitError(one('c', most))).toEqual([most, 2n * MINIMUM_WEI, most])
  })
})

/** The logs of a payment whose bids all are sound. */
function logsOf({ from, amounts, names, ...paid }: Delivery) {
  return [
    ...names.map((name, i) => ['Bid', from, amounts[i], name]),
    ['Received', deliveryId(paid), from, BigInt(names.length)],
  ]
}
