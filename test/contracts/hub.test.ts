import {
  ContractFunctionRevertedError,
  concatHex,
  getAddress,
  type Hex,
  maxUint256,
  sliceHex,
  toHex,
  zeroAddress,
  zeroHash,
} from 'viem'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hubAbi, layerZeroEndpointAbi } from '../../src/chains/evm/contracts/index.js'
import { useWorld } from '../support/useWorld.js'
import { freshEach } from './support/chain.js'
import {
  DELIVER_LIMIT_WEI,
  type Delivery,
  deliver,
  eventsOf,
  hubCall,
  MINIMUM_WEI,
  messageOf,
  nameOf,
  placeBids,
  SPOKE_EID,
  startHubWorld,
  sumOf,
  withdrawRefund,
  word,
} from './support/hub.js'
import { BURN_GAS, REFUSE, RETURN_BOMB, startWallet } from './support/wallet.js'

/** Properties of the hub that its model (hub-fuzz.test.ts) does not cover: roles, odd calldata, gas, days. */

const REFERRAL = `0x${'cd'.repeat(32)}` as const
const PAYER = `0x${'51'.repeat(32)}` as const
const SOURCE = `0x${'50'.repeat(32)}` as const
const NAMES = ['one', 'two', 'three'].map(nameOf)
const AMOUNTS = [MINIMUM_WEI, 2n * MINIMUM_WEI, 3n * MINIMUM_WEI]
const SUM = sumOf(AMOUNTS)
const NOBODY = '0x00000000000000000000000000000000000000d0'
const DAY_S = 86_400n

const world = useWorld(() => startHubWorld())
let alice: Hex

beforeAll(async () => {
  alice = word(world.alice)
})
freshEach(() => world)

const read = <const name extends 'minimum' | 'relayer' | 'pauser' | 'owner' | 'deliverLimit'>(
  functionName: name,
) => world.publicClient.readContract({ address: world.hub, abi: hubAbi, functionName })
const act = (from: Hex, data: Hex, value = 0n) =>
  world.succeed({ from, to: world.hub, data, value })
/** The credit of a bidder for bids through the spoke. */
const credit = (from: Hex) => world.refundOf(from, SPOKE_EID)
const uint = (value: bigint) => toHex(value, { size: 32 })

let count = 0n
/** A payment with its own sequence. */
const payment = (parts: Partial<Delivery> = {}): Delivery => ({
  source: SOURCE,
  sequence: count++,
  from: PAYER,
  amounts: AMOUNTS,
  names: NAMES,
  referral: zeroHash,
  ...parts,
})
const one = (label: string, amount = MINIMUM_WEI) =>
  payment({ amounts: [amount], names: [nameOf(label)] })

test('is deployed with its roles and its minimum in a log', async () => {
  expect(await read('owner')).toBe(getAddress(world.owner))
  expect(await read('relayer')).toBe(getAddress(world.relayer))
  expect(await read('pauser')).toBe(getAddress(world.pauser))
  expect(await read('minimum')).toBe(MINIMUM_WEI)
  expect(await read('deliverLimit')).toBe(DELIVER_LIMIT_WEI)
  const filter = {
    address: world.hub,
    abi: hubAbi,
    eventName: 'MinimumSet',
    fromBlock: 0n,
  } as const
  const logs = await world.publicClient.getContractEvents(filter)
  expect(logs.map(({ args }) => args.minimum)).toEqual([MINIMUM_WEI])
})

test.each([
  ['fewer names than amounts', AMOUNTS, NAMES.slice(1)],
  ['fewer amounts than names', AMOUNTS.slice(1), NAMES],
])('a batch or a delivery of %s reverts', async (_, amounts, names) => {
  for (const referral of [undefined, REFERRAL])
    expect(await world.reasonOf(world.alice, placeBids(amounts, names, referral), SUM)).toBe(
      'BadBatch',
    )
  expect(await world.reasonOf(world.relayer, deliver(payment({ amounts, names })))).toBe('BadBatch')
})

test('money is accepted only with bids', async () => {
  const delivery = { to: world.hub, data: deliver(payment()), from: world.relayer }
  for (const tx of [{ from: world.alice, to: world.hub }, delivery])
    expect((await world.send({ ...tx, value: 1n })).status).toBe('reverted')
})

