import type { PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import { decodeBase58 } from '../../registry/primitives/base58.js'
import { RpcError } from '../rpc/errors.js'
import type { Call } from '../rpc/nodes.js'
import type { Commitment } from '../rpc/solana.js'
import {
  type CommunityPaymentAccount,
  type CommunityPaymentKey,
  createCommunityProgram,
  type PaidName,
} from './community/program.js'
import { type DecodedTransaction, decodeTransaction, type RawTransaction } from './decodeTransaction.js'
import type { PaymentAccount, Registrar } from './registrar.js'

/** A successful transaction that mentions the program. */
export interface ListedTransaction {
  signature: string
  slot: number
}

/** What a transaction did at the registrar, and when. */
export interface ReadTransaction extends ListedTransaction, DecodedTransaction {
  /** Seconds since the epoch, null where the node doesn't know. */
  blockTime: number | null
}

/** The newest slot of a commitment. */
export const getSlot = (call: Call, commitment: Commitment): Promise<number> =>
  call<number>('getSlot', [{ commitment }])

/** How many payments a program has counted. */
export interface Sequences {
  payments: number
  /** For names of communities, which it counts apart. */
  communityPayments: number
}

/** How many payments the program has counted. 0 before it is initialized. */
export async function readSequences(call: Call, registrar: Registrar, commitment: Commitment): Promise<Sequences> {
  const address = registrar.state.toBase58()
  const { value } = await call<{ value: RawAccount | null }>('getAccountInfo', [
    address,
    { commitment, encoding: 'base64' },
  ])
  const data = ownData(registrar, value)
  if (!data) return { payments: 0, communityPayments: 0 }
  const { sequence, communitySequence } = registrar.decodeState(data)
  return { payments: Number(sequence), communityPayments: Number(communitySequence) }
}

interface RawAccount {
  data: [string, 'base64']
  owner: string
}

interface RawAccounts {
  context: { slot: number }
  value: (RawAccount | null)[]
}

const ownData = ({ id }: Registrar, account: RawAccount | null | undefined): Buffer | null =>
  account?.owner === id ? Buffer.from(account.data[0], 'base64') : null

/** The open payments of some quotes, by their accounts; null for those that are closed or never were. */
export async function readPaymentAccounts(
  call: Call,
  registrar: Registrar,
  quoteIds: readonly Uint8Array[],
  commitment: Commitment,
): Promise<(PaymentAccount | null)[]> {
  const found = await readOwnAccounts(call, registrar, quoteIds.map(registrar.payment), { commitment })
  return found.map((data) => data && registrar.decodePayment(data))
}

export interface ReadAt {
  commitment: Commitment
  /** Oldest slot that the answer may be of; any slot when absent. */
  minSlot?: number
}

/**
 * The payments for names of communities that are not paid out yet; null for others.
 * @throws RpcError (transient) for a node that is before that slot
 */
export async function readCommunityPayments(
  call: Call,
  registrar: Registrar,
  keys: readonly CommunityPaymentKey[],
  at: ReadAt,
): Promise<(CommunityPaymentAccount | null)[]> {
  const { paymentAccount, decodePayment } = createCommunityProgram(registrar)
  const found = await readOwnAccounts(call, registrar, keys.map(paymentAccount), at)
  return found.map((data) => data && decodePayment(data))
}

/** The payment that keeps others off a name of a community; null where there is none. Its money may be paid out. */
export async function readPaidName(
  call: Call,
  registrar: Registrar,
  { community, name }: Pick<CommunityPaymentKey, 'community' | 'name'>,
  commitment: Commitment,
): Promise<PaidName | null> {
  const { nameAccount, decodeName } = createCommunityProgram(registrar)
  const [data] = await readOwnAccounts(call, registrar, [nameAccount(community, name)], { commitment })
  return data ? decodeName(data) : null
}

/** The data of accounts of the program's own; null for those that there are not. */
async function readOwnAccounts(
  call: Call,
  registrar: Registrar,
  addresses: readonly PublicKey[],
  { commitment, minSlot = 0 }: ReadAt,
): Promise<(Buffer | null)[]> {
  const found: (Buffer | null)[] = []
  for (let i = 0; i < addresses.length; i += ACCOUNTS_AT_ONCE) {
    const asked = addresses.slice(i, i + ACCOUNTS_AT_ONCE).map((address) => address.toBase58())
    const options = { commitment, encoding: 'base64', ...(minSlot > 0 ? { minContextSlot: minSlot } : {}) }
    const { context, value } = await call<RawAccounts>('getMultipleAccounts', [asked, options])
    if (context.slot < minSlot)
      throw new RpcError('transient', `getMultipleAccounts: the node is at slot ${context.slot}, before ${minSlot}`)
    for (const j of asked.keys()) found.push(ownData(registrar, value[j]))
  }
  return found
}

/** The most that getMultipleAccounts takes. */
const ACCOUNTS_AT_ONCE = 100
/** The most that getSignaturesForAddress gives. */
const PAGE = 1_000

export interface ListOptions {
  commitment: Commitment
  /** Newer ones than this signature. A node that doesn't know it goes on to `downToSlot`. */
  until: string | null
  /** Nothing older than this slot. */
  downToSlot: number
  signal?: AbortSignal
}

interface RawSignature {
  signature: string
  slot: number
  err: unknown
}

/**
 * The successful transactions that mention the program, newest first, page by page back to where they are known.
 * @returns them, and the newest signature listed, also of one that failed
 */
export async function listTransactions(
  call: Call,
  { id: address }: Registrar,
  { commitment, until, downToSlot, signal }: ListOptions,
): Promise<{ listed: ListedTransaction[]; newest: string | null }> {
  const listed: ListedTransaction[] = []
  let newest: string | null = null
  let before: string | null = null
  for (;;) {
    signal?.throwIfAborted()
    const options = { commitment, limit: PAGE, ...(until ? { until } : {}), ...(before ? { before } : {}) }
    const page: RawSignature[] = await call('getSignaturesForAddress', [address, options])
    newest ??= page[0]?.signature ?? null
    for (const { signature, slot, err } of page)
      if (err === null && slot >= downToSlot) listed.push({ signature, slot })
    const last = page.at(-1)
    if (!last || page.length < PAGE || last.slot < downToSlot || last.signature === before) return { listed, newest }
    before = last.signature
  }
}

/**
 * Reads transactions that were listed, in their order.
 * @throws RpcError (transient) when the node has listed one but can't show it yet
 */
export const readTransactions = (
  call: Call,
  registrar: Registrar,
  listed: readonly ListedTransaction[],
  commitment: Commitment,
): Promise<ReadTransaction[]> =>
  Promise.all(
    listed.map(async ({ signature, slot }) => {
      const tx = await readTransaction(call, registrar, signature, commitment)
      if (!tx)
        throw new RpcError('transient', `getTransaction: ${signature} is listed in slot ${slot} but not there yet`)
      return tx
    }),
  )

/**
 * Reads a transaction by its signature; null where the node doesn't have it, or has no logs of it yet.
 * @throws RpcError (transient) for another transaction
 */
export async function readTransaction(
  call: Call,
  registrar: Registrar,
  signature: string,
  commitment: Commitment,
): Promise<ReadTransaction | null> {
  const options = { commitment, encoding: 'json', maxSupportedTransactionVersion: 0 }
  const tx = await call<RawTransaction | null>('getTransaction', [signature, options])
  if (!tx?.meta) return null
  // in a batch, a broken proxy may hand out the answers to others' questions under the right ids
  if (tx.transaction.signatures[0] !== signature)
    throw new RpcError('transient', `getTransaction: asked for ${signature}, got ${tx.transaction.signatures[0]}`)
  return { signature, slot: tx.slot, blockTime: tx.blockTime, ...decodeTransaction(registrar, tx) }
}

/** The 64 bytes of a signature that a node has listed. @throws RpcError (transient) for anything else */
export function signatureBytes(signature: string): Buffer {
  const bytes = decodeBase58(signature, SIGNATURE_BYTES)
  if (!bytes) throw new RpcError('transient', `getSignaturesForAddress: "${signature.slice(0, 20)}…" is no signature`)
  return bytes
}

/** A signature as nodes and wallets write it. */
export const signatureText = (bytes: Uint8Array): string => bs58.encode(bytes)

const SIGNATURE_BYTES = 64
