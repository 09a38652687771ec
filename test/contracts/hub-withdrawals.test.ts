import { getAddress, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshEach } from './support/chain.js'
import {
  eventsOf,
  HERE,
  type HubWorld,
  hubCall,
  MINIMUM_WEI,
  messageOf,
  nameOf,
  OTHER_EID,
  placeBids,
  SPOKE_EID,
  startHubWorld,
  sumOf,
  withdrawRefund,
  word,
} from './support/hub.js'
import { BURN_GAS, REFUSE, RETURN_BOMB, startWallet } from './support/wallet.js'

const NAMES = ['one', 'two', 'three'].map(nameOf)
const AMOUNTS = [MINIMUM_WEI, 2n * MINIMUM_WEI, 3n * MINIMUM_WEI]
const SUM = sumOf(AMOUNTS)
const NOBODY = '0x00000000000000000000000000000000000000d0'

let world: HubWorld
let alice: Hex

beforeAll(async () => {
  world = await startHubWorld()
  alice = word(world.alice)
})
freshEach(() => world)
afterAll(() => world.stop())

// Withdrawals that come in messages; those of direct callers are in hub.test.ts.
test('a withdrawal pays what is owed to its sender, value that came with it too, once', async () => {
  await owe(alice)
  const { guid, receipt } = await world.receive(messageOf(alice, withdrawRefund(NOBODY)), 50n)
  expect(eventsOf(receipt)).toEqual([
    ['Credited', alice, SPOKE_EID, 50n],
    ['RefundWithdrawn', alice, SPOKE_EID, getAddress(NOBODY), SUM + 50n],
    ['Received', guid, alice, 0n],
  ])
  expect(await world.balance(NOBODY)).toBe(SUM + 50n)
  expect(await world.money()).toEqual({ balance: SUM, kept: SUM, owed: 0n })

  const again = await world.receive(messageOf(alice, withdrawRefund(NOBODY)))
  expect(eventsOf(again.receipt)).toEqual([['Received', again.guid, alice, 0n]])
  expect(await world.balance(NOBODY)).toBe(SUM + 50n)
})

test("does not touch another's credit", async () => {
  await owe(alice)
  await world.receive(messageOf(word(world.bob), withdrawRefund(NOBODY)))
  expect(await credit(alice)).toBe(SUM)
})

test('reaches what came from its own chain alone: the same address elsewhere may be another owner', async () => {
  await owe(alice)
  await world.succeed({ from: world.alice, to: world.hub, data: placeBids(AMOUNTS, NAMES), value: SUM })
  const other = await world.receive(messageOf(alice, '0x'), 5n, OTHER_EID)
  expect(eventsOf(other.receipt)).toEqual(refusalLogs(other.guid, alice, 5n, OTHER_EID))
  const credits = () => Promise.all([HERE, SPOKE_EID, OTHER_EID].map((eid) => world.refundOf(alice, eid)))
  expect(await credits()).toEqual([SUM, SUM, 5n])

  await world.receive(messageOf(alice, withdrawRefund(NOBODY)), 0n, OTHER_EID)
  expect(await credits()).toEqual([SUM, SUM, 0n])
  expect(await world.balance(NOBODY)).toBe(5n)
  await world.succeed({ from: world.alice, to: world.hub, data: withdrawRefund(NOBODY) })
  expect(await credits()).toEqual([0n, SUM, 0n])
  expect(await world.reasonOf(world.carol, hubCall('withdrawRefundFor', [world.alice]))).toBe('NothingOwed')
  await world.receive(messageOf(alice, withdrawRefund(NOBODY)))
  expect(await credits()).toEqual([0n, 0n, 0n])
  expect(await world.money()).toEqual({ balance: SUM, kept: SUM, owed: 0n })
})

test.each([
  ['refuses it', REFUSE],
  ['burns all gas', BURN_GAS],
  ['answers with a lot of data', RETURN_BOMB],
])('to a receiver that %s reverts, and goes through once it takes money', async (_, mode) => {
  const wallet = await startWallet(world, world.hub)
  await wallet.call('setMode', [mode])
  await owe(alice)
  const { tx } = world.receiving(messageOf(alice, withdrawRefund(wallet.address)), 50n)
  expect(await world.revertOf(tx, world.abi)).toBe('PaymentFailed')
  expect((await world.send(tx)).status).toBe('reverted')
  expect(await credit(alice)).toBe(SUM)
  await wallet.call('setMode', [0])
  await world.succeed(tx)
  expect(await world.balance(wallet.address)).toBe(SUM + 50n)
  expect(await world.money()).toEqual({ balance: SUM, kept: SUM, owed: 0n })
})

test('to the hub itself reverts', async () => {
  await owe(alice)
  const { tx } = world.receiving(messageOf(alice, withdrawRefund(world.hub)))
  expect(await world.revertOf(tx, world.abi)).toBe('PaymentFailed')
})

test('is logged before money leaves, and is not paid twice to a receiver that calls back', async () => {
  const wallet = await startWallet(world, world.hub)
  await owe(word(wallet.address))
  await world.succeed({ from: world.bob, to: world.hub, data: placeBids(AMOUNTS, NAMES), value: SUM })
  await wallet.call('setCallBack', [world.hub, hubCall('withdrawRefundFor', [world.bob])])
  const { guid, receipt } = await world.receive(messageOf(word(wallet.address), withdrawRefund(wallet.address)))
  expect(eventsOf(receipt)).toEqual([
    ['RefundWithdrawn', word(wallet.address), SPOKE_EID, getAddress(wallet.address), SUM],
    ['Received', guid, word(wallet.address), 0n],
    ['RefundWithdrawn', word(world.bob), HERE, getAddress(world.bob), SUM],
  ])
  expect(await world.balance(wallet.address)).toBe(SUM)
  expect(await world.money()).toEqual({ balance: SUM, kept: SUM, owed: 0n })
})

test('with any amount of gas pays, or has not happened: no executor can make it fail for good', async () => {
  const wallet = await startWallet(world, world.hub)
  await owe(alice)
  const { tx } = world.receiving(messageOf(alice, withdrawRefund(wallet.address)))
  const seen = new Set<string>()
  for (let gas = 30_000n; gas <= 120_000n; gas += 1_000n) {
    const id = await world.testClient.snapshot()
    const { status } = await world.send({ ...tx, gas })
    seen.add(status)
    const balance = await world.balance(wallet.address)
    expect([balance, await credit(alice)]).toEqual(status === 'success' ? [SUM, 0n] : [0n, SUM])
    await world.testClient.revert({ id })
  }
  expect([...seen].sort()).toEqual(['reverted', 'success'])
})

/** Puts a lost bid's money to this sender's credit. */
async function owe(from: Hex) {
  for (const bidder of [word(world.bob), from]) {
    await world.receive(messageOf(bidder, placeBids(AMOUNTS, NAMES)), SUM)
  }
  expect(await credit(from)).toBe(SUM)
}

/** The credit of a bidder for what came by the spoke. */
const credit = (from: Hex) => world.refundOf(from, SPOKE_EID)

const refusalLogs = (guid: Hex, from: Hex, amount: bigint, eid: number) => [
  ['MessageRefused', guid, from, amount],
  ['Credited', from, eid, amount],
  ['Received', guid, from, 0n],
]