describe('roles', () => {
  test('only the owner sets anything', async () => {
    const calls = [
      hubCall('setMinimum', [1n]),
      hubCall('setDeliverLimit', [1n]),
      hubCall('setRelayer', [world.alice]),
      hubCall('setPauser', [world.alice]),
      hubCall('setPeer', [1, zeroHash]),
      hubCall('setDelegate', [world.alice]),
      hubCall('transferOwnership', [world.alice]),
      hubCall('renounceOwnership', []),
      hubCall('unpause', []),
      hubCall('withdrawKept', [world.alice]),
    ]
    for (const stranger of [world.alice, world.relayer, world.pauser]) {
      const errors = await Promise.all(calls.map((data) => world.reasonOf(stranger, data)))
      expect(errors).toEqual(calls.map(() => 'OwnableUnauthorizedAccount'))
    }
  })

  test('the owner chooses the pauser', async () => {
    const receipt = await act(world.owner, hubCall('setPauser', [world.bob]))
    expect(eventsOf(receipt)).toEqual([['PauserSet', getAddress(world.bob)]])
    expect(await world.reasonOf(world.pauser, hubCall('pause', []))).toBe('NotPauser')
    await act(world.bob, hubCall('pause', []))
  })

  test('ownership moves in two steps, the endpoint delegate with it, and can’t be renounced', async () => {
    const delegateOf = () =>
      world.publicClient.readContract({
        address: world.endpoint,
        abi: layerZeroEndpointAbi,
        functionName: 'delegates',
        args: [world.hub],
      })
    expect(await world.reasonOf(world.owner, hubCall('renounceOwnership', []))).toBe(
      'OwnerRequired',
    )
    await act(world.owner, hubCall('transferOwnership', [world.carol]))
    expect(await read('owner')).toBe(getAddress(world.owner))
    expect(await delegateOf()).toBe(getAddress(world.owner))
    expect(await world.reasonOf(world.alice, hubCall('acceptOwnership', []))).toBe(
      'OwnableUnauthorizedAccount',
    )
    await act(world.carol, hubCall('acceptOwnership', []))
    expect(await read('owner')).toBe(getAddress(world.carol))
    expect(await delegateOf()).toBe(getAddress(world.carol))
  })
})

