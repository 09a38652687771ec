import { concatHex, getAddress, type Hex, maxUint256, padHex, sliceHex, toHex, zeroAddress, zeroHash } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freshEach } from './support/chain.js'
import {
  eventsOf,
  type HubWorld,
  hubCall,
  MINIMUM_WEI,
  messageOf,
  nameOf,
  OTHER_EID,
  PEER,
  placeBids,
  REASON,
  SPOKE_EID,
  startHubWorld,
  sumOf,
  withdrawRefund,
  word,
} from './support/hub.js'

const REFERRAL = `0x${'cd'.repeat(32)}` as const
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

const uint = (value: bigint) => toHex(value, { size: 32 })
const bidsOf = (from: Hex, amounts = AMOUNTS, names = NAMES) =>
  names.map((name, i) => ['Bid', from, amounts[i], name] as const)

describe('bids in a message', () => {
  test('count for its sender, and Received comes last', async () => {
    const { guid, receipt } = await world.receive(messageOf(alice, placeBids(AMOUNTS, NAMES)), SUM)
    expect(eventsOf(receipt)).toEqual([...bidsOf(alice), ['Received', guid, alice, 3n]])
    expect(await Promise.all(NAMES.map(world.ownerOf))).toEqual([alice, alice, alice])
    expect(await world.money()).toEqual({ balance: SUM, kept: SUM, owed: 0n })
  })

  test('carry their referral', async () => {
    const { guid, receipt } = await world.receive(messageOf(alice, placeBids(AMOUNTS, NAMES, REFERRAL)), SUM)
    const logs = bidsOf(alice).map((log) => [...log, REFERRAL])
    expect(eventsOf(receipt)).toEqual([...logs, ['Received', guid, alice, 3n]])
  })

  test('are judged alone: one lost, two refused, one won', async () => {
    await world.succeed({
      from: world.bob,
      to: world.hub,
      data: hubCall('placeBid', [NAMES[0]!]),
      value: MINIMUM_WEI,
    })
    const names = [NAMES[0]!, nameOf('Nope'), NAMES[1]!, NAMES[2]!]
    const amounts = [MINIMUM_WEI, 5n, 7n, 3n * MINIMUM_WEI]
    const { guid, receipt } = await world.receive(messageOf(alice, placeBids(amounts, names)), sumOf(amounts))
    expect(eventsOf(receipt)).toEqual([
      ['Bid', alice, MINIMUM_WEI, names[0]],
      ['Bid', alice, 5n, names[1]],
      ['BidRefused', alice, 5n, names[1], REASON.malformedName],
      ['Bid', alice, 7n, names[2]],
      ['BidRefused', alice, 7n, names[2], REASON.belowMinimum],
      ['Bid', alice, 3n * MINIMUM_WEI, names[3]],
      ['Credited', alice, SPOKE_EID, MINIMUM_WEI + 12n],
      ['Received', guid, alice, 4n],
    ])
    expect(await Promise.all(names.map(world.ownerOf))).toEqual([word(world.bob), zeroHash, zeroHash, alice])
    expect(await credit(alice)).toBe(MINIMUM_WEI + 12n)
    const balance = 5n * MINIMUM_WEI + 12n
    expect(await world.money()).toEqual({ balance, kept: 4n * MINIMUM_WEI, owed: MINIMUM_WEI + 12n })
  })

  test('of a sender of 32 bytes count as any other', async () => {
    const sender = `0x${'5e'.repeat(32)}` as const
    await world.receive(messageOf(sender, placeBids([MINIMUM_WEI], [NAMES[0]!])), MINIMUM_WEI)
    expect(await world.ownerOf(NAMES[0]!)).toBe(sender)
  })

  test('100 are taken, with Solidity-valid data in an odd order and with bytes after it', async () => {
    const names = Array.from({ length: 100 }, (_, i) => nameOf(`n${i}`))
    const amounts = names.map(() => MINIMUM_WEI)
    const { receipt } = await world.receive(messageOf(alice, placeBids(amounts, names)), 100n * MINIMUM_WEI)
    expect(eventsOf(receipt).at(-1)).toEqual(['Received', expect.any(String), alice, 100n])

    const head = sliceHex(placeBids([], []), 0, 4)
    const odd = concatHex([head, uint(128n), uint(64n), uint(1n), nameOf('odd'), uint(1n), uint(MINIMUM_WEI), '0x1234'])
    await world.receive(messageOf(alice, odd), MINIMUM_WEI)
    expect(await world.ownerOf(nameOf('odd'))).toBe(alice)
  })
})

