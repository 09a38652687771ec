import {
  concatHex,
  encodeFunctionData,
  getAddress,
  type Hex,
  padHex,
  parseEventLogs,
  sliceHex,
  toEventSelector,
  toFunctionSelector,
  toHex,
  zeroAddress,
  zeroHash,
} from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  layerZeroEndpointAbi,
  localMessageLibAbi,
  spokeAbi,
} from '../../src/chains/evm/contracts/index.js'
import { useWorld } from '../support/useWorld.js'
import { packetOf, receiveOptions, spokeCall, startBridgeWorld } from './support/bridge.js'
import {
  HUB_EID,
  hubCall,
  MINIMUM_WEI,
  messageOf,
  nameOf,
  placeBids,
  sumOf,
  withdrawRefund,
  word,
} from './support/hub.js'

/** On this spoke's chain a hub wei costs 5/2 wei: its gas token is worth 0.4 ETH. */
const PRICE = { baseWei: 10n ** 14n, numerator: 5n, denominator: 2n }
const NAMES = ['one', 'two', 'three'].map(nameOf)
const AMOUNTS = [MINIMUM_WEI, 2n * MINIMUM_WEI, 3n * MINIMUM_WEI]
const SUM = sumOf(AMOUNTS)
const REFERRAL = `0x${'cd'.repeat(32)}` as const
const PLENTY_GAS = 1_000_000n
const LIBRARY_ERRORS = [...spokeAbi, ...localMessageLibAbi, ...layerZeroEndpointAbi]

const world = useWorld(() => startBridgeWorld(PRICE))
let fresh: Hex

beforeEach(async () => {
  if (fresh) await world.spokeChain.testClient.revert({ id: fresh })
  fresh = await world.spokeChain.testClient.snapshot()
})

/** The error with which `lzSend` refuses; undefined if it succeeds. Pays enough, so that no fee is the reason. */
async function refusalOf(hubCalldata: Hex, options: Hex) {
  const tx = await world.sending(world.alice, hubCalldata, options, 10n ** 20n)
  return world.spokeChain.revertOf(tx, LIBRARY_ERRORS)
}

const read = <const name extends 'minimum' | 'owner' | 'pauser' | 'paused' | 'gasNeeds' | 'hubEid'>(
  functionName: name,
) =>
  world.spokeChain.publicClient.readContract({ address: world.spoke, abi: spokeAbi, functionName })

test('has the selectors that existing clients use, and its own log', () => {
  const selectors = spokeAbi
    .filter((item) => item.type === 'function')
    .filter(({ name }) => name === 'quote' || name === 'lzSend')
    .map((item) => toFunctionSelector(item))
  expect(selectors.sort()).toEqual(['0x41d88d69', '0xef76678a'])
  const sent = spokeAbi.find((item) => item.type === 'event' && item.name === 'Sent')
  expect(sent && toEventSelector(sent)).toBe(
    toEventSelector('event Sent(bytes32 guid, bytes32 from)'),
  )
})

describe('quote', () => {
  test('is a base fee plus the delivered value at the price of its gas token', async () => {
    const data = placeBids(AMOUNTS, NAMES)
    const fees = [0n, 1n, SUM].map((value) =>
      world.quote(word(world.alice), data, receiveOptions(PLENTY_GAS, value)),
    )
    const natives = (await Promise.all(fees)).map(({ nativeFee }) => nativeFee)
    expect(natives).toEqual([PRICE.baseWei, PRICE.baseWei + 3n, PRICE.baseWei + (SUM * 5n) / 2n])
    expect((await fees[0]!).lzTokenFee).toBe(0n)
  })

  test('checks neither message nor sum', async () => {
    const { nativeFee } = await world.quote(zeroHash, '0x1234', receiveOptions(1n, 7n))
    expect(nativeFee).toBe(PRICE.baseWei + 18n)
  })

  test('fails when the library does, and so does sending', async () => {
    const data = encodeFunctionData({
      abi: localMessageLibAbi,
      functionName: 'setQuoteFails',
      args: [true],
    })
    await world.spokeChain.succeed({ from: world.owner, to: world.spokeLibrary, data })
    const options = receiveOptions(PLENTY_GAS, SUM)
    await expect(world.quote(zeroHash, '0x', options)).rejects.toThrow()
    expect(await refusalOf(placeBids(AMOUNTS, NAMES), options)).toBe('QuoteUnavailable')
  })
})

