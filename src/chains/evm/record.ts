import { toFunctionSelector } from 'viem'
import type { ChainConfig } from '../../config/index.js'
import { orIf } from '../../ops/log/errors.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
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

/** Contracts of a chain, as far as its record goes. */
export type RecordedContracts = Pick<ChainConfig, 'role' | 'chainId' | 'communityPayments'> & {
  contract?: Hex | undefined
  watchOnly?: ChainConfig['watchOnly']
}

/** Running hashes of a chain's keepers, 32 bytes each, in the order of `keepersOf`. */
export type ChainRecord = readonly Buffer[]

/** Words that a log adds to the record of one of the chain's keepers. */
export interface RecordWords {
  keeper: number
  /** Hex without a prefix. */
  words: string
}

const RECORD_HASH = toFunctionSelector('recordHash()')
const WORD = 32

/** Contracts of a chain that keep a record. A watched contract of others keeps none. */
function keepersOf({
  role,
  contract,
  communityPayments,
  watchOnly,
}: Omit<RecordedContracts, 'chainId'>): Keeper[] {
  if (watchOnly) return []
  const hub: Keeper[] = role === 'hub' && contract ? [{ kind: 'hub', address: contract }] : []
  return communityPayments ? [...hub, { kind: 'payments', address: communityPayments }] : hub
}

/** Record before the first log. */
export const emptyRecord = (contracts: Omit<RecordedContracts, 'chainId'>): ChainRecord =>
  keepersOf(contracts).map(() => Buffer.alloc(WORD))

/** Record as it is stored with a checkpoint: that of another block, or of other contracts, is not taken for it. */
export const packRecord = (
  contracts: RecordedContracts,
  parentHash: Buffer,
  record: ChainRecord,
): Buffer =>
  Buffer.concat([
    parentHash,
    ...keepersOf(contracts).flatMap(({ address }, i) => [fromHex(address), record[i]!]),
  ])

/** Null where the record is not the checkpoint's, or of other contracts. */
export function storedRecord(
  contracts: RecordedContracts,
  parentHash: Buffer,
  stored: Buffer,
): ChainRecord | null {
  const size = 20 + WORD
  const words = keepersOf(contracts).map((_, i) =>
    stored.subarray(size * (i + 1), WORD + size * (i + 1)),
  )
  return packRecord(contracts, parentHash, words).equals(stored) ? words : null
}

/**
 * Words that logs of a chain add to its record.
 * @param logs all that `filterOf` names, in order
 * @param timeOf a log's block time, ms
 * @throws RpcError transient for a payment that is not its id's
 */
export function recordWords(
  contracts: RecordedContracts,
  logs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): RecordWords[] {
  const keepers = keepersOf(contracts)
  const found: RecordWords[] = []
  let bid: Hex = '0x'
  for (const log of keepers.length === 0 ? [] : logs) {
    const { topics, data } = log
    const address = log.address.toLowerCase()
    const keeper = keepers.findIndex((one) => one.address === address)
    const told = keepers[keeper]
    if (!told) continue
    if (told.kind === 'payments' && topics[0] === PAYMENT_TOPIC) {
      bid = data
      continue
    }
    if (topics[0] === HELD_TOPIC && idOf(bid, data, contracts.chainId, told.address) !== topics[1])
      throw transient(
        'eth_getLogs: a payment has not the id that it makes; is `communityPayments` our contract?',
      )
    let words = (timeOf(log) / 1_000).toString(16).padStart(2 * WORD, '0')
    // an id is a hash of all of its payment
    for (const word of told.kind === 'hub' ? topics : topics.slice(0, 2)) words += word.slice(2)
    found.push({ keeper, words: told.kind === 'hub' ? words + data.slice(2) : words })
  }
  return found
}

export function foldRecord(before: ChainRecord, logs: readonly RecordWords[]): ChainRecord {
  const after = [...before]
  for (const { keeper, words } of logs) {
    const message = Buffer.allocUnsafe(WORD + words.length / 2)
    message.set(after[keeper]!)
    message.write(words, WORD, 'hex')
    after[keeper] = keccak256(message)
  }
  return after
}

/** Id of a payment by its two logs (ICommunityPayments.sol, `idOf`). */
function idOf(bid: Hex, held: Hex, chainId: number, contract: Hex): Hex {
  const word = (data: Hex, i: number): string => data.slice(2 + 64 * i, 66 + 64 * i)
  const payment = [word(held, 0), word(held, 1), ...[0, 4, 2, 3, 5, 6, 7].map((i) => word(bid, i))]
  const place = [chainId.toString(16).padStart(64, '0'), contract.slice(2).padStart(64, '0')]
  return `0x${keccak256(Buffer.from([...payment, ...place].join(''), 'hex')).toString('hex')}`
}

/**
 * Reads a chain's record from its contracts as of a block.
 * @param blockHash by which another fork can't answer (EIP-1898)
 * @returns null where a contract keeps none, or the node has no state of the block
 * @throws RpcError
 */
export async function readRecord(
  call: Call,
  contracts: RecordedContracts,
  blockHash: Buffer,
): Promise<ChainRecord | null> {
  const ask = ({ address: to }: Keeper): Promise<Hex | null> =>
    orIf(
      call<Hex>('eth_call', [{ to, data: RECORD_HASH }, { blockHash: toHex(blockHash) }]),
      isNone,
      null,
    )
  const words = await Promise.all(keepersOf(contracts).map(ask))
  if (words.includes(null) || words.length === 0) return null
  // an account without code, before it was deployed, has logged nothing
  const hashes = words.map((word) => (word === '0x' ? Buffer.alloc(WORD) : fromHex(word!)))
  if (hashes.some(({ length }) => length !== WORD))
    throw transient('eth_call: recordHash() answers in another form')
  return hashes
}

/** A node that answers with an error keeps no such state, or the contract no record. */
const isNone = (error: unknown): boolean =>
  error instanceof RpcError && error.fault !== 'rate_limited' && error.cause instanceof NodeError