describe('bids in a message', () => {
  test('of a sender of 32 bytes count as any other, in Solidity-valid data of an odd order', async () => {
    const sender = `0x${'5e'.repeat(32)}` as const
    const head = sliceHex(placeBids([], []), 0, 4)
    const odd = concatHex([
      head,
      uint(128n),
      uint(64n),
      uint(1n),
      NAMES[0]!,
      uint(1n),
      uint(MINIMUM_WEI),
      '0x1234',
    ])
    await world.receive(messageOf(sender, odd), MINIMUM_WEI)
    expect(await world.ownerOf(NAMES[0]!)).toBe(sender)
  })

  test('are all won, or nothing happens, with any amount of gas', async () => {
    const { tx } = world.receiving(messageOf(alice, placeBids(AMOUNTS, NAMES)), SUM)
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

describe('a message with a call that the hub does not accept is refused, and all of its money is credited', () => {
  const head = sliceHex(placeBids([], []), 0, 4)
  const whole = placeBids([MINIMUM_WEI], [nameOf('foobar')])
  const call = (...words: Hex[]) => concatHex([head, ...words])
  const one = [uint(1n), uint(MINIMUM_WEI), uint(1n), nameOf('foobar')] as const
  const cases: [string, Hex][] = [
    ['less than a selector', '0x40bee8'],
    ['a selector alone', head],
    ['placeBid with referral', hubCall('placeBid', [nameOf('foobar'), REFERRAL])],
    ['another function of the hub', hubCall('setMinimum', [0n])],
    ['deliver', hubCall('deliver', [[]])],
    ['withdrawRefundFor', hubCall('withdrawRefundFor', [NOBODY])],
    ['fewer names than amounts', placeBids([1n, 2n], [nameOf('foobar')])],
    ['fewer amounts than names', placeBids([1n], [nameOf('foobar'), nameOf('other')])],
    ['an offset beyond the data', call(uint(1_000n), uint(128n), ...one)],
    ['an offset of nearly 2^256', call(uint(maxUint256), uint(128n), ...one)],
    ['an offset that wraps to the data', call(uint(maxUint256 - 31n), uint(128n), ...one)],
    ['a second offset beyond the data', call(uint(64n), uint(2n ** 64n), ...one)],
    ['a length of nearly 2^256', call(uint(64n), uint(128n), uint(maxUint256), ...one.slice(1))],
    [
      'a length that wraps to one',
      call(uint(64n), uint(128n), uint(2n ** 251n + 1n), ...one.slice(1)),
    ],
    ['a length a word too long', call(uint(64n), uint(128n), ...one.slice(0, 2), uint(2n), one[3])],
    [
      'the referral form without its referral',
      concatHex([sliceHex(placeBids([], [], zeroHash), 0, 4), uint(0n), uint(0n)]),
    ],
    ['withdrawRefund cut short', sliceHex(withdrawRefund(NOBODY), 0, 35)],
    ['withdrawRefund to nobody', withdrawRefund(zeroAddress)],
    [
      'withdrawRefund to more than an address',
      concatHex([sliceHex(withdrawRefund(NOBODY), 0, 4), uint(2n ** 160n)]),
    ],
  ]
  for (let size = 4; size < 4 + 6 * 32; size += 31)
    cases.push([`placeBids cut at ${size}`, sliceHex(whole, 0, size)])

  test.each(cases)('%s', async (_, hubCalldata) => {
    await expectRefused(messageOf(alice, hubCalldata), alice)
  })

  test.each<[string, (from: Hex) => Hex]>([
    ['a sender alone', (from) => from],
    ['an offset beyond the data', (from) => concatHex([from, uint(96n), uint(0n)])],
    ['an offset of nearly 2^256', (from) => concatHex([from, uint(maxUint256), uint(0n)])],
    ['a length beyond the data', (from) => concatHex([from, uint(64n), uint(5n), '0x40bee835'])],
    [
      'a length of nearly 2^256',
      (from) => concatHex([from, uint(64n), uint(maxUint256), '0x40bee835']),
    ],
    ['its calldata cut short', (from) => sliceHex(messageOf(from, whole), 0, 64)],
  ])('as a whole: %s', async (_, message) => {
    await expectRefused(message(alice), alice)
  })

  test.each([
    ['nothing', '0x'],
    ['a sender cut short', `0x${'00'.repeat(31)}`],
  ] as const)('as a whole, kept for nobody to withdraw: %s', async (_, message) => {
    const { guid, receipt } = await world.receive(message, 123n)
    expect(eventsOf(receipt)).toEqual([
      ['MessageRefused', guid, zeroHash, 123n],
      ['Received', guid, zeroHash, 0n],
    ])
    expect(await world.money()).toMatchObject({ kept: 123n, owed: 0n })
  })

  async function expectRefused(message: Hex, from: Hex) {
    const before = await credit(from)
    const { guid, receipt } = await world.receive(message, 123n)
    expect(eventsOf(receipt)).toEqual([
      ['MessageRefused', guid, from, 123n],
      ['Credited', from, SPOKE_EID, 123n],
      ['Received', guid, from, 0n],
    ])
    expect(await credit(from)).toBe(before + 123n)
  }
})

/** Gives this sender a credit from a lost bid. */
async function owe(from: Hex) {
  for (const bidder of [word(world.bob), from]) {
    await world.receive(messageOf(bidder, placeBids(AMOUNTS, NAMES)), SUM)
  }
  expect(await credit(from)).toBe(SUM)
}

test.each([
  ['refuses it', REFUSE],
  ['burns all gas', BURN_GAS],
  ['answers with a lot of data', RETURN_BOMB],
])(
  'a withdrawal to a receiver that %s reverts, and goes through once it takes money',
  async (_, mode) => {
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
  },
)

test('a withdrawal with any amount of gas pays or does nothing: no executor can make it fail for good', async () => {
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

const send = (...deliveries: readonly Delivery[]) => act(world.relayer, deliver(...deliveries))
const reasonOf = (...deliveries: readonly Delivery[]) =>
  world.reasonOf(world.relayer, deliver(...deliveries))
const isDelivered = ({ source, sequence }: Delivery) =>
  world.publicClient.readContract({
    address: world.hub,
    abi: hubAbi,
    functionName: 'isDelivered',
    args: [source, sequence],
  })
const deliveredOn = (day: bigint) =>
  world.publicClient.readContract({
    address: world.hub,
    abi: hubAbi,
    functionName: 'deliveredOn',
    args: [day],
  })

test('deliveries are distinguished by source and sequence', async () => {
  const sequences = [0n, 1n, 127n, 128n, 255n, 256n, 257n, 511n, 2n ** 63n, 2n ** 64n - 1n]
  const all = [SOURCE, PAYER].flatMap((source) =>
    sequences.map((sequence) => ({ ...one('a'), source, sequence })),
  )
  for (const paid of all) {
    expect(await isDelivered(paid)).toBe(false)
    expect(eventsOf(await send(paid))).toHaveLength(2)
  }
  for (const paid of all) expect(await isDelivered(paid)).toBe(true)
  expect(await isDelivered({ ...all[0]!, sequence: 2n })).toBe(false)
})

describe('what is won in a day (UTC)', () => {
  let tomorrow: bigint
  beforeEach(async () => {
    tomorrow = (await world.publicClient.getBlock()).timestamp / DAY_S + 1n
    await world.testClient.setNextBlockTimestamp({ timestamp: tomorrow * DAY_S })
  })

  test('is limited; the next day starts at zero', async () => {
    await send(one('a', DELIVER_LIMIT_WEI - MINIMUM_WEI))
    // a bid that loses gives nothing away, whatever its amount
    await send(one('a', DELIVER_LIMIT_WEI * 100n))
    expect(await reasonOf(one('b', MINIMUM_WEI + 1n))).toBe('DeliverLimitExceeded')
    await send(one('b'))
    expect(await deliveredOn(tomorrow)).toBe(DELIVER_LIMIT_WEI)

    const last = one('c')
    expect(await reasonOf(last)).toBe('DeliverLimitExceeded')
    await world.testClient.setNextBlockTimestamp({ timestamp: (tomorrow + 1n) * DAY_S - 1n })
    expect(
      (await world.send({ from: world.relayer, to: world.hub, data: deliver(last) })).status,
    ).toBe('reverted')
    expect(await isDelivered(last)).toBe(false)
    await world.testClient.setNextBlockTimestamp({ timestamp: (tomorrow + 1n) * DAY_S })
    await send(last)
    expect(await deliveredOn(tomorrow + 1n)).toBe(MINIMUM_WEI)
  })

  test('is counted over all payments of a batch, which reverts as a whole', async () => {
    const first = one('a', DELIVER_LIMIT_WEI - MINIMUM_WEI)
    const second = one('b', MINIMUM_WEI + 1n)
    expect(await reasonOf(first, second)).toBe('DeliverLimitExceeded')
    await send(first, { ...second, amounts: [MINIMUM_WEI] })
    expect(await deliveredOn(tomorrow)).toBe(DELIVER_LIMIT_WEI)
    // a delivery that wins nothing succeeds on a day whose limit is used up
    await send(one('a'))
  })

  test('the error has the amount of the payment, the amount won before, and the limit', async () => {
    const limitError = (...deliveries: readonly Delivery[]) =>
      world.publicClient
        .simulateContract({
          account: world.relayer,
          address: world.hub,
          abi: hubAbi,
          functionName: 'deliver',
          args: [deliveries],
        })
        .then(
          () => undefined,
          (error) =>
            error.walk((cause: unknown) => cause instanceof ContractFunctionRevertedError).data
              ?.args,
        )
    const most = 2n ** 256n - 1n
    expect(await limitError(one('a', most))).toEqual([most, 0n, DELIVER_LIMIT_WEI])
    expect(await limitError(one('a'), one('b', most))).toEqual([
      most,
      MINIMUM_WEI,
      DELIVER_LIMIT_WEI,
    ])
    await send(one('a'), one('b'))
    await act(world.owner, hubCall('setDeliverLimit', [MINIMUM_WEI]))
    expect(await limitError(one('c'))).toEqual([MINIMUM_WEI, 2n * MINIMUM_WEI, MINIMUM_WEI])
    await act(world.owner, hubCall('setDeliverLimit', [most]))
    expect(await limitError(one('c', most))).toEqual([most, 2n * MINIMUM_WEI, most])
  })
})
