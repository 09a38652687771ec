import { Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js'
import { causesOf, RpcError } from '../rpc/errors.js'
import type { Call } from '../rpc/nodes.js'
import type { Commitment, SolanaRpc } from '../rpc/solana.js'
import {
  type CountedPayment,
  findCommunityOutcome,
  planRefusal,
  type RefusalLook,
  type RefusalStep,
} from './community/refusal.js'
import type { RawTransaction } from './decodeTransaction.js'
import { signatureBytes, signatureText } from './reads.js'
import { type BigNumber, type PaymentAccount, type Registrar, registrarCoder, registrarIdl } from './registrar.js'

/** A payment as its account is found. */
export interface PaymentKey {
  quoteId: Uint8Array
  sequence: bigint
}

/** A transaction in a block; `error` null when it went through. */
export interface TxStatus {
  isBelieved: boolean
  /** snake_case: an error of the program's IDL, or the runtime's own. */
  error: string | null
}

/** A signed transaction. */
export interface SignedPayout {
  signature: Buffer
  raw: Buffer
  /** It can land in blocks up to this height. */
  lastValidHeight: number
}

/** The relay authority's hand on a cluster: what is believed there of payments, and transactions that close them. */
export interface PayoutCluster {
  readonly authority: PublicKey
  /** Lamports for fees. */
  balance(): Promise<bigint>
  /**
   * Whether blocks hold transactions. Height and slot of the newest believed block are read before, from the same node.
   * @throws ChainUnavailableError, as all that asks
   */
  statuses(signatures: readonly Buffer[]): Promise<{ height: number; slot: number; statuses: (TxStatus | null)[] }>
  /** Whether payments are still held, as believed in a slot not before `minSlot`. */
  areHeld(payments: readonly PaymentKey[], minSlot: number): Promise<boolean[]>
  /** What closed a payment, null where the node doesn't know. */
  closing(payment: PaymentKey): Promise<{ kind: 'settle' | 'refund'; signature: Buffer } | null>
  /** Signs; nothing is sent. Several payments settle in one transaction, each refund is one. */
  sign(kind: 'settle' | 'refund', payments: readonly (PaymentKey & { payer: Uint8Array })[]): Promise<SignedPayout>
  /** What there is to do so that a payment for a name of a community is given back. */
  planRefusal(payment: CountedPayment, look: Omit<RefusalLook, 'commitment'>): Promise<RefusalStep>
  /** Signs what a plan asks for; nothing is sent. */
  signRefusal(step: Pick<Extract<RefusalStep, { kind: 'refuse' }>, 'instructions'>): Promise<SignedPayout>
  /** What became of such a payment, null where the node doesn't know. */
  communityOutcome(payment: CountedPayment): Promise<RefusalEnd | null>
  /** Sends signed bytes; the same ones may be sent again. @returns why the node would not take it, null when it did */
  send(raw: Buffer): Promise<string | null>
}

/** Its transaction; `released`: its recipient has the money. */
export interface RefusalEnd {
  kind: 'refused' | 'returned' | 'released'
  signature: Buffer
}

/** The most that getMultipleAccounts and getSignatureStatuses take. */
const ACCOUNTS_AT_ONCE = 100
/** Transactions of a payment's account to look through: few ever mention it. */
const CLOSING_PAGE = 50

export interface PayoutClusterOptions {
  rpc: SolanaRpc
  registrar: Registrar
  commitment: Commitment
  /** The relay authority's key, 64 bytes. */
  secretKey: Uint8Array
}

export function createPayoutCluster({ rpc, registrar, commitment, secretKey }: PayoutClusterOptions): PayoutCluster {
  const key = Keypair.fromSecretKey(secretKey)
  const authority = key.publicKey

  const instructions = (kind: 'settle' | 'refund', payments: readonly (PaymentKey & { payer: Uint8Array })[]) => {
    const closed = payments.map(({ quoteId, payer }) => ({ quoteId, payer: new PublicKey(payer) }))
    return kind === 'settle'
      ? [registrar.settle(authority, closed)]
      : closed.map((payment) => registrar.refund(authority, payment))
  }

  const sign = async (signed: readonly TransactionInstruction[]) => {
    const { value } = await rpc.call<{ value: { blockhash: string; lastValidBlockHeight: number } }>(
      'getLatestBlockhash',
      [{ commitment }],
    )
    return signTransaction(key, value, signed)
  }

  return {
    authority,
    async balance() {
      const { value } = await rpc.call<{ value: number }>('getBalance', [authority.toBase58(), { commitment }])
      return BigInt(value)
    },
    statuses: (signatures) =>
      rpc.onOneNode(async (call) => {
        const { blockHeight, absoluteSlot } = await call<EpochInfo>('getEpochInfo', [{ commitment }])
        const statuses = await inPages(signatures, (page) => readStatuses(call, page, commitment))
        return { height: blockHeight, slot: absoluteSlot, statuses }
      }),
    areHeld: (payments, minSlot) =>
      rpc.onOneNode((call) => inPages(payments, (page) => readHeld(call, registrar, page, commitment, minSlot))),
    closing: (payment) => rpc.onOneNode((call) => findClosing(call, registrar, payment, commitment)),
    sign: (kind, payments) => sign(instructions(kind, payments)),
    planRefusal: (payment, look) =>
      rpc.onOneNode((call) => planRefusal(call, registrar, authority, payment, { ...look, commitment })),
    signRefusal: (step) => sign(step.instructions),
    async communityOutcome(payment) {
      const found = await rpc.onOneNode((call) => findCommunityOutcome(call, registrar, payment, commitment))
      return found && { kind: found.kind, signature: signatureBytes(found.signature) }
    },
    send: (raw) => rpc.onOneNode((call) => send(call, raw, commitment)),
  }
}

interface EpochInfo {
  absoluteSlot: number
  blockHeight: number
}

async function inPages<T, R>(items: readonly T[], read: (page: readonly T[]) => Promise<R[]>): Promise<R[]> {
  const pages: Promise<R[]>[] = []
  for (let i = 0; i < items.length; i += ACCOUNTS_AT_ONCE) pages.push(read(items.slice(i, i + ACCOUNTS_AT_ONCE)))
  return (await Promise.all(pages)).flat()
}

function signTransaction(
  key: Keypair,
  { blockhash, lastValidBlockHeight }: { blockhash: string; lastValidBlockHeight: number },
  instructions: readonly TransactionInstruction[],
): SignedPayout {
  const tx = new Transaction({ feePayer: key.publicKey, blockhash, lastValidBlockHeight }).add(...instructions)
  tx.sign(key)
  return { signature: tx.signature!, raw: tx.serialize(), lastValidHeight: lastValidBlockHeight }
}

interface RawStatus {
  confirmationStatus: 'processed' | Commitment | null
  err: unknown
}

async function readStatuses(
  call: Call,
  signatures: readonly Buffer[],
  commitment: Commitment,
): Promise<(TxStatus | null)[]> {
  const { value } = await call<{ value: (RawStatus | null)[] }>('getSignatureStatuses', [
    signatures.map(signatureText),
    { searchTransactionHistory: true },
  ])
  return signatures.map((_, i) => {
    const status = value[i]
    if (!status) return null
    const { confirmationStatus, err } = status
    const isBelieved = confirmationStatus === 'finalized' || confirmationStatus === commitment
    return { isBelieved, error: err === null ? null : errorName(err) }
  })
}

interface RawAccounts {
  context: { slot: number }
  value: ({ data: [string, 'base64']; owner: string } | null)[]
}

async function readHeld(
  call: Call,
  registrar: Registrar,
  payments: readonly PaymentKey[],
  commitment: Commitment,
  minSlot: number,
): Promise<boolean[]> {
  const { context, value } = await call<RawAccounts>('getMultipleAccounts', [
    payments.map(({ quoteId }) => registrar.payment(quoteId).toBase58()),
    { commitment, encoding: 'base64', minContextSlot: minSlot },
  ])
  if (context.slot < minSlot)
    throw new RpcError('transient', `getMultipleAccounts: the node is at slot ${context.slot}, before ${minSlot}`)
  return payments.map(({ sequence }, i) => paymentIn(registrar, value[i])?.sequence === sequence)
}

/** A quote that was closed may be paid again: then its account holds another payment. */
const paymentIn = (registrar: Registrar, account: RawAccounts['value'][number] | undefined): PaymentAccount | null =>
  account?.owner === registrar.programId.toBase58()
    ? registrar.decodePayment(Buffer.from(account.data[0], 'base64'))
    : null

async function findClosing(
  call: Call,
  registrar: Registrar,
  { quoteId, sequence }: PaymentKey,
  commitment: Commitment,
): Promise<{ kind: 'settle' | 'refund'; signature: Buffer } | null> {
  const address = registrar.payment(quoteId).toBase58()
  const listed = await call<{ signature: string; err: unknown }[]>('getSignaturesForAddress', [
    address,
    { commitment, limit: CLOSING_PAGE },
  ])
  for (const { signature } of listed.filter(({ err }) => err === null)) {
    const options = { commitment, encoding: 'json', maxSupportedTransactionVersion: 0 }
    const tx = await call<RawTransaction | null>('getTransaction', [signature, options])
    const kind = closingIn(tx?.meta?.logMessages ?? [], sequence)
    if (kind) return { kind, signature: signatureBytes(signature) }
  }
  return null
}

const DATA = 'Program data: '
const CLOSING_EVENTS: Readonly<Record<string, 'settle' | 'refund'>> = {
  PaymentSettled: 'settle',
  PaymentRefunded: 'refund',
}

/** Only the relay authority can have closed it, so its events need no further proof. */
function closingIn(logs: readonly string[], sequence: bigint): 'settle' | 'refund' | null {
  for (const line of logs) {
    const event = line.startsWith(DATA) ? decodeEvent(line.slice(DATA.length)) : null
    const kind = event && CLOSING_EVENTS[event.name]
    if (kind && String((event.data as { sequence: BigNumber }).sequence) === String(sequence)) return kind
  }
  return null
}

function decodeEvent(base64: string): { name: string; data: unknown } | null {
  try {
    return registrarCoder.events.decode(base64)
  } catch {
    return null
  }
}

/** JSON-RPC code of a transaction that fails its simulation. */
const SIMULATION_FAILED = -32_002
const ALREADY_PROCESSED = 'already_processed'

async function send(call: Call, raw: Buffer, commitment: Commitment): Promise<string | null> {
  try {
    await call<string>('sendTransaction', [
      raw.toString('base64'),
      { encoding: 'base64', preflightCommitment: commitment },
    ])
    return null
  } catch (error) {
    const said = simulationError(error)
    if (said === null) throw error
    return said === ALREADY_PROCESSED ? null : said
  }
}

/** What a node says of the transaction itself; null for a fault of the node. */
function simulationError(error: unknown): string | null {
  for (const cause of causesOf(error)) {
    if (!('code' in cause) || cause.code !== SIMULATION_FAILED) continue
    const data = 'data' in cause ? (cause.data as { err?: unknown } | undefined) : undefined
    return errorName(data?.err ?? 'simulation_failed')
  }
  return null
}

/**
 * A name for a transaction's error as JSON has it: `"BlockhashNotFound"`, `{"InstructionError":[0,{"Custom":6014}]}`, ...
 * Never a node's own words.
 */
export function errorName(err: unknown): string {
  if (typeof err === 'string') return snake(err)
  if (typeof err !== 'object' || err === null) return 'failed'
  const [name, detail] = Object.entries(err)[0] ?? ['failed', null]
  if (name === 'InstructionError' && Array.isArray(detail)) return errorName(detail[1])
  if (name === 'Custom') {
    const known = registrarIdl.errors?.find(({ code }) => code === detail)
    return known ? snake(known.name) : `custom_${String(detail).slice(0, 10)}`
  }
  return snake(name)
}

const snake = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9_]/g, '')
    .slice(0, 60)
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toLowerCase()