describe('what a retry mends reverts', () => {
  const message = () => messageOf(alice, placeBids(AMOUNTS, NAMES))

  test('another value than the sum', async () => {
    for (const value of [0n, SUM - 1n, SUM + 1n]) {
      expect(await world.revertOf(world.receiving(message(), value).tx, world.abi)).toBe('WrongValue')
    }
    await world.receive(message(), SUM)
  })

  test('too little gas: with any amount of it, all bids are won or nothing has happened', async () => {
    const { tx } = world.receiving(message(), SUM)
    const seen = new Set<string>()
    for (let gas = 40_000n; gas <= 260_000n; gas += 10_000n) {
      const id = await world.testClient.snapshot()
      const { status } = await world.send({ ...tx, gas })
      seen.add(status)
      expect((await world.money()).kept).toBe(status === 'success' ? SUM : 0n)
      await world.testClient.revert({ id })
    }
    expect([...seen].sort()).toEqual(['reverted', 'success'])
  })
})

describe('while the hub is paused', () => {
  beforeEach(() => world.succeed({ from: world.pauser, to: world.hub, data: hubCall('pause', []) }))

  test('bids in a message are refused for that, unless something else stands against them, and credited', async () => {
    const names = [NAMES[0]!, nameOf('Nope'), NAMES[1]!]
    const amounts = [MINIMUM_WEI, MINIMUM_WEI, 7n]
    const sum = sumOf(amounts)
    const { guid, receipt } = await world.receive(messageOf(alice, placeBids(amounts, names)), sum)
    expect(eventsOf(receipt)).toEqual([
      ['Bid', alice, MINIMUM_WEI, names[0]],
      ['BidRefused', alice, MINIMUM_WEI, names[0], REASON.paused],
      ['Bid', alice, MINIMUM_WEI, names[1]],
      ['BidRefused', alice, MINIMUM_WEI, names[1], REASON.malformedName],
      ['Bid', alice, 7n, names[2]],
      ['BidRefused', alice, 7n, names[2], REASON.belowMinimum],
      ['Credited', alice, SPOKE_EID, sum],
      ['Received', guid, alice, 3n],
    ])
    expect(await Promise.all(names.map(world.ownerOf))).toEqual([zeroHash, zeroHash, zeroHash])
    expect(await world.money()).toEqual({ balance: sum, kept: 0n, owed: sum })
    await world.succeed({ from: world.owner, to: world.hub, data: hubCall('unpause', []) })
    await world.receive(messageOf(alice, placeBids(AMOUNTS, NAMES)), SUM)
    expect(await world.ownerOf(NAMES[0]!)).toBe(alice)
  })

  test('the value has to be the sum all the same', async () => {
    const { tx } = world.receiving(messageOf(alice, placeBids(AMOUNTS, NAMES)), SUM - 1n)
    expect(await world.revertOf(tx, world.abi)).toBe('WrongValue')
  })

  test('what is no call is refused, and withdrawals go on', async () => {
    const refused = await world.receive(messageOf(alice, '0x'), SUM)
    expect(eventsOf(refused.receipt)).toEqual(refusalLogs(refused.guid, alice, SUM))
    const { guid, receipt } = await world.receive(messageOf(alice, withdrawRefund(NOBODY)))
    expect(eventsOf(receipt)).toEqual([
      ['RefundWithdrawn', alice, SPOKE_EID, getAddress(NOBODY), SUM],
      ['Received', guid, alice, 0n],
    ])
    expect(await world.balance(NOBODY)).toBe(SUM)
  })
})

test('only the endpoint gives messages, and only those of the peer', async () => {
  const { tx } = world.receiving(messageOf(alice, placeBids(AMOUNTS, NAMES)), SUM)
  expect(await world.revertOf({ ...tx, from: world.owner }, world.abi)).toBe('OnlyEndpoint')
  const receiveFrom = (srcEid: number, sender: Hex) =>
    hubCall('lzReceive', [{ srcEid, sender, nonce: 1n }, zeroHash, '0x', world.carol, '0x'])
  expect(await world.reasonOf(world.endpoint, receiveFrom(SPOKE_EID, padHex('0xbad', { size: 32 })))).toBe('OnlyPeer')
  expect(await world.reasonOf(world.endpoint, receiveFrom(OTHER_EID + 1, PEER))).toBe('NoPeer')
})

