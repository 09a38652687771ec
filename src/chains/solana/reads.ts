import type {
  BlockhashWithExpiryBlockHeight,
  ConfirmedSignatureInfo,
  PublicKey,
  SignatureStatus,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { fallbackOnExpectedError } from '../../ops/log/errors.js'
import { decodeBase58 } from '../../registry/primitives/base58.js'
import {
  isErrorAnswer,
  MissingDataError,
  NodeError,
  RpcError,
  transientError,
} from '../rpc/errors.js'
import type { RpcCall } from '../rpc/nodes.js'
import type { Commitment } from '../rpc/solana.js'
import { type DecodedTransaction, decodeTransaction, type RawTransaction } from './events.js'
import type { RegistrarClient } from './registrar.js'

/** A successful transaction that mentions the registrar program. */
export interface ListedTransaction {
  signature: string
  slot: number
}

export type ListedDecodedTransaction = ListedTransaction & DecodedTransaction

export const getSlot = (call: RpcCall, commitment: Commitment): Promise<number> =>
  call<number>('getSlot', [{ commitment }])

/** Age of a node's newest block, ms, from which the node counts as stopped. */
const STOPPED_MS = 60_000

/**
 * Checks that the node still has a slot.
 * @throws MissingDataError where the node has pruned the slot, or stopped before it
 */
export async function assertNodeHasSlot(
  call: RpcCall,
  slot: number,
  commitment: Commitment,
): Promise<void> {
  const [oldest, newest] = await Promise.all([
    call<number>('getFirstAvailableBlock', []),
    getSlot(call, commitment),
  ])
  if (slot < oldest)
    throw new MissingDataError(`the node has pruned slot ${slot}: its first block is ${oldest}`)
  if (slot <= newest) return
  const timeS = await call<number | null>('getBlockTime', [newest]).catch(() => null)
  if (timeS !== null && Date.now() - timeS * 1_000 > STOPPED_MS)
    throw new MissingDataError(`the node stands still at slot ${newest}, before slot ${slot}`)
}

/** How many payments a program has taken: for names on the hub, and for community names. */
export interface PaymentCounts {
  names: number
  communityNames: number
}

/** Reads the program's state account. Null before initialization. @throws RpcError transient for malformed data */
export const readRegistrarState = async (
  call: RpcCall,
  registrar: RegistrarClient,
  commitment: Commitment,
) => (await readStateAt(call, registrar, commitment)).state

/** The program's state, with the slot at which the node read it. */
async function readStateAt(call: RpcCall, registrar: RegistrarClient, commitment: Commitment) {
  const { context, value } = await readAccountAt(call, registrar.state, { commitment })
  const data = ownData(registrar, value)
  try {
    return { slot: context.slot, state: data && registrar.decodeState(data) }
  } catch (error) {
    throw transientError(`getAccountInfo: ${(error as Error).message}`)
  }
}

/** How many payments a program had taken as of a slot. */
export interface PaymentCountsAtSlot extends PaymentCounts {
  slot: number
}

/** Reads how many payments the program has taken: 0 before the program is initialized. */
export async function readPaymentCounts(
  call: RpcCall,
  registrar: RegistrarClient,
  commitment: Commitment,
): Promise<PaymentCountsAtSlot> {
  const { slot, state } = await readStateAt(call, registrar, commitment)
  const { sequence = 0n, communitySequence = 0n } = state ?? {}
  return { slot, names: Number(sequence), communityNames: Number(communitySequence) }
}

/**
 * Longest time for which the program holds a payment, ms: 1 to 30 days, fixed when the program was initialized.
 * @throws MissingDataError before the initialization
 */
export async function readMaxPaymentHoldingMs(
  call: RpcCall,
  registrar: RegistrarClient,
  commitment: Commitment,
): Promise<number> {
  const days =
    Number((await readRegistrarState(call, registrar, commitment))?.reclaimSeconds ?? 0) / 86_400
  if (!(days >= 1 && days <= 30))
    throw new MissingDataError('getAccountInfo: the program is not initialized')
  return days * 86_400_000
}

export interface UndecodedAccount {
  data: [string, 'base64']
  owner: string
}

interface AccountOptions {
  commitment: Commitment
  dataSlice?: { offset: number; length: number }
}

/** A node's answer, with the slot as of which it is true. */
interface AtSlot<T> {
  context: { slot: number }
  value: T
}

const readAccountAt = (call: RpcCall, address: PublicKey, options: AccountOptions) =>
  call<AtSlot<UndecodedAccount | null>>('getAccountInfo', [
    address.toBase58(),
    { encoding: 'base64', ...options },
  ])

export const readAccount = async (
  call: RpcCall,
  address: PublicKey,
  options: AccountOptions,
): Promise<UndecodedAccount | null> => (await readAccountAt(call, address, options)).value

const ownData = (
  { id }: RegistrarClient,
  account: UndecodedAccount | null | undefined,
): Buffer | null => (account?.owner === id ? Buffer.from(account.data[0], 'base64') : null)

export interface AccountReadOptions {
  commitment: Commitment
  /** Oldest slot at which the node may answer. Absent: any slot. */
  minSlot?: number
}

/**
 * Reads accounts that the program owns. Null for missing accounts.
 * @throws RpcError transient for a node that has not reached `minSlot`
 */
export async function readRegistrarAccounts(
  call: RpcCall,
  registrar: RegistrarClient,
  addresses: readonly PublicKey[],
  { commitment, minSlot = 0 }: AccountReadOptions,
): Promise<(Buffer | null)[]> {
  const options = {
    commitment,
    encoding: 'base64',
    ...(minSlot > 0 ? { minContextSlot: minSlot } : {}),
  }
  return inPages(addresses, async (page) => {
    const asked = page.map((address) => address.toBase58())
    const { context, value } = await call<AtSlot<(UndecodedAccount | null)[]>>(
      'getMultipleAccounts',
      [asked, options],
    )
    if (context.slot < minSlot)
      throw transientError(
        `getMultipleAccounts: the node is at slot ${context.slot}, before ${minSlot}`,
      )
    return asked.map((_, i) => ownData(registrar, value[i]))
  })
}

/**
 * Maximum number of items in one getMultipleAccounts or getSignatureStatuses call: the nodes' limits are 100 and 256.
 */
const ACCOUNTS_AT_ONCE = 100

async function inPages<T, R>(
  items: readonly T[],
  read: (page: readonly T[]) => Promise<R[]>,
): Promise<R[]> {
  const pages: Promise<R[]>[] = []
  for (let i = 0; i < items.length; i += ACCOUNTS_AT_ONCE)
    pages.push(read(items.slice(i, i + ACCOUNTS_AT_ONCE)))
  return (await Promise.all(pages)).flat()
}

/** Reads the statuses of signatures (base58), in order; null for unknown ones. */
export const readSignatureStatuses = (
  call: RpcCall,
  signatures: readonly string[],
): Promise<(SignatureStatus | null)[]> =>
  inPages(signatures, async (page) => {
    const asked = [page, { searchTransactionHistory: true }]
    const { value } = await call<{ value: (SignatureStatus | null)[] }>(
      'getSignatureStatuses',
      asked,
    )
    return page.map((_, i) => value[i] ?? null)
  })

/** Newest blockhash, and the last block height at which a transaction with it is valid. */
export async function readLatestBlockhash(
  call: RpcCall,
  commitment: Commitment,
): Promise<BlockhashWithExpiryBlockHeight> {
  const { value } = await call<{ value: BlockhashWithExpiryBlockHeight }>('getLatestBlockhash', [
    { commitment },
  ])
  if (!decodeBase58(value.blockhash, 32))
    throw transientError(`getLatestBlockhash: "${value.blockhash.slice(0, 50)}" is not a blockhash`)
  return value
}

/** Maximum number of signatures in one answer of getSignaturesForAddress: the nodes' limit. */
const PAGE = 1_000
/**
 * Maximum number of transactions in a list. Where there are more, the list has only older ones, and a later list has
 * the rest.
 */
const MOST_LISTED = 1_000_000
/**
 * Time limit of listing, ms, since a hostile node may never end its list. Shorter than the time limit of a worker's
 * step, to leave time for another node.
 */
const LIST_MS = 180_000

export interface ListTransactionsOptions {
  commitment: Commitment
  /**
   * Newest known signature. It only shortens the list: if a node does not know it, or refuses it, the list continues
   * down to `downToSlot`.
   */
  until: string | null
  /** Oldest slot to list. */
  downToSlot: number
  signal?: AbortSignal
  limitMs?: number
}

/**
 * Lists the successful transactions that mention the program, newest first, page by page down to the known
 * transactions. Only an empty page ends the list: some providers return shorter pages than requested.
 * @returns `listed`, and `newest`: the signature for the next list's `until`. It is the newest signature seen, which may
 * be of a failed transaction. Null where newer transactions are left out, or where the node refuses `until` and lists
 * nothing.
 * @throws RpcError transient where the list does not end in time
 */
export async function listTransactions(
  call: RpcCall,
  { id: address }: RegistrarClient,
  { commitment, until: known, downToSlot, signal, limitMs = LIST_MS }: ListTransactionsOptions,
): Promise<{ listed: ListedTransaction[]; newest: string | null }> {
  const listed: ListedTransaction[] = []
  const endMs = performance.now() + limitMs
  let newest: string | null = null
  let before: string | undefined
  let until = known
  let isWhole = true
  for (;;) {
    signal?.throwIfAborted()
    const options = { commitment, limit: PAGE, until: until ?? undefined, before }
    const asked = call<ConfirmedSignatureInfo[]>('getSignaturesForAddress', [address, options])
    const page = await (until ? fallbackOnExpectedError(asked, isErrorAnswer, null) : asked)
    if (!page) {
      // Agave 4 refuses a signature that its ledger does not have (-32020): the page is requested again without it
      until = null
      continue
    }
    if (page.length > PAGE || performance.now() > endMs)
      throw transientError('getSignaturesForAddress: no end of a list')
    newest ??= page[0]?.signature ?? until
    for (const { signature, slot, err } of page)
      if (err === null && slot >= downToSlot) listed.push({ signature, slot })
    if (listed.length > MOST_LISTED) {
      listed.splice(0, listed.length - MOST_LISTED / 2)
      isWhole = false
    }
    const last = page.at(-1)
    if (!last || last.slot < downToSlot || last.signature === before)
      return { listed, newest: isWhole ? newest : null }
    before = last.signature
  }
}

/** A node does not support a transaction's version. Another node may, or the same node after an update. */
export class UnsupportedVersionError extends MissingDataError {}
/** UNSUPPORTED_TRANSACTION_VERSION of Agave's nodes. */
const UNSUPPORTED_VERSION = -32_015

/**
 * Reads a listed transaction. Null where the node does not have it.
 * @throws UnsupportedVersionError; RpcError transient where the node refuses for another reason
 */
export async function readListedTransaction(
  call: RpcCall,
  registrar: RegistrarClient,
  { signature }: ListedTransaction,
  commitment: Commitment,
): Promise<ListedDecodedTransaction | null> {
  try {
    return await readTransaction(call, registrar, signature, commitment)
  } catch (error) {
    if (!(error instanceof RpcError) || error.fault !== 'refused') throw error
    const isVersion = error.cause instanceof NodeError && error.cause.code === UNSUPPORTED_VERSION
    throw isVersion ? new UnsupportedVersionError(error.message) : transientError(error.message)
  }
}

/** Highest transaction version to accept: any version, since only keys and inner instructions are read. */
const ANY_VERSION = 255

/**
 * Reads a transaction. Null where the node does not have it.
 * @throws RpcError transient for an answer with another transaction
 */
export async function readTransaction(
  call: RpcCall,
  registrar: RegistrarClient,
  signature: string,
  commitment: Commitment,
): Promise<ListedDecodedTransaction | null> {
  const options = { commitment, encoding: 'json', maxSupportedTransactionVersion: ANY_VERSION }
  const tx = await call<RawTransaction | null>('getTransaction', [signature, options])
  if (!tx?.meta) return null
  // a broken proxy may return the answer of another request
  if (tx.transaction.signatures[0] !== signature)
    throw transientError(
      `getTransaction: asked for ${signature}, got ${tx.transaction.signatures[0]}`,
    )
  return { signature, slot: tx.slot, ...decodeTransaction(registrar, tx) }
}

/** Decodes a signature of 64 bytes. @throws RpcError transient for anything else */
export function signatureFromBase58(signature: string): Buffer {
  const bytes = decodeBase58(signature, SIGNATURE_BYTES)
  if (!bytes)
    throw transientError(`getSignaturesForAddress: "${signature.slice(0, 20)}…" is no signature`)
  return bytes
}

export const signatureToBase58 = (bytes: Uint8Array): string => bs58.encode(bytes)

const SIGNATURE_BYTES = 64
