import { type Address, encodeFunctionData, type Hex, pad, parseAbi, parseEventLogs } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  hubAbi,
  layerZeroEndpointAbi,
  localMessageLibAbi,
  spokeAbi,
} from '../../src/chains/evm/contracts/index.js'
import { useWorld } from '../support/useWorld.js'
import {
  type BridgeWorld,
  type Packet,
  packetOf,
  receiveOptions,
  startBridgeWorld,
} from './support/bridge.js'
import {
  eventsOf,
  HERE,
  HUB_EID,
  hubCall,
  hubMoney,
  MINIMUM_WEI,
  nameOf,
  placeBids,
  SPOKE_EID,
  sumOf,
  withdrawRefund,
  word,
} from './support/hub.js'
import { REFUSE, startWallet } from './support/wallet.js'

const NAMES = ['one', 'two', 'three'].map(nameOf)
const AMOUNTS = [MINIMUM_WEI, 2n * MINIMUM_WEI, 3n * MINIMUM_WEI]
const SUM = sumOf(AMOUNTS)
const NOBODY = '0x00000000000000000000000000000000000000d0'
const REFERRAL = `0x${'cd'.repeat(32)}` as const
const ERRORS = [...hubAbi, ...layerZeroEndpointAbi, ...localMessageLibAbi]
/** Gas per transaction, and per byte of its calldata. */
const INTRINSIC_GAS = { base: 21_000n, zeroByte: 4n, otherByte: 16n }

const sendAbi = parseAbi([
  'struct MessagingParams { uint32 dstEid; bytes32 receiver; bytes message; bytes options; bool payInLzToken; }',
  'function send(MessagingParams params, address refundAddress) payable',
])

const world = useWorld(() => startBridgeWorld())
let fresh: { hub: Hex; spoke: Hex } | undefined

beforeEach(async () => {
  const hub = world.hubChain.testClient
  const spoke = world.spokeChain.testClient
  if (fresh) await Promise.all([hub.revert({ id: fresh.hub }), spoke.revert({ id: fresh.spoke })])
  fresh = { hub: await hub.snapshot(), spoke: await spoke.snapshot() }
})

/** Options with exactly the least gas that the spoke accepts. */
async function leastOptions(value: bigint, names: number) {
  const { publicClient } = world.spokeChain
  const [bidsBase, perName, withdrawal] = await publicClient.readContract({
    address: world.spoke,
    abi: spokeAbi,
    functionName: 'gasNeeds',
  })
  return receiveOptions(names === 0 ? withdrawal : bidsBase + BigInt(names) * perName, value)
}

async function sendBids(from: Address, amounts = AMOUNTS, names = NAMES, referral?: Hex) {
  const options = await leastOptions(sumOf(amounts), names.length)
  return (await world.send(from, placeBids(amounts, names, referral), options)).packet
}

async function sendWithdrawal(from: Address, to: Address) {
  return (await world.send(from, withdrawRefund(to), await leastOptions(0n, 0))).packet
}

const onChain = () => ({ address: world.hub, abi: hubAbi })
const ownerOf = (name: Hex) =>
  world.hubChain.publicClient.readContract({ ...onChain(), functionName: 'ownerOf', args: [name] })
/** Credit of a bidder for bids through the spoke, or for bids on the hub. */
const refundOf = (from: Hex, eid: number = SPOKE_EID) =>
  world.hubChain.publicClient.readContract({
    ...onChain(),
    functionName: 'refundOf',
    args: [eid, from],
  })
const onHub = (from: Address, data: Hex, value = 0n) =>
  world.hubChain.succeed({ from, to: world.hub, data, value })
const bid = (from: Address, name: Hex) => onHub(from, hubCall('placeBid', [name]), MINIMUM_WEI)
const money = () => hubMoney(world.hubChain, world.hub)
const hubErrorOf = (tx: Parameters<BridgeWorld['hubChain']['send']>[0]) =>
  world.hubChain.revertOf(tx, ERRORS)

test('bids go from spoke to hub: sent, verified, executed, won', async () => {
  const packet = await sendBids(world.alice, AMOUNTS, NAMES, REFERRAL)
  const receipt = await world.carry(packet, SUM)
  const from = word(world.alice)
  expect(eventsOf(receipt)).toEqual([
    ...NAMES.map((name, i) => ['Bid', from, AMOUNTS[i], name, REFERRAL]),
    ['Received', packet.guid, from, 3n],
  ])
  const delivered = parseEventLogs({
    abi: layerZeroEndpointAbi,
    logs: receipt.logs,
    eventName: 'PacketDelivered',
  })
  expect(delivered.map(({ args }) => args.origin)).toEqual([packet.origin])
  expect(await Promise.all(NAMES.map(ownerOf))).toEqual([from, from, from])
  expect(await money()).toEqual({ balance: SUM, kept: SUM, owed: 0n })
})