describe('a message that is no call the hub takes is refused, with all of its money credited', () => {
  const head = sliceHex(placeBids([], []), 0, 4)
  const whole = placeBids([MINIMUM_WEI], [nameOf('foobar')])
  const call = (...words: Hex[]) => concatHex([head, ...words])
  const one = [uint(1n), uint(MINIMUM_WEI), uint(1n), nameOf('foobar')] as const
  const many = Array.from({ length: 101 }, (_, i) => nameOf(`n${i}`))
  const cases: [string, Hex][] = [
    ['nothing', '0x'],
    ['less than a selector', '0x40bee8'],
    ['a selector alone', head],
    ['placeBid', hubCall('placeBid', [nameOf('foobar')])],
    ['placeBid with referral', hubCall('placeBid', [nameOf('foobar'), REFERRAL])],
    ['another function of the hub', hubCall('setMinimum', [0n])],
    ['deliver', hubCall('deliver', [[]])],
    ['withdrawRefundFor', hubCall('withdrawRefundFor', [NOBODY])],
    ['no names', placeBids([], [])],
    [
      '101 names',
      placeBids(
        many.map(() => MINIMUM_WEI),
        many,
      ),
    ],
    ['fewer names than amounts', placeBids([1n, 2n], [nameOf('foobar')])],
    ['fewer amounts than names', placeBids([1n], [nameOf('foobar'), nameOf('other')])],
    ['a sum beyond 256 bits', placeBids([maxUint256, 1n], [nameOf('foobar'), nameOf('other')])],
    ['an offset beyond the data', call(uint(1_000n), uint(128n), ...one)],
    ['an offset of nearly 2^256', call(uint(maxUint256), uint(128n), ...one)],
    ['an offset that wraps to the data', call(uint(maxUint256 - 31n), uint(128n), ...one)],
    ['a second offset beyond the data', call(uint(64n), uint(2n ** 64n), ...one)],
    ['a length of nearly 2^256', call(uint(64n), uint(128n), uint(maxUint256), ...one.slice(1))],
    ['a length that wraps to one', call(uint(64n), uint(128n), uint(2n ** 251n + 1n), ...one.slice(1))],
    ['a length a word too long', call(uint(64n), uint(128n), ...one.slice(0, 2), uint(2n), one[3])],
    [
      'the referral form without its referral',
      concatHex([sliceHex(placeBids([], [], zeroHash), 0, 4), uint(0n), uint(0n)]),
    ],
    ['withdrawRefund cut short', sliceHex(withdrawRefund(NOBODY), 0, 35)],
    ['withdrawRefund to nobody', withdrawRefund(zeroAddress)],
    ['withdrawRefund to more than an address', concatHex([sliceHex(withdrawRefund(NOBODY), 0, 4), uint(2n ** 160n)])],
  ]
  for (let size = 4; size < 4 + 6 * 32; size += 31) cases.push([`placeBids cut at ${size}`, sliceHex(whole, 0, size)])

  test.each(cases)('%s', async (_, hubCalldata) => {
    await expectRefused(messageOf(alice, hubCalldata), alice)
  })

  test.each<[string, (from: Hex) => Hex]>([
    ['a sender alone', (from) => from],
    ['an offset beyond the data', (from) => concatHex([from, uint(96n), uint(0n)])],
    ['an offset of nearly 2^256', (from) => concatHex([from, uint(maxUint256), uint(0n)])],
    ['a length beyond the data', (from) => concatHex([from, uint(64n), uint(5n), '0x40bee835'])],
    ['a length of nearly 2^256', (from) => concatHex([from, uint(64n), uint(maxUint256), '0x40bee835'])],
    ['its calldata cut short', (from) => sliceHex(messageOf(from, whole), 0, 64)],
  ])('as a whole: %s', async (_, message) => {
    await expectRefused(message(alice), alice)
  })

  test('as a whole: too short to name a sender, or naming nobody; what nobody could withdraw is kept', async () => {
    const nobodys = [
      '0x',
      sliceHex(alice, 1),
      messageOf(zeroHash, whole),
      messageOf(zeroHash, withdrawRefund(NOBODY)),
    ] as const
    for (const message of nobodys) {
      const { kept, owed } = await world.money()
      const { guid, receipt } = await world.receive(message, 123n)
      expect(eventsOf(receipt)).toEqual([
        ['MessageRefused', guid, zeroHash, 123n],
        ['Received', guid, zeroHash, 0n],
      ])
      expect(await world.money()).toEqual({ balance: kept + owed + 123n, kept: kept + 123n, owed })
    }
    expect(await credit(zeroHash)).toBe(0n)
  })

  async function expectRefused(message: Hex, from: Hex) {
    const before = await credit(from)
    const { guid, receipt } = await world.receive(message, 123n)
    expect(eventsOf(receipt)).toEqual(refusalLogs(guid, from, 123n))
    expect(await credit(from)).toBe(before + 123n)
    expect(eventsOf((await world.receive(message)).receipt)).toHaveLength(2)
  }
})

/** The credit of a bidder for what came by the spoke. */
const credit = (from: Hex) => world.refundOf(from, SPOKE_EID)

const refusalLogs = (guid: Hex, from: Hex, amount: bigint) => [
  ['MessageRefused', guid, from, amount],
  ['Credited', from, SPOKE_EID, amount],
  ['Received', guid, from, 0n],
]