describe('sending', () => {
  test.each([
    ['bids', placeBids(AMOUNTS, NAMES), SUM],
    ['bids with referral', placeBids(AMOUNTS, NAMES, REFERRAL), SUM],
    ['a withdrawal', withdrawRefund('0x00000000000000000000000000000000000000d0'), 0n],
  ])('%s leaves a packet for the hub and logs its guid', async (_, hubCalldata, sum) => {
    const options = receiveOptions(PLENTY_GAS, sum)
    const { receipt, packet } = await world.send(world.alice, hubCalldata, options)
    const sent = parseEventLogs({ abi: spokeAbi, logs: receipt.logs, eventName: 'Sent' })
    expect(sent.map(({ args }) => args)).toEqual([{ guid: packet.guid, from: word(world.alice) }])
    expect(packet.message).toBe(messageOf(word(world.alice), hubCalldata))
    expect(packet.options).toBe(options)
    expect(packet.receiver).toBe(getAddress(world.hub))
    expect(packet.origin.sender).toBe(word(world.spoke))
  })

  test('refunds the excess fee, and keeps nothing', async () => {
    const before = await world.spokeChain.balance(world.alice)
    const options = receiveOptions(PLENTY_GAS, SUM)
    const tx = await world.sending(world.alice, placeBids(AMOUNTS, NAMES), options, 10n ** 19n)
    const receipt = await world.spokeChain.succeed(tx)
    const spent =
      before -
      (await world.spokeChain.balance(world.alice)) -
      receipt.gasUsed * receipt.effectiveGasPrice
    expect(spent).toBe(PRICE.baseWei + (SUM * 5n) / 2n)
    expect(await world.spokeChain.balance(world.spoke)).toBe(0n)
    packetOf(receipt)
  })

  test('for less than the fee reverts', async () => {
    const options = receiveOptions(PLENTY_GAS, SUM)
    const data = placeBids(AMOUNTS, NAMES)
    const { nativeFee } = await world.quote(word(world.alice), data, options)
    const tx = await world.sending(world.alice, data, options, nativeFee - 1n)
    expect(await world.spokeChain.revertOf(tx, LIBRARY_ERRORS)).toBe('LZ_InsufficientFee')
  })

  const whole = placeBids(AMOUNTS, NAMES)
  const many = Array.from({ length: 101 }, (_, i) => nameOf(`n${i}`))
  test.each<[string, Hex, string]>([
    ['nothing', '0x', 'UnknownCall'],
    ['placeBid', hubCall('placeBid', [nameOf('foobar')]), 'UnknownCall'],
    ['placeBid with referral', hubCall('placeBid', [nameOf('foobar'), REFERRAL]), 'UnknownCall'],
    ['another function', hubCall('setMinimum', [1n]), 'UnknownCall'],
    ['bids cut short', sliceHex(whole, 0, whole.length / 2 - 2), 'UnknownCall'],
    ['no bids', placeBids([], []), 'UnknownCall'],
    [
      '101 bids',
      placeBids(
        many.map(() => MINIMUM_WEI),
        many,
      ),
      'UnknownCall',
    ],
    ['fewer names than amounts', placeBids(AMOUNTS, NAMES.slice(1)), 'UnknownCall'],
    ['a sum beyond 256 bits', placeBids([2n ** 255n, 2n ** 255n], NAMES.slice(1)), 'UnknownCall'],
    ['a malformed name', placeBids(AMOUNTS, [...NAMES.slice(1), nameOf('Foo')]), 'MalformedName'],
    [
      'an amount below the minimum',
      placeBids([MINIMUM_WEI - 1n, ...AMOUNTS.slice(1)], NAMES),
      'BelowMinimum',
    ],
    ['a withdrawal cut short', sliceHex(withdrawRefund(zeroAddress), 0, 35), 'UnknownCall'],
    ['a withdrawal to nobody', withdrawRefund(zeroAddress), 'UnknownCall'],
    [
      'a withdrawal to more than an address',
      concatHex([sliceHex(withdrawRefund(zeroAddress), 0, 4), toHex(2n ** 160n, { size: 32 })]),
      'UnknownCall',
    ],
  ])('%s reverts', async (_, hubCalldata, error) => {
    expect(await refusalOf(hubCalldata, receiveOptions(PLENTY_GAS, SUM))).toBe(error)
    expect(await refusalOf(hubCalldata, receiveOptions(PLENTY_GAS, 0n))).toBe(error)
  })

  test('with another value in its options than the sum reverts', async () => {
    for (const value of [0n, SUM - 1n, SUM + 1n, 2n ** 128n - 1n]) {
      expect(await refusalOf(whole, receiveOptions(PLENTY_GAS, value))).toBe('WrongOptionValue')
    }
    expect(await refusalOf(withdrawRefund(world.alice), receiveOptions(PLENTY_GAS, 1n))).toBe(
      'WrongOptionValue',
    )
    // a sum that no option can hold
    expect(
      await refusalOf(placeBids([2n ** 128n], [NAMES[0]!]), receiveOptions(PLENTY_GAS, 0n)),
    ).toBe('WrongOptionValue')
  })

  test('with less gas than the hub needs reverts', async () => {
    const [bidsBase, perName, withdrawal] = await read('gasNeeds')
    const needed = bidsBase + 3n * perName
    expect(await refusalOf(whole, receiveOptions(needed - 1n, SUM))).toBe('TooLittleGas')
    expect(await refusalOf(whole, receiveOptions(needed, SUM))).toBe(undefined)
    const out = withdrawRefund(world.alice)
    expect(await refusalOf(out, receiveOptions(withdrawal - 1n, 0n))).toBe('TooLittleGas')
    expect(await refusalOf(out, receiveOptions(withdrawal, 0n))).toBe(undefined)
  })

  test.each<[string, Hex]>([
    ['none', '0x'],
    ['type 1', concatHex(['0x0001', toHex(PLENTY_GAS, { size: 32 })])],
    ['type 3 without an option', '0x0003'],
    [
      'two lzReceive options',
      concatHex([receiveOptions(PLENTY_GAS, SUM), sliceHex(receiveOptions(1n, 1n), 2)]),
    ],
    ['a native drop', concatHex(['0x000301003102', padHex('0x01', { size: 48 })])],
    ['a composed call', concatHex(['0x000301001303', padHex('0x01', { size: 18 })])],
    ['another worker', concatHex(['0x000302002101', padHex('0x01', { size: 32 })])],
    ['a wrong size', concatHex(['0x000301001101', padHex('0x01', { size: 32 })])],
    ['bytes after it', concatHex([receiveOptions(PLENTY_GAS, SUM), '0x00'])],
    ['cut short', sliceHex(receiveOptions(PLENTY_GAS, SUM), 0, 37)],
  ])('with options that are not one lzReceive option reverts: %s', async (_, options) => {
    expect(await refusalOf(whole, options)).toBe('BadOptions')
  })

  test('while paused, or without a peer, reverts; a withdrawal still succeeds', async () => {
    const act = (from: Hex, data: Hex) => world.spokeChain.succeed({ from, to: world.spoke, data })
    const options = receiveOptions(PLENTY_GAS, SUM)
    await act(world.pauser, spokeCall('pause', []))
    expect(await refusalOf(whole, options)).toBe('EnforcedPause')
    expect(await refusalOf(placeBids(AMOUNTS, NAMES, REFERRAL), options)).toBe('EnforcedPause')
    const { packet } = await world.send(
      world.alice,
      withdrawRefund(world.bob),
      receiveOptions(PLENTY_GAS, 0n),
    )
    expect(packet.message).toBe(messageOf(word(world.alice), withdrawRefund(world.bob)))
    expect(await refusalOf('0x', options)).toBe('UnknownCall')
    await act(world.owner, spokeCall('unpause', []))
    expect(await refusalOf(whole, options)).toBe(undefined)
    await act(world.owner, spokeCall('setPeer', [HUB_EID, zeroHash]))
    expect(await refusalOf(whole, options)).toBe('NoPeer')
  })
})

