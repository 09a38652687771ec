import { toFunctionSelector } from 'viem'
import type { ChainConfig } from '../../../config/index.js'
import { fromHex } from '../../../registry/primitives/bytes.js'
import { keccak256 } from '../../../registry/primitives/keccak.js'
import { parseStoredRunningHashes } from '../../../registry/runningHash.js'
import type { Hex } from '../../chain.js'
import {
  ContradictingNodeError,
  isErrorAnswer,
  RefutedAnswerError,
  transientError,
} from '../../rpc/errors.js'
import { type RpcCall, toRpcQuantity } from '../../rpc/evm.js'
import { HELD_EVENT_TOPIC, PAYMENT_EVENT_TOPIC } from '../community/logs.js'
import { type BlockHeader, type RawLog, requireBlockHeader } from '../logs.js'

/** Contract that keeps a running hash of its own logs (contracts/evm/src/interfaces/IRecord.sol). */
interface RecordingContract {
  kind: 'hub' | 'payments'
  /** Address in lower case. */
  address: Hex
}

/** The contracts of a chain, with the settings that decide which of them keep a running hash of their logs. */
export type ChainContractSettings = Pick<ChainConfig, 'role'> &
  Partial<Pick<ChainConfig, 'contract' | 'communityPayments' | 'watchOnly' | 'trust'>>

/** Running hashes of a chain's contracts, 32 bytes each, in the order of `contractsWithRunningHash`. */
export type RunningHashes = readonly Buffer[]

/** Input by which a log extends its contract's running hash. */
export interface RunningHashInput {
  /** Index of the contract in `contractsWithRunningHash`. */
  contractIndex: number
  /**
   * Block timestamp, topics and data of the event as 32-byte words, in hex without a prefix. For an event of the
   * payments contract: block timestamp, first topic and payment id.
   */
  words: string
}

const RECORD_HASH_SELECTOR = toFunctionSelector('recordHash()')
const WORD_BYTES = 32

/**
 * Contracts of a chain that keep a running hash of their logs: our hub and payments contract, unless the chains file
 * sets `watchOnly` or `trust` for older or third-party contracts.
 */
export function contractsWithRunningHash({
  role,
  contract,
  communityPayments,
  watchOnly,
  trust,
}: ChainContractSettings): RecordingContract[] {
  if (watchOnly || trust) return []
  const hub: RecordingContract[] =
    role === 'hub' && contract ? [{ kind: 'hub', address: contract }] : []
  return communityPayments ? [...hub, { kind: 'payments', address: communityPayments }] : hub
}

/** Running hashes of a chain's contracts before their first log: zeros. */
export const initialRunningHashes = (contracts: ChainContractSettings): RunningHashes =>
  contractsWithRunningHash(contracts).map(() => Buffer.alloc(WORD_BYTES))

/**
 * Encodes running hashes for storage with a cursor. The bytes include `parentHash`, the hash of the last block before
 * the cursor, and the contracts' addresses. So `decodeRunningHashes` ignores running hashes of another block or of other
 * contracts.
 */
export const encodeRunningHashes = (
  contracts: ChainContractSettings,
  parentHash: Buffer,
  hashes: RunningHashes,
): Buffer =>
  Buffer.concat([
    parentHash,
    ...contractsWithRunningHash(contracts).flatMap(({ address }, i) => [
      fromHex(address),
      hashes[i]!,
    ]),
  ])

/**
 * Decodes stored running hashes, in the order of `contractsWithRunningHash`. Null for a contract that was not stored, and
 * for all contracts where the hashes of another block were stored.
 */
export function decodeRunningHashes(
  contracts: ChainContractSettings,
  parentHash: Buffer,
  stored: Buffer | null,
): (Buffer | null)[] {
  const known = parseStoredRunningHashes(parentHash, stored)
  return contractsWithRunningHash(contracts).map(({ address }) => known.get(address) ?? null)
}

/**
 * Inputs by which a chain's logs extend its contracts' running hashes: block timestamp and 32-byte words of each event,
 * in the order in which the contract hashes them.
 * @param logs all logs that `logFilterOfContracts` requests, in order, each with exactly the words of its event
 * (`isWellFormedContractLog`)
 * @param timeOf timestamp of a log's block, ms
 * @throws RefutedAnswerError for a payment whose id is not the hash of its fields
 */