test('a smart wallet that exists only on the spoke’s chain bids, loses, and gets its money at an address of its choice', async () => {
  await bid(world.bob, NAMES[0]!)
  const wallet = await startWallet(world.spokeChain, world.spoke)
  const lzSend = async (hubCalldata: Hex, options: Hex) => {
    const { data, value } = await world.sending(wallet.address, hubCalldata, options)
    return packetOf(await wallet.execute(data, value))
  }
  const bids = await lzSend(
    placeBids([MINIMUM_WEI], [NAMES[0]!]),
    await leastOptions(MINIMUM_WEI, 1),
  )
  await world.carry(bids, MINIMUM_WEI)
  expect(await refundOf(word(wallet.address))).toBe(MINIMUM_WEI)
  await world.carry(await lzSend(withdrawRefund(NOBODY), await leastOptions(0n, 0)), 0n)
  expect(await world.hubChain.balance(NOBODY)).toBe(MINIMUM_WEI)
})

test('a stranger’s execution with another value changes nothing; the right value succeeds, once', async () => {
  const packet = await sendBids(world.alice)
  await world.hubChain.succeed(world.verifying(packet))
  for (const value of [0n, 1n, SUM - 1n, SUM + 1n]) {
    expect(await hubErrorOf(world.executing(packet, value, world.stranger))).toBe('WrongValue')
    expect((await world.hubChain.send(world.executing(packet, value, world.stranger))).status).toBe(
      'reverted',
    )
  }
  await world.hubChain.succeed(world.executing(packet, SUM, world.stranger))
  expect(await ownerOf(NAMES[0]!)).toBe(word(world.alice))
  for (const value of [0n, SUM]) {
    expect(await hubErrorOf(world.executing(packet, value))).toBe('LZ_PayloadHashNotFound')
  }
  expect(await hubErrorOf(world.verifying(packet))).toBe('LZ_PathNotVerifiable')
  expect(await money()).toEqual({ balance: SUM, kept: SUM, owed: 0n })
})

test('a wallet at the same address on both chains, of two owners: neither can withdraw what the other is owed', async () => {
  // the deploying accounts have sent equally many transactions on both chains
  const deployer = world.hubChain.accounts[8]!
  const onHubChain = await startWallet(world.hubChain, world.hub, deployer)
  const onSpokeChain = await startWallet(world.spokeChain, world.spoke, deployer)
  expect(onHubChain.address).toBe(onSpokeChain.address)
  await bid(world.bob, NAMES[0]!)
  await onHubChain.execute(hubCall('placeBid', [NAMES[0]!]), MINIMUM_WEI)
  const from = word(onHubChain.address)
  const { data, value } = await world.sending(
    onSpokeChain.address,
    withdrawRefund(NOBODY),
    await leastOptions(0n, 0),
  )
  const packet = packetOf(await onSpokeChain.execute(data, value))
  expect(eventsOf(await world.carry(packet, 0n))).toEqual([['Received', packet.guid, from, 0n]])
  expect(await refundOf(from, HERE)).toBe(MINIMUM_WEI)
  expect(await world.hubChain.balance(NOBODY)).toBe(0n)
})

test('a withdrawal that its receiver refuses can be executed again, whoever executed it first, at any time', async () => {
  await bid(world.bob, NAMES[0]!)
  await world.carry(await sendBids(world.alice, [MINIMUM_WEI], [NAMES[0]!]), MINIMUM_WEI)
  const wallet = await startWallet(world.hubChain, world.hub)
  await wallet.call('setMode', [REFUSE])
  const packet = await sendWithdrawal(world.alice, wallet.address)
  await world.hubChain.succeed(world.verifying(packet))
  const tx = world.executing(packet, 0n, world.stranger)
  expect(await hubErrorOf(tx)).toBe('PaymentFailed')
  expect((await world.hubChain.send(tx)).status).toBe('reverted')
  expect(await refundOf(word(world.alice))).toBe(MINIMUM_WEI)
  await wallet.call('setMode', [0])
  await world.hubChain.succeed(tx)
  expect(await world.hubChain.balance(wallet.address)).toBe(MINIMUM_WEI)
})

test('an altered message is not executed', async () => {
  const packet = await sendBids(world.alice)
  const other = await sendBids(world.bob)
  await world.hubChain.succeed(world.verifying(packet))
  for (const altered of [
    { ...packet, message: other.message },
    { ...packet, guid: other.guid },
  ]) {
    expect(await hubErrorOf(world.executing(altered, SUM))).toBe('LZ_PayloadHashNotFound')
  }
  // nor is a message that nobody verified
  expect(await hubErrorOf(world.executing(other, SUM))).toBe('LZ_InvalidNonce')
})