describe('roles', () => {
  test('are set as deployed, and each setting is logged', async () => {
    expect(await read('owner')).toBe(getAddress(world.owner))
    expect(await read('pauser')).toBe(getAddress(world.pauser))
    expect(await read('hubEid')).toBe(HUB_EID)
    const set = async (data: Hex) => {
      const { logs } = await world.spokeChain.succeed({ from: world.owner, to: world.spoke, data })
      return parseEventLogs({ abi: spokeAbi, logs }).map(({ eventName, args }) => [
        eventName,
        ...Object.values(args),
      ])
    }
    expect(await set(spokeCall('setMinimum', [5n]))).toEqual([['MinimumSet', 5n]])
    const needs = { bidsBase: 1n, perName: 2n, withdrawal: 3n }
    expect(await set(spokeCall('setGasNeeds', [needs]))).toEqual([['GasNeedsSet', 1n, 2n, 3n]])
    expect(await set(spokeCall('setPauser', [world.bob]))).toEqual([
      ['PauserSet', getAddress(world.bob)],
    ])
    expect(await refusalOf(placeBids([5n], [NAMES[0]!]), receiveOptions(3n, 5n))).toBe(undefined)
    expect(await refusalOf(placeBids([4n], [NAMES[0]!]), receiveOptions(3n, 4n))).toBe(
      'BelowMinimum',
    )
  })

  test('only the owner changes settings and unpauses', async () => {
    const needs = { bidsBase: 1n, perName: 2n, withdrawal: 3n }
    const calls = [
      spokeCall('setMinimum', [1n]),
      spokeCall('setGasNeeds', [needs]),
      spokeCall('setPauser', [world.alice]),
      spokeCall('setPeer', [HUB_EID, zeroHash]),
      spokeCall('setDelegate', [world.alice]),
      spokeCall('transferOwnership', [world.alice]),
      spokeCall('renounceOwnership', []),
      spokeCall('unpause', []),
    ]
    for (const from of [world.alice, world.pauser]) {
      const errors = calls.map((data) =>
        world.spokeChain.revertOf({ from, to: world.spoke, data }, spokeAbi),
      )
      expect(await Promise.all(errors)).toEqual(calls.map(() => 'OwnableUnauthorizedAccount'))
    }
    const pause = { from: world.alice, to: world.spoke, data: spokeCall('pause', []) }
    expect(await world.spokeChain.revertOf(pause, spokeAbi)).toBe('NotPauser')
  })
})

