import { encodeFunctionData, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { encodeMessage } from '../chains/evm/bridge/hubMessage.js'
import { encodePacket, type PacketPath, packetGuid } from '../chains/evm/bridge/packet.js'
import { encodeLzReceiveOption } from '../chains/evm/bridge/packetOptions.js'
import { hubAbi } from '../chains/evm/contracts/index.js'
import { fromHex } from '../registry/primitives/bytes.js'
import { decideMessage, type Lane } from './packets.js'

const asWord = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`
const HUB: Hex = `0x${'aa'.repeat(20)}`
const SPOKE: Hex = `0x${'bb'.repeat(20)}`
const ALICE = asWord(`0x${'cc'.repeat(20)}`)
const route = (isLocal = true): Lane => ({
  hub: { eid: 30_101, contract: HUB, isLocal },
  spokes: [{ chain: 2, eid: 30_184, contract: SPOKE }],
})
const path: PacketPath = {
  nonce: 1n,
  srcEid: 30_184,
  sender: asWord(SPOKE),
  dstEid: 30_101,
  receiver: asWord(HUB),
}
const NAME: Hex = `0x${'61'.padEnd(64, '0')}`
const bids = encodeFunctionData({
  abi: hubAbi,
  functionName: 'placeBids',
  args: [
    [3n, 4n],
    [NAME, NAME],
  ],
})
const withdrawal = encodeFunctionData({ abi: hubAbi, functionName: 'withdrawRefund', args: [HUB] })

const decisionOf = (
  {
    calldata = bids,
    value = 7n,
    gas = 200_000n,
    options,
    chain = 2,
    ...changes
  }: Partial<PacketPath> & {
    calldata?: Hex
    value?: bigint
    gas?: bigint
    options?: Hex
    chain?: number
  } = {},
  isLocal = true,
) => {
  const at = { ...path, ...changes }
  const packet = encodePacket({ ...at, guid: packetGuid(at), message: encodeMessage(ALICE, calldata) })
  const decision = decideMessage(
    { chain, packet: fromHex(packet), options: fromHex(options ?? encodeLzReceiveOption({ gas, value })) },
    route(isLocal),
  )
  return 'refusal' in decision ? decision.refusal : decision.option
}

describe('a message', () => {
  it('is delivered with the value and gas of its options where it asks for that value', () => {
    expect(decisionOf()).toEqual({ gas: 200_000n, value: 7n })
    expect(decisionOf({ calldata: withdrawal, value: 0n })).toEqual({ gas: 200_000n, value: 0n })
  })

  it.each([6n, 8n, 0n])('with bids of 7 wei is not delivered with %s', (value) => {
    expect(decisionOf({ value })).toBe('value_mismatch')
    expect(decisionOf({ value }, false)).toBe('value_mismatch')
  })

  it('that withdraws is delivered with nothing', () => {
    expect(decisionOf({ calldata: withdrawal, value: 1n })).toBe('value_mismatch')
  })

  it('that the hub will refuse is delivered with its value on a local network alone', () => {
    expect(decisionOf({ calldata: '0x12345678', value: 5n })).toEqual({ gas: 200_000n, value: 5n })
    expect(decisionOf({ calldata: '0x12345678', value: 5n }, false)).toBe('value_mismatch')
    expect(decisionOf({ calldata: '0x12345678', value: 0n }, false)).toEqual({ gas: 200_000n, value: 0n })
  })

  it.each([
    ['another sender', { sender: asWord(HUB) }],
    ['another chain', { srcEid: 30_110 }],
    ['another spoke than it was read from', { chain: 3 }],
    ['another receiver', { receiver: asWord(SPOKE) }],
    ['another destination', { dstEid: 30_102 }],
  ])('of %s is foreign', (_, changes) => {
    expect(decisionOf(changes)).toBe('foreign_packet')
  })

  it.each<[string, Hex]>([
    ['none', '0x'],
    ['no gas', encodeLzReceiveOption({ gas: 0n, value: 7n })],
    ['a native drop', `0x000301003102${'00'.repeat(48)}`],
    [
      'two options',
      `${encodeLzReceiveOption({ gas: 1n, value: 7n })}${encodeLzReceiveOption({ gas: 1n, value: 7n }).slice(6)}`,
    ],
  ])('with bad options (%s) is not delivered', (_, options) => {
    expect(decisionOf({ options })).toBe('bad_options')
  })
})
