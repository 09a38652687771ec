import {
  formatTransaction,
  keccak256,
  type RpcTransaction,
  recoverTransactionAddress,
  type Signature,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerialized,
} from 'viem'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import type { ChainTx, Hex } from '../chain.js'
import { nodeMessagesIn, RpcError, transientError } from '../rpc/errors.js'
import { type RpcCall, toRpcQuantity } from '../rpc/evm.js'
import { type ContractAddresses, isRegistrationLog } from './decodeLogs.js'
import { hasTransactionSucceeded, readTransactionReceipt } from './logs.js'

interface RawTransaction {
  hash: Hex
  from: Hex
  nonce: Hex
  blockNumber: Hex | null
  /** Null where the transaction creates a contract. */
  to: Hex | null
  input: Hex
}

export interface TransactionQuery {
  hash: Hex
  /**
   * Number of the newest block that was confirmed before the query. A head that is read later may confirm a block of
   * another fork.
   */
  confirmed: number
  /** Contracts whose logs make the transaction a registration. */
  ours: ContractAddresses
  /** Numbers of the newest and the last confirmed block. @throws ChainUnavailableError */
  head(): Promise<{ latest: number; confirmed: number }>
}

/** Reads a transaction's state from one node. @throws RpcError, also where the node contradicts itself; errors of `head` */
export async function readTransaction(
  call: RpcCall,
  { hash, confirmed, ours, head }: TransactionQuery,
): Promise<ChainTx> {
  const tx = await call<RawTransaction | null>('eth_getTransactionByHash', [hash])
  if (!tx) return { state: 'unknown' }
  assertRequestedTransaction(hash, 'eth_getTransactionByHash', tx.hash)
  const sent = { ...(await signedOrigin(tx)), isOurs: mentionsOurContracts(tx, ours) }
  if (tx.blockNumber === null) return { state: 'mempool', ...sent }
  const [receipt, { latest, confirmed: confirmedNow }] = await Promise.all([
    readTransactionReceipt(call, hash),
    head(),
  ])
  if (!receipt) {
    // the transaction was just mined, and the node has not indexed its receipt yet: reported as pending
    if (Number(tx.blockNumber) > confirmed) return { state: 'mempool', ...sent }
    throw transientError('eth_getTransactionReceipt: none for a transaction of a confirmed block')
  }
  assertRequestedTransaction(hash, 'eth_getTransactionReceipt', receipt.transactionHash)
  const block = Number(receipt.blockNumber)
  const isRegistration = receipt.logs.some((log) => isRegistrationLog(ours, log))
  return {
    ...sent,
    state: 'mined',
    isOurs: sent.isOurs || isRegistration,
    block,
    succeeded: hasTransactionSucceeded(receipt),
    isRegistration,
    confirmations: { have: Math.max(0, latest - block), need: Math.max(0, latest - confirmedNow) },
    isConfirmed: block <= confirmed,
  }
}

/**
 * Sender and nonce of a transaction, verified by its hash and signature. Both are stored permanently, so a node must
 * not be able to invent them.
 * @returns nulls if they can't be verified, as for transaction types that only some chains have
 */
async function signedOrigin(
  tx: RawTransaction,
): Promise<{ sender: Hex | null; nonce: number | null }> {
  try {
    const { r, s, v, yParity, ...fields } = formatTransaction(tx as RpcTransaction)
    const signed = { ...fields, data: fields.input } as TransactionSerializable
    const serializedTransaction = serializeTransaction(signed, { r, s, v, yParity } as Signature)
    if (keccak256(serializedTransaction) === tx.hash) {
      const sender = await recoverTransactionAddress({
        serializedTransaction: serializedTransaction as TransactionSerialized,
      })
      return { sender: sender.toLowerCase() as Hex, nonce: fields.nonce }
    }
  } catch {
    // viem refuses fields and types that it does not know
  }
  return { sender: null, nonce: null }
}