test('a packet from a contract that is not ours is never accepted', async () => {
  const ours = await sendBids(world.alice)
  const params = {
    dstEid: HUB_EID,
    receiver: pad(world.hub),
    message: ours.message,
    options: ours.options,
    payInLzToken: false,
  }
  const data = encodeFunctionData({
    abi: sendAbi,
    functionName: 'send',
    args: [params, world.stranger],
  })
  const tx = { from: world.stranger, to: world.spokeEndpoint, data, value: 10n ** 18n }
  const forged = packetOf(await world.spokeChain.succeed(tx))
  expect(forged.origin.sender).toBe(word(world.stranger))
  expect(await hubErrorOf(world.verifying(forged))).toBe('LZ_PathNotInitializable')
  expect(await hubErrorOf(world.executing(forged, SUM))).toBe('LZ_InvalidNonce')
})

test('messages may arrive in another order than sent: the first to be executed wins', async () => {
  const first = await sendBids(world.alice)
  const second = await sendBids(world.bob)
  await world.hubChain.succeed(world.verifying(first))
  await world.carry(second, SUM)
  await world.hubChain.succeed(world.executing(first, SUM))
  expect(await ownerOf(NAMES[0]!)).toBe(word(world.bob))
  expect(await refundOf(word(world.alice))).toBe(SUM)
})

describe('the least gas that the spoke lets through is enough on the hub', () => {
  const longNames = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, i) => nameOf(`${i}`.padStart(32, prefix)))
  const each = (names: readonly Hex[]) => names.map(() => MINIMUM_WEI)

  /** Executes with exactly the gas of the packet's options. @returns the remaining gas */
  async function executeWithOptionsGas(packet: Packet, value: bigint) {
    await world.hubChain.succeed(world.verifying(packet))
    const tx = world.executing(packet, value)
    const optionGas = BigInt(`0x${packet.options.slice(14, 46)}`)
    const gas = optionGas + intrinsicGas(tx.data)
    return world.hubChain.succeed({ ...tx, gas })
  }

  test.each([1, 2, 10, 100])('for %i bids that win', async (count) => {
    const names = longNames(count, 'x')
    const packet = await sendBids(world.alice, each(names), names, REFERRAL)
    expect(eventsOf(await executeWithOptionsGas(packet, BigInt(count) * MINIMUM_WEI))).toHaveLength(
      count + 1,
    )
  })

  test.each([2, 10, 100])("for %i bids, some lost, the bidder's first credit", async (count) => {
    const names = longNames(count, 'y')
    await world.carry(await sendBids(world.bob, [MINIMUM_WEI], [names[0]!]), MINIMUM_WEI)
    await onHub(world.owner, hubCall('withdrawKept', [world.owner]))
    const packet = await sendBids(world.alice, each(names), names, REFERRAL)
    expect(eventsOf(await executeWithOptionsGas(packet, BigInt(count) * MINIMUM_WEI))).toHaveLength(
      count + 2,
    )
    expect(await refundOf(word(world.alice))).toBe(MINIMUM_WEI)
  })

  test('for bids that the hub refuses', async () => {
    const names = longNames(100, 'z')
    const packet = await sendBids(world.alice, each(names), names, REFERRAL)
    await onHub(world.owner, hubCall('setMinimum', [MINIMUM_WEI + 1n]))
    expect(eventsOf(await executeWithOptionsGas(packet, 100n * MINIMUM_WEI))).toHaveLength(202)
  })

  test('for a withdrawal, to a wallet of 50,000 gas, behind 8 messages not executed', async () => {
    const wallet = await startWallet(world.hubChain, world.hub)
    await wallet.call('setCallBack', [world.hub, hubCall('placeBid', [NAMES[2]!])])
    await bid(world.bob, NAMES[0]!)
    await world.carry(await sendBids(world.alice, [MINIMUM_WEI], [NAMES[0]!]), MINIMUM_WEI)
    for (let i = 0; i < 8; i++) {
      await world.hubChain.succeed(world.verifying(await sendWithdrawal(world.bob, NOBODY)))
    }
    const packet = await sendWithdrawal(world.alice, wallet.address)
    expect(eventsOf(await executeWithOptionsGas(packet, 0n))[0]![0]).toBe('RefundWithdrawn')
  })

  test('for a bid behind 8 messages not executed', async () => {
    for (let i = 0; i < 8; i++) {
      await world.hubChain.succeed(world.verifying(await sendWithdrawal(world.bob, NOBODY)))
    }
    const packet = await sendBids(world.alice, [MINIMUM_WEI], [longNames(1, 'v')[0]!], REFERRAL)
    expect(eventsOf(await executeWithOptionsGas(packet, MINIMUM_WEI))).toHaveLength(2)
  })
})

function intrinsicGas(data: Hex): bigint {
  let gas = INTRINSIC_GAS.base
  for (const byte of Buffer.from(data.slice(2), 'hex'))
    gas += byte === 0 ? INTRINSIC_GAS.zeroByte : INTRINSIC_GAS.otherByte
  return gas
}
