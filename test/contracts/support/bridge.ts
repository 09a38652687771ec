import {
  type Address,
  concatHex,
  encodeFunctionData,
  encodePacked,
  getAddress,
  type Hex,
  hexToBigInt,
  hexToNumber,
  parseEventLogs,
  sliceHex,
  type TransactionReceipt,
} from 'viem'
import {
  layerZeroEndpointAbi,
  localMessageLibAbi,
  spokeAbi,
} from '../../../src/chains/evm/contracts/index.js'
import type { BridgeMessagePrice } from '../../../src/testing/contracts/deploy.js'
import { deployEnds } from '../../support/bridgeContracts.js'
import { type Accounts, callsOf, startChain } from './chain.js'
import { DELIVER_LIMIT_WEI, messageOf, word } from './hub.js'

export type BridgeWorld = Awaited<ReturnType<typeof startBridgeWorld>>

/** A hub and a spoke on chains of their own, connected by LayerZero's endpoints and our local message library. */
export async function startBridgeWorld(price?: BridgeMessagePrice) {
  const [hubChain, spokeChain] = await Promise.all([startChain(31_337), startChain(31_338)])
  // The accounts are the same on both chains.
  const [owner, relayer, pauser, alice, bob, stranger] = hubChain.accounts as Accounts
  const { hub, hubEndpoint, hubLibrary, spoke, spokeEndpoint, spokeLibrary } = await deployEnds(
    { walletClient: hubChain.deployer, publicClient: hubChain.publicClient },
    { walletClient: spokeChain.deployer, publicClient: spokeChain.publicClient },
    { owner, pauser, relayer, deliverLimitWei: DELIVER_LIMIT_WEI },
    price,
  )

  const quote = (from: Hex, hubCalldata: Hex, options: Hex) =>
    spokeChain.publicClient.readContract({
      address: spoke,
      abi: spokeAbi,
      functionName: 'quote',
      args: [messageOf(from, hubCalldata), options],
    })

  /** The transaction that sends hub calldata over the bridge; pays the quoted fee by default. */
  async function sending(from: Address, hubCalldata: Hex, options: Hex, value?: bigint) {
    const fee = value ?? (await quote(word(from), hubCalldata, options)).nativeFee
    return { from, to: spoke, data: spokeCall('lzSend', [hubCalldata, options]), value: fee }
  }

  async function send(from: Address, hubCalldata: Hex, options: Hex) {
    const receipt = await spokeChain.succeed(await sending(from, hubCalldata, options))
    return { receipt, packet: packetOf(receipt) }
  }

  /** The verifier's calls on the hub's chain. */
  const verifying = ({ encoded }: Packet) => ({
    from: relayer,
    to: hubLibrary,
    data: encodeFunctionData({
      abi: localMessageLibAbi,
      functionName: 'validatePacket',
      args: [encoded],
    }),
  })

  /** An executor's call on the hub's chain, open to anybody. */
  function executing(packet: Packet, value: bigint, from: Address = relayer) {
    const { origin, receiver, guid, message } = packet
    const args = [origin, receiver, guid, message, '0x'] as const
    const data = encodeFunctionData({ abi: layerZeroEndpointAbi, functionName: 'lzReceive', args })
    return { from, to: hubEndpoint, data, value }
  }

  async function carry(packet: Packet, value: bigint) {
    await hubChain.succeed(verifying(packet))
    return hubChain.succeed(executing(packet, value))
  }

  return {
    hubChain,
    spokeChain,
    hub,
    spoke,
    hubEndpoint,
    spokeEndpoint,
    hubLibrary,
    spokeLibrary,
    owner,
    relayer,
    pauser,
    alice,
    bob,
    stranger,
    quote,
    sending,
    send,
    verifying,
    executing,
    carry,
    stop: () => Promise.all([hubChain.stop(), spokeChain.stop()]),
  }
}

export const spokeCall = callsOf(spokeAbi)

/** Type-3 options with one lzReceive option. */
export const receiveOptions = (gasLimit: bigint, value: bigint): Hex =>
  value === 0n
    ? concatHex(['0x000301001101', encodePacked(['uint128'], [gasLimit])])
    : concatHex(['0x000301002101', encodePacked(['uint128', 'uint128'], [gasLimit, value])])

export type Packet = ReturnType<typeof packetOf>

/** The only packet that a transaction sent, decoded. */
export function packetOf(receipt: TransactionReceipt) {
  const packets = packetsOf(receipt)
  if (packets.length !== 1)
    throw new Error(`${packets.length} packets in ${receipt.transactionHash}`)
  return packets[0]!
}

/** The packets that a transaction sent, in order, decoded. */
export function packetsOf(receipt: TransactionReceipt) {
  const sent = parseEventLogs({
    abi: layerZeroEndpointAbi,
    logs: receipt.logs,
    eventName: 'PacketSent',
  })
  return sent.map(({ args: { encodedPayload: encoded, options } }) => ({
    encoded,
    options,
    origin: {
      nonce: hexToBigInt(sliceHex(encoded, 1, 9)),
      srcEid: hexToNumber(sliceHex(encoded, 9, 13)),
      sender: sliceHex(encoded, 13, 45),
    },
    receiver: getAddress(sliceHex(encoded, 61, 81)),
    guid: sliceHex(encoded, 81, 113),
    message: sliceHex(encoded, 113),
  }))
}
