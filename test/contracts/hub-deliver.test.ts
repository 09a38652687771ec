import { type Hex, zeroHash } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import {
  DELIVER_LIMIT_WEI,
  eventsOf,
  type HubWorld,
  hubCall,
  MINIMUM_WEI,
  nameOf,
  startHubWorld,
  word,
} from './support/hub.js'

const PAYER = `0x${'51'.repeat(32)}` as const
const REFERRAL = `0x${'cd'.repeat(32)}` as const
const NAMES = ['one', 'two'].map(nameOf)
const AMOUNTS = [MINIMUM_WEI, 2n * MINIMUM_WEI]
const DAY_S = 86_400n

let world: HubWorld
let fresh: Hex

beforeAll(async () => {
  world = await startHubWorld()
})
beforeEach(async () => {
  if (fresh) await world.testClient.revert({ id: fresh })
  fresh = await world.testClient.snapshot()
})
afterAll(() => world.stop())

function delivery({
  id = world.nextGuid(),
  from = PAYER as Hex,
  amounts = AMOUNTS,
  names = NAMES,
  referral = zeroHash as Hex,
}) {
  return hubCall('deliver', [id, from, amounts, names, referral])
}

const deliver = (data: Hex) => world.succeed({ from: world.relayer, to: world.hub, data })
const isDelivered = (id: Hex) =>
  world.publicClient.readContract({ address: world.hub, abi: hubAbi, functionName: 'isDelivered', args: [id] })
const deliveredOn = (day: bigint) =>
  world.publicClient.readContract({ address: world.hub, abi: hubAbi, functionName: 'deliveredOn', args: [day] })
const NO_MONEY = { balance: 0n, kept: 0n, owed: 0n }

test('a delivery wins names for the payer and moves no money', async () => {
  const id = world.nextGuid()
  const receipt = await deliver(delivery({ id }))
  expect(eventsOf(receipt)).toEqual([
    ['Bid', PAYER, MINIMUM_WEI, NAMES[0]],
    ['Bid', PAYER, 2n * MINIMUM_WEI, NAMES[1]],
    ['Received', id, PAYER, 2n],
  ])
  expect(await Promise.all(NAMES.map(world.ownerOf))).toEqual([PAYER, PAYER])
  expect(await world.money()).toEqual(NO_MONEY)
  expect(await isDelivered(id)).toBe(true)
})

test('its referral is in the logs', async () => {
  const receipt = await deliver(delivery({ referral: REFERRAL }))
  expect(eventsOf(receipt)[0]).toEqual(['Bid', PAYER, MINIMUM_WEI, NAMES[0], REFERRAL])
})

test('bids that lose or are refused are logged and credit nothing: they are refunded where they were paid', async () => {
  await world.succeed({ from: world.bob, to: world.hub, data: hubCall('placeBid', [NAMES[0]!]), value: MINIMUM_WEI })
  const names = [NAMES[0]!, nameOf('No'), NAMES[1]!]
  const amounts = [MINIMUM_WEI, MINIMUM_WEI, 1n]
  const id = world.nextGuid()
  expect(eventsOf(await deliver(delivery({ id, names, amounts })))).toEqual([
    ['Bid', PAYER, MINIMUM_WEI, names[0]],
    ['Bid', PAYER, MINIMUM_WEI, names[1]],
    ['BidRefused', PAYER, MINIMUM_WEI, names[1], 1],
    ['Bid', PAYER, 1n, names[2]],
    ['BidRefused', PAYER, 1n, names[2], 2],
    ['Received', id, PAYER, 3n],
  ])
  expect(await Promise.all(names.map(world.ownerOf))).toEqual([word(world.bob), zeroHash, zeroHash])
  expect(await world.refundOf(PAYER)).toBe(0n)
  expect(await world.money()).toEqual({ balance: MINIMUM_WEI, kept: MINIMUM_WEI, owed: 0n })
})

test('a message id is delivered once', async () => {
  const id = world.nextGuid()
  await deliver(delivery({ id }))
  const again = delivery({ id, names: [nameOf('other')], amounts: [MINIMUM_WEI] })
  expect(await world.reasonOf(world.relayer, again)).toBe('AlreadyDelivered')
})

test('only the relayer delivers, without value, while the hub is not paused', async () => {
  for (const stranger of [world.owner, world.pauser, world.alice, world.endpoint]) {
    expect(await world.reasonOf(stranger, delivery({}))).toBe('NotRelayer')
  }
  expect((await world.send({ from: world.relayer, to: world.hub, data: delivery({}), value: 1n })).status).toBe(
    'reverted',
  )
  await world.succeed({ from: world.pauser, to: world.hub, data: hubCall('pause', []) })
  expect(await world.reasonOf(world.relayer, delivery({}))).toBe('EnforcedPause')
})

test('a delivery in bad form reverts: the relayer made it, and can make it right', async () => {
  const reasonOf = (parts: Parameters<typeof delivery>[0]) => world.reasonOf(world.relayer, delivery(parts))
  expect(await reasonOf({ from: zeroHash })).toBe('ZeroSender')
  expect(await reasonOf({ amounts: [], names: [] })).toBe('BadBatch')
  expect(await reasonOf({ amounts: [1n] })).toBe('BadBatch')
  expect(await reasonOf({ names: [NAMES[0]!] })).toBe('BadBatch')
  expect(await reasonOf({ amounts: [2n ** 255n, 2n ** 255n] })).toBe('BadBatch')
})

test('what is won in a day (UTC) is limited; the next day counts from nothing', async () => {
  const part = (label: string, wei: bigint, id?: Hex) =>
    delivery({ amounts: [wei], names: [nameOf(label)], ...(id && { id }) })
  const { timestamp } = await world.publicClient.getBlock()
  const tomorrow = timestamp / DAY_S + 1n
  await world.testClient.setNextBlockTimestamp({ timestamp: tomorrow * DAY_S })
  await deliver(part('a', DELIVER_LIMIT_WEI - MINIMUM_WEI))
  // A bid that loses gives nothing away, whatever it says it is worth.
  await deliver(part('a', DELIVER_LIMIT_WEI * 100n))
  expect(await world.reasonOf(world.relayer, part('b', MINIMUM_WEI + 1n))).toBe('DeliverLimitExceeded')
  await deliver(part('b', MINIMUM_WEI))
  expect(await deliveredOn(tomorrow)).toBe(DELIVER_LIMIT_WEI)

  const id = world.nextGuid()
  expect(await world.reasonOf(world.relayer, part('c', MINIMUM_WEI, id))).toBe('DeliverLimitExceeded')
  await world.testClient.setNextBlockTimestamp({ timestamp: (tomorrow + 1n) * DAY_S - 1n })
  expect((await world.send({ from: world.relayer, to: world.hub, data: part('c', MINIMUM_WEI, id) })).status).toBe(
    'reverted',
  )
  expect(await isDelivered(id)).toBe(false)
  await world.testClient.setNextBlockTimestamp({ timestamp: (tomorrow + 1n) * DAY_S })
  await deliver(part('c', MINIMUM_WEI, id))
  expect(await deliveredOn(tomorrow + 1n)).toBe(MINIMUM_WEI)
  expect(await world.money()).toEqual(NO_MONEY)
})
