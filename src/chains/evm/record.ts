import { numberToHex, toFunctionSelector } from 'viem'
import type { ChainConfig } from '../../config/index.js'
import { fromHex } from '../../registry/primitives/bytes.js'
import { keccak256 } from '../../registry/primitives/keccak.js'
import type { Hex } from '../chain.js'
import { NodeError, RpcError, transient } from '../rpc/errors.js'
import type { Call } from '../rpc/nodes.js'
import { HELD_TOPIC, PAYMENT_TOPIC } from './community/logs.js'
import type { RawLog } from './logs.js'

/** Contract with a running hash of its own logs (contracts/evm/src/interfaces/IRecord.sol). */
interface Keeper {
  kind: 'hub' | 'payments'
  /** Lower case. */
  address: Hex
}

type Contracts = Pick<ChainConfig, 'role' | 'chainId' | 'communityPayments' | 'watchOnly'> & {
  contract?: Hex | undefined
}

/** Running hashes of a chain's keepers, 32 bytes each, in the order of `keepersOf`. */
export type ChainRecord = readonly Buffer[]

const RECORD_HASH = toFunctionSelector('recordHash()')
const WORD = 32
/** Words as nodes write them. Looser hex would let one text be hashed and another be decoded. */
const WORDS = /^0x(?:[0-9a-f]{64})*$/

/** Contracts of a chain that keep a record. A watched contract of others keeps none. */
function keepersOf({ role, contract, communityPayments, watchOnly }: Omit<Contracts, 'chainId'>): Keeper[] {
  if (watchOnly) return []
  const hub: Keeper[] = role === 'hub' && contract ? [{ kind: 'hub', address: contract }] : []
  return communityPayments ? [...hub, { kind: 'payments', address: communityPayments }] : hub
}

/** Record before the first log. */
export const emptyRecord = (contracts: Omit<Contracts, 'chainId'>): ChainRecord =>
  keepersOf(contracts).map(() => Buffer.alloc(WORD))

/**
 * Record of a chain after some logs.
 * @param logs all that `filterOf` names, in order
 * @param timeOf a log's block time, milliseconds
 * @throws RpcError transient for a log that is not written as nodes write it, or a payment that is not its id's
 */
export function foldRecord(
  before: ChainRecord,
  contracts: Contracts,
  logs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): ChainRecord {
  const keepers = keepersOf(contracts)
  const after = [...before]
  let bid: Hex = '0x'
  for (const log of logs) {
    const { address, topics, data } = log
    const place = keepers.findIndex((one) => one.address === address.toLowerCase())
    const keeper = keepers[place]
    if (!keeper) continue
    if (![...topics, data].every((hex) => WORDS.test(hex))) throw transient('eth_getLogs: a log has another form')
    if (keeper.kind === 'payments' && topics[0] === PAYMENT_TOPIC) {
      bid = data
      continue
    }
    if (topics[0] === HELD_TOPIC && idOf(bid, data, contracts.chainId, keeper.address) !== topics[1])
      throw transient('eth_getLogs: a payment has not the id that it makes')
    const time = numberToHex(timeOf(log) / 1_000, { size: WORD })
    // an id is a hash of all of its payment
    const words = keeper.kind === 'hub' ? [time, ...topics, data] : [time, topics[0]!, topics[1]!]
    after[place] = keccak256(Buffer.concat([after[place]!, ...words.map(fromHex)]))
  }
  return after
}

/** Id of a payment by its two logs (ICommunityPayments.sol, `idOf`). */
function idOf(bid: Hex, held: Hex, chainId: number, contract: Hex): Hex {
  const word = (data: Hex, i: number): string => data.slice(2 + 64 * i, 66 + 64 * i)
  const payment = [word(held, 0), word(held, 1), ...[0, 4, 2, 3, 5, 6, 7].map((i) => word(bid, i))]
  const place = [numberToHex(chainId, { size: WORD }).slice(2), contract.slice(2).padStart(64, '0')]
  return `0x${keccak256(Buffer.from([...payment, ...place].join(''), 'hex')).toString('hex')}`
}

/**
 * Reads a chain's record from its contracts as of a block.
 * @param blockHash by which another fork can't answer (EIP-1898)
 * @returns null where a contract keeps none, or the node has no state of the block
 * @throws RpcError
 */
export async function readRecord(call: Call, contracts: Contracts, blockHash: Hex): Promise<ChainRecord | null> {
  const ask = ({ address: to }: Keeper): Promise<Hex | null> =>
    call<Hex>('eth_call', [{ to, data: RECORD_HASH }, { blockHash }]).catch(orNone)
  const words = await Promise.all(keepersOf(contracts).map(ask))
  if (words.includes(null) || words.length === 0) return null
  // an account without code, before it was deployed, has logged nothing
  const hashes = words.map((word) => (word === '0x' ? Buffer.alloc(WORD) : fromHex(word!)))
  if (hashes.some(({ length }) => length !== WORD)) throw transient('eth_call: recordHash() answers in another form')
  return hashes
}

/** A node that answers with an error keeps no such state, or the contract no record. */
function orNone(error: unknown): null {
  if (error instanceof RpcError && error.fault !== 'rate_limited' && error.cause instanceof NodeError) return null
  throw error
}
