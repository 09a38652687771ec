import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  pad,
  parseEventLogs,
  stringToHex,
  type TransactionReceipt,
  toHex,
} from 'viem'
import { hubAbi } from '../../../src/chains/evm/contracts/index.js'
import { deployHub } from '../../../src/testing/contracts/deploy.js'
import { type Accounts, type Chain, callsOf, startChain } from './chain.js'

export const MINIMUM_WEI = 10n ** 16n
export const DELIVER_LIMIT_WEI = 10n ** 18n
export const HUB_EID = 30_101
export const SPOKE_EID = 30_184
/** Endpoint id of another spoke, in tests that act as the endpoint. */
export const OTHER_EID = 30_111
/** Endpoint id that stands for direct calls, in credits. */
export const HERE = 0
/** The hub's peer in tests that act as the endpoint. */
const PEER = pad('0x5b0c', { size: 32 })

export type HubWorld = Awaited<ReturnType<typeof startHubWorld>>

/** A hub on a chain of its own, roles on the first accounts, and helpers bound to it. */
export async function startHubWorld() {
  const chain = await startChain()
  const [owner, relayer, pauser, alice, bob, carol] = chain.accounts as Accounts
  const { app: hub, endpoint } = await deployHub({
    walletClient: chain.deployer,
    publicClient: chain.publicClient,
    eid: HUB_EID,
    minimumWei: MINIMUM_WEI,
    deliverLimitWei: DELIVER_LIMIT_WEI,
    owner,
    relayer,
    pauser,
  })
  await chain.impersonate(endpoint)
  for (const eid of [SPOKE_EID, OTHER_EID])
    await chain.succeed({ from: owner, to: hub, data: hubCall('setPeer', [eid, PEER]) })

  let messages = 0

  /** The transaction by which the endpoint gives the hub a message. */
  function receiving(message: Hex, value = 0n, guid = nextGuid(), srcEid = SPOKE_EID) {
    const origin = { srcEid, sender: PEER, nonce: 1n }
    const data = encodeFunctionData({
      abi: hubAbi,
      functionName: 'lzReceive',
      args: [origin, guid, message, carol, '0x'],
    })
    return { guid, tx: { from: endpoint, to: hub, data, value } }
  }

  function nextGuid(): Hex {
    messages += 1
    return keccak256(toHex(messages))
  }

  async function receive(message: Hex, value = 0n, srcEid = SPOKE_EID) {
    const { guid, tx } = receiving(message, value, undefined, srcEid)
    return { guid, receipt: await chain.succeed(tx) }
  }

  /** Name of the error with which a call of the hub reverts; undefined if it succeeds. */
  const reasonOf = (from: Address, data: Hex, value = 0n) =>
    chain.revertOf({ from, to: hub, data, value }, hubAbi)

  return {
    ...chain,
    hub,
    endpoint,
    owner,
    relayer,
    pauser,
    alice,
    bob,
    carol,
    receiving,
    receive,
    reasonOf,
    abi: hubAbi,
    nextGuid,
    money: () => hubMoney(chain, hub),
    ownerOf: (name: Hex) =>
      chain.publicClient.readContract({
        address: hub,
        abi: hubAbi,
        functionName: 'ownerOf',
        args: [name],
      }),
    /** The credit of a bidder; of direct calls by default. */
    refundOf: (from: Hex, eid: number = HERE) =>
      chain.publicClient.readContract({
        address: hub,
        abi: hubAbi,
        functionName: 'refundOf',
        args: [eid, from],
      }),
  }
}

/** A payment as the relayer delivers it. */
export interface Delivery {
  source: Hex
  sequence: bigint
  from: Hex
  amounts: readonly bigint[]
  names: readonly Hex[]
  referral: Hex
}

export const deliver = (...deliveries: readonly Delivery[]): Hex => hubCall('deliver', [deliveries])

export const hubCall = callsOf(hubAbi)

export const nameOf = (text: string): Hex => pad(stringToHex(text), { size: 32, dir: 'right' })
export const word = (address: Address): Hex => pad(address, { size: 32 }).toLowerCase() as Hex
export const sumOf = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((sum, amount) => sum + amount, 0n)

/** Calldata of `placeBids`, in the form that the referral asks for. */
export function placeBids(amounts: readonly bigint[], names: readonly Hex[], referral?: Hex): Hex {
  return hubCall(
    'placeBids',
    referral === undefined ? [amounts, names] : [amounts, names, referral],
  )
}

export const withdrawRefund = (to: Address): Hex => hubCall('withdrawRefund', [to])

/** A message as a spoke writes it. */
export const messageOf = (sender: Hex, hubCalldata: Hex): Hex =>
  encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes' }], [sender, hubCalldata])

/** The hub's logs of a transaction, in order, as `[name, ...values]`. */
export function eventsOf(receipt: TransactionReceipt) {
  return parseEventLogs({ abi: hubAbi, logs: receipt.logs }).map(({ eventName, args }) => {
    const values = args as Readonly<Record<string, unknown>>
    const count = Object.keys(values).length
    const { inputs } = EVENTS.find(
      ({ name, inputs }) => name === eventName && inputs.length === count,
    )!
    return [eventName, ...inputs.map(({ name }) => values[name])] as const
  })
}

const EVENTS = hubAbi.filter((item) => item.type === 'event')

/** The hub's balance, and its shares by owner. */
export async function hubMoney(chain: Chain, hub: Address) {
  const read = (functionName: 'kept' | 'owed') =>
    chain.publicClient.readContract({ address: hub, abi: hubAbi, functionName })
  const [balance, kept, owed] = await Promise.all([chain.balance(hub), read('kept'), read('owed')])
  return { balance, kept, owed }
}