/**
 * Checks that an answer is about the requested transaction. A broken proxy may return the answer of another request,
 * which would decide the transaction's status permanently.
 */
function assertRequestedTransaction(hash: Hex, method: string, got: Hex): void {
  if (got.toLowerCase() !== hash) throw transientError(`${method}: asked for ${hash}, got ${got}`)
}

/**
 * True if the transaction calls one of the configured contracts, or has the address of one in its calldata, as a call
 * through a smart wallet does.
 */
function mentionsOurContracts(
  { to, input }: RawTransaction,
  { contract, communityPayments }: ContractAddresses,
): boolean {
  const data = input.toLowerCase()
  return [contract, communityPayments].some(
    (address) => address && (to?.toLowerCase() === address || data.includes(address.slice(2))),
  )
}

/** Matches the error messages of geth, nethermind, erigon, reth and anvil for a block whose state is pruned. */
const PRUNED_STATE_PATTERN =
  /missing ?trie ?node|historical state|state .{0,80}(unavailable|not available|pruned)|pruning|BlockOutOfRange/i

interface NonceQuestion {
  sender: Hex
  nonce: number
  /** Number of the newest confirmed block. */
  confirmed: number
}

/**
 * Finds the confirmed transaction that used a nonce, by bisecting the sender's transaction count over blocks whose
 * state the node still has.
 * @returns null while the nonce is unused up to `confirmed`, or where the needed state is pruned
 */
export async function findTransactionByNonce(
  call: RpcCall,
  { sender, nonce, confirmed }: NonceQuestion,
): Promise<Hex | null> {
  const isPruned = (error: unknown) =>
    error instanceof RpcError && PRUNED_STATE_PATTERN.test(nodeMessagesIn(error))
  /**
   * True if the nonce was used in a block or before. Returns false where the block's state is pruned. If that is wrong,
   * the search ends at a block that does not contain the transaction, and nothing is found.
   */
  const isUsedAt = async (block: number): Promise<boolean> =>
    Number(
      await fallbackOnExpectedError(
        call<Hex>('eth_getTransactionCount', [sender, toRpcQuantity(block)]),
        isPruned,
        0,
      ),
    ) > nonce
  if (!(await isUsedAt(confirmed))) return null
  const used = await findFirstBlockWhere(confirmed, isUsedAt)
  const params = [toRpcQuantity(used), true]
  const block = await call<{ transactions: RawTransaction[] } | null>(
    'eth_getBlockByNumber',
    params,
  )
  return (
    block?.transactions.find((tx) => tx.from.toLowerCase() === sender && Number(tx.nonce) === nonce)
      ?.hash ?? null
  )
}

/**
 * Finds the number of the first block from which on a condition holds. The condition holds at `last`. Searches backwards
 * from there, because the block is mostly recent, and nodes may have pruned old state.
 */
export async function findFirstBlockWhere(
  last: number,
  holdsAt: (block: number) => Promise<boolean>,
): Promise<number> {
  let holds = last
  let step = 16
  let before = last - step
  while (before > 0 && (await holdsAt(before))) {
    holds = before
    step *= 2
    before = holds - step
  }
  before = Math.max(before, -1)
  while (holds - before > 1) {
    const middle = Math.floor((holds + before) / 2)
    if (await holdsAt(middle)) holds = middle
    else before = middle
  }
  return holds
}

/** True if the node has the transaction in a block up to `confirmed`, sent by `sender` with this nonce. @throws RpcError */
export async function hasTransactionUsedNonce(
  call: RpcCall,
  hash: Hex,
  { sender, nonce, confirmed }: NonceQuestion,
): Promise<boolean> {
  const tx = await call<RawTransaction | null>('eth_getTransactionByHash', [hash])
  const isConfirmed = tx !== null && tx.blockNumber !== null && Number(tx.blockNumber) <= confirmed
  return isConfirmed && tx.from.toLowerCase() === sender && Number(tx.nonce) === nonce
}
