import type { BlockhashWithExpiryBlockHeight, PublicKey, SignatureStatus } from '@solana/web3.js'
import { MissingDataError, NodeError, RpcError, transientError } from '../rpc/errors.js'
import type { RpcCall } from '../rpc/nodes.js'
import type { Commitment } from '../rpc/solana.js'
import { type DecodedTransaction, decodeTransaction, type RawTransaction } from './events.js'
import type { RegistrarClient, RegistrarState } from './registrar.js'

/** Signature and slot of a transaction. */
export interface ListedTransaction {
  signature: string
  slot: number
}

export type ListedDecodedTransaction = ListedTransaction & DecodedTransaction

export const getSlot = (call: RpcCall, commitment: Commitment): Promise<number> =>
  call<number>('getSlot', [{ commitment }])

/**
 * Reads the program's state account, with the slot at which the node read it. Null before initialization.
 * @throws RpcError transient for malformed data
 */
export async function readRegistrarState(
  call: RpcCall,
  registrar: RegistrarClient,
  commitment: Commitment,
): Promise<{ slot: number; state: RegistrarState | null }> {
  const { context, value } = await readAccount(call, registrar.state, { commitment })
  const data = registrarAccountData(registrar, value)
  try {
    return { slot: context.slot, state: data && registrar.decodeState(data) }
  } catch (error) {
    throw transientError(`getAccountInfo: ${(error as Error).message}`)
  }
}

/**
 * Longest time for which the program holds a payment, ms: 1 to 30 days, fixed when the program was initialized.
 * @throws MissingDataError before the initialization; RpcError
 */
export async function readMaxPaymentHoldingMs(
  call: RpcCall,
  registrar: RegistrarClient,
  commitment: Commitment,
): Promise<number> {
  const { state } = await readRegistrarState(call, registrar, commitment)
  const days = Number(state?.reclaimSeconds ?? 0) / 86_400
  if (!(days >= 1 && days <= 30))
    throw new MissingDataError('getAccountInfo: the program is not initialized')
  return days * 86_400_000
}

export interface UndecodedAccount {
  data: [string, 'base64']
  owner: string
}

interface AccountDataOptions {
  commitment: Commitment
  dataSlice?: { offset: number; length: number }
}

/** A node's answer, with the slot as of which it is true. */
interface AnswerAtSlot<T> {
  context: { slot: number }
  value: T
}

/** Reads an account. `value` is null where no account has the address. */
export const readAccount = (
  call: RpcCall,
  address: PublicKey,
  options: AccountDataOptions,
): Promise<AnswerAtSlot<UndecodedAccount | null>> =>
  call('getAccountInfo', [address.toBase58(), { encoding: 'base64', ...options }])

const registrarAccountData = (
  { id }: RegistrarClient,
  account: UndecodedAccount | null | undefined,
): Buffer | null => (account?.owner === id ? Buffer.from(account.data[0], 'base64') : null)

export interface AccountReadOptions {
  commitment: Commitment
  /** Oldest slot at which the node may answer. Absent: any slot. */
  minSlot?: number
}

/**
 * Reads accounts that the program owns. Null for an account that does not exist or has another owner.
 * @throws RpcError transient for a node that has not reached `minSlot`
 */
export async function readRegistrarAccounts(
  call: RpcCall,
  registrar: RegistrarClient,
  addresses: readonly PublicKey[],
  { commitment, minSlot }: AccountReadOptions,
): Promise<(Buffer | null)[]> {
  const options = { commitment, encoding: 'base64', minContextSlot: minSlot }
  return readInPages(addresses, async (page) => {
    const pageAddresses = page.map((address) => address.toBase58())
    const { context, value } = await call<AnswerAtSlot<(UndecodedAccount | null)[]>>(
      'getMultipleAccounts',
      [pageAddresses, options],
    )
    if (minSlot !== undefined && context.slot < minSlot)
      throw transientError(
        `getMultipleAccounts: the node is at slot ${context.slot}, before ${minSlot}`,
      )
    return pageAddresses.map((_, i) => registrarAccountData(registrar, value[i]))
  })
}

/**
 * Maximum number of items in one getMultipleAccounts or getSignatureStatuses call: the nodes' limits are 100 and 256.
 */
const MAX_ITEMS_PER_CALL = 100

async function readInPages<T, R>(
  items: readonly T[],
  read: (page: readonly T[]) => Promise<R[]>,
): Promise<R[]> {
  const pages: Promise<R[]>[] = []
  for (let i = 0; i < items.length; i += MAX_ITEMS_PER_CALL)
    pages.push(read(items.slice(i, i + MAX_ITEMS_PER_CALL)))
  return (await Promise.all(pages)).flat()
}

/** Reads the statuses of signatures (base58), in order; null for unknown ones. */
export const readSignatureStatuses = (
  call: RpcCall,
  signatures: readonly string[],
): Promise<(SignatureStatus | null)[]> =>
  readInPages(signatures, async (page) => {
    const params = [page, { searchTransactionHistory: true }]
    const { value } = await call<{ value: (SignatureStatus | null)[] }>(
      'getSignatureStatuses',
      params,
    )
    return page.map((_, i) => value[i] ?? null)
  })

/** True if a transaction's block has reached a commitment level. */
export const hasReachedCommitment = (
  { confirmationStatus }: SignatureStatus,
  commitment: Commitment,
): boolean => confirmationStatus === 'finalized' || confirmationStatus === commitment

/** Newest blockhash, and the last block height at which a transaction with it is valid. */
export async function readLatestBlockhash(
  call: RpcCall,
  commitment: Commitment,
): Promise<BlockhashWithExpiryBlockHeight> {
  const { value } = await call<{ value: BlockhashWithExpiryBlockHeight }>('getLatestBlockhash', [
    { commitment },
  ])
  return value
}

/** A node does not support a transaction's version. Another node may, or the same node after an update. */
export class UnsupportedVersionError extends MissingDataError {}
/** UNSUPPORTED_TRANSACTION_VERSION of Agave's nodes. */
const UNSUPPORTED_VERSION = -32_015
const isUnsupportedVersion = (error: unknown): error is RpcError =>
  error instanceof RpcError &&
  error.cause instanceof NodeError &&
  error.cause.code === UNSUPPORTED_VERSION
/** Highest transaction version to accept: any version, since only keys and inner instructions are read. */
const ANY_VERSION = 255

/**
 * Reads a transaction. Null where the node does not have it.
 * @throws UnsupportedVersionError; RpcError, transient where the node returns another transaction
 */
export async function readTransaction(
  call: RpcCall,
  registrar: RegistrarClient,
  signature: string,
  commitment: Commitment,
): Promise<ListedDecodedTransaction | null> {
  const options = { commitment, encoding: 'json', maxSupportedTransactionVersion: ANY_VERSION }
  const tx = await call<RawTransaction | null>('getTransaction', [signature, options]).catch(
    (error: unknown) => {
      throw isUnsupportedVersion(error) ? new UnsupportedVersionError(error.message) : error
    },
  )
  if (!tx?.meta) return null
  // a broken proxy may return the answer of another request
  if (tx.transaction.signatures[0] !== signature)
    throw transientError(
      `getTransaction: asked for ${signature}, got ${tx.transaction.signatures[0]}`,
    )
  return { signature, slot: tx.slot, ...decodeTransaction(registrar, tx) }
}