describe('the local message library', () => {
  const call = (from: Hex, data: Hex) =>
    world.spokeChain.revertOf({ from, to: world.spokeLibrary, data }, localMessageLibAbi)

  test('takes settings from its owner and packets from its verifier alone', async () => {
    const price = { base: 1n, numerator: 1n, denominator: 1n }
    const settings = [
      encodeFunctionData({ abi: localMessageLibAbi, functionName: 'setPrice', args: [1, price] }),
      encodeFunctionData({ abi: localMessageLibAbi, functionName: 'setQuoteFails', args: [true] }),
      encodeFunctionData({
        abi: localMessageLibAbi,
        functionName: 'setVerifier',
        args: [world.alice],
      }),
    ]
    for (const data of settings)
      expect(await call(world.alice, data)).toBe('OwnableUnauthorizedAccount')
    const validate = (packet: Hex) =>
      encodeFunctionData({
        abi: localMessageLibAbi,
        functionName: 'validatePacket',
        args: [packet],
      })
    expect(await call(world.owner, validate('0x'))).toBe('OnlyVerifier')
    expect(await call(world.relayer, validate('0x'))).toBe('BadPacket')
    // A packet for the hub's chain is not one for this one.
    const { packet } = await world.send(
      world.alice,
      placeBids(AMOUNTS, NAMES),
      receiveOptions(PLENTY_GAS, SUM),
    )
    expect(await call(world.relayer, validate(packet.encoded))).toBe('BadPacket')
  })
})