export function runningHashInputs(
  contracts: ChainContractSettings,
  logs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): RunningHashInput[] {
  const recording = contractsWithRunningHash(contracts)
  const inputs: RunningHashInput[] = []
  let bid: RawLog | null = null
  for (const log of recording.length === 0 ? [] : logs) {
    const address = log.address.toLowerCase()
    const contractIndex = recording.findIndex((one) => one.address === address)
    const contract = recording[contractIndex]
    if (!contract) continue
    const [topic, id] = log.topics
    if (topic === PAYMENT_EVENT_TOPIC) {
      bid = log
      continue
    }
    if (topic === HELD_EVENT_TOPIC && paymentIdOfLogs(bid, log, contract.address) !== id)
      throw new RefutedAnswerError(
        'eth_getLogs: a payment has not the id that it makes; is `communityPayments` our contract?',
      )
    let words = (timeOf(log) / 1_000).toString(16).padStart(2 * WORD_BYTES, '0')
    // of a payment's event only topic and id are added, because the id is a hash of all the payment's fields
    const topics = contract.kind === 'hub' ? log.topics : log.topics.slice(0, 2)
    for (const word of topics) words += word.slice(2)
    if (contract.kind === 'hub') words += log.data.slice(2)
    inputs.push({ contractIndex, words })
  }
  return inputs
}

/** Running hashes after logs: for each log, keccak256 of its contract's hash and the log's words. */
export function extendRunningHashes(
  before: RunningHashes,
  logs: readonly RunningHashInput[],
): RunningHashes {
  const after = [...before]
  for (const { contractIndex, words } of logs) {
    const message = Buffer.allocUnsafe(WORD_BYTES + words.length / 2)
    message.set(after[contractIndex]!)
    message.write(words, WORD_BYTES, 'hex')
    after[contractIndex] = keccak256(message)
  }
  return after
}

/** Id of a payment, calculated from the fields in its logs `Bid` and `Held` (ICommunityPayments.sol, `idOf`). */
function paymentIdOfLogs(bid: RawLog | null, held: RawLog, contract: Hex): Hex {
  const word = (log: RawLog | null, i: number) => log?.data.slice(2 + 64 * i, 66 + 64 * i) ?? ''
  const payment = [word(held, 0), word(held, 1), ...[0, 4, 2, 3, 5, 6, 7].map((i) => word(bid, i))]
  const place = [word(bid, 1), contract.slice(2).padStart(64, '0')]
  return `0x${keccak256(Buffer.from([...payment, ...place].join(''), 'hex')).toString('hex')}`
}

/** Number and hash of a block as of which a contract is read. */
export type BlockNumberAndHash = Pick<BlockHeader, 'number' | 'hash'>

/**
 * Reads the running hashes of a chain's contracts as of a block, in parallel.
 * @throws RpcError, also where the node has no state of the block, or a contract keeps no running hash
 */
export async function readRunningHashes(
  call: RpcCall,
  contracts: ChainContractSettings,
  block: BlockNumberAndHash,
): Promise<RunningHashes> {
  const read = async ({ address }: RecordingContract): Promise<Buffer> => {
    const answer = await readAtBlock<Hex>(
      call,
      'eth_call',
      { to: address, data: RECORD_HASH_SELECTOR },
      block,
    )
    // a contract that is not deployed yet has no code and has logged nothing
    const isUndeployed =
      answer === '0x' && (await readAtBlock<Hex>(call, 'eth_getCode', address, block)) === '0x'
    const hash = isUndeployed ? Buffer.alloc(WORD_BYTES) : fromHex(answer)
    if (hash.length !== WORD_BYTES)
      throw transientError(`eth_call: recordHash() of ${address} answers in another form`)
    return hash
  }
  return Promise.all(contractsWithRunningHash(contracts).map(read))
}

/**
 * Calls `eth_call` or `eth_getCode` as of a block of the node's canonical chain, named by its hash (EIP-1898): a node that
 * only knows the block from another fork must not answer. A node that refuses block hashes is asked by number, between
 * two reads of the block's header that must give the hash.
 * @throws ContradictingNodeError where the node has another block with this number; RpcError
 */
export async function readAtBlock<T>(
  call: RpcCall,
  method: 'eth_call' | 'eth_getCode',
  what: unknown,
  { number, hash }: BlockNumberAndHash,
): Promise<T> {
  try {
    return await call<T>(method, [what, { blockHash: hash, requireCanonical: true }])
  } catch (error) {
    if (!isErrorAnswer(error)) throw error
  }
  const assertHeader = async () => {
    const header = await requireBlockHeader(call, number)
    if (header.hash !== hash)
      throw new ContradictingNodeError(
        `${method}: the node has another block ${number} than ${hash}`,
      )
  }
  await assertHeader()
  const answer = await call<T>(method, [what, toRpcQuantity(number)])
  await assertHeader()
  return answer
}

/** True if deployed code has the function `recordHash()`. Older versions of clusterd's contracts do not have it. */
export const hasRecordHashFunction = (code: Hex): boolean =>
  code.includes(`63${RECORD_HASH_SELECTOR.slice(2)}`)
