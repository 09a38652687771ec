import { Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js'
import { type BlockhashTx, type ParkReason, REFUND_WINDOW_ENDED } from '../../registry/outbox.js'
import type { CommunityNameTarget, Payment } from '../../registry/payment/payment.js'
import { causesOf } from '../rpc/errors.js'
import type { Call } from '../rpc/nodes.js'
import type { Commitment, SolanaRpc } from '../rpc/solana.js'
import { type CountedPayment, findCommunityOutcome, planRefusal, type RefusalLook } from './community/refusal.js'
import type { ClosedEvent } from './decodeTransaction.js'
import {
  findInTransactions,
  type LatestBlockhash,
  readLatestBlockhash,
  readPaymentAccounts,
  readStatuses,
  signatureText,
} from './reads.js'
import { type Registrar, registrarIdl } from './registrar.js'

/** Finds a payment's account, and tells the payment apart from later ones under the same quote. */
export interface PaymentKey {
  quoteId: Uint8Array
  sequence: bigint
}

/** A payment that a transaction closes; the rent goes to its payer, 32 bytes. */
type ClosedPayment = Pick<PaymentKey, 'quoteId'> & { payer: Uint8Array }

/** A transaction in a block; `error` null when it succeeded. */
export interface TxStatus {
  isConfirmed: boolean
  /** snake_case: an error of the program's IDL, or the runtime's own. */
  error: string | null
}

/** The cluster's view of a payment with a job. Signatures are base58. */
export type PaymentView =
  /** The job can be done. `refusal`: the instructions that refuse a payment for a community name. */
  | { is: 'held'; refusal: readonly TransactionInstruction[] | null }
  /** Somebody has done the job; null where no transaction of its own was needed. */
  | { is: 'done'; signature: string | null }
  /** The job can't be done any more. */
  | {
      is: 'lost'
      reason: Extract<ParkReason, `${string}_elsewhere` | typeof REFUND_WINDOW_ENDED>
      signature: string | null
    }
  /** The payment is closed and the node doesn't know by whom. */
  | { is: 'unknown' }

/** The relay authority's hand on a cluster: confirmed facts about payments, and transactions that close them. */
export type SolanaSigner = ReturnType<typeof createSolanaSigner>

export interface SolanaSignerOptions {
  rpc: SolanaRpc
  registrar: Registrar
  commitment: Commitment
  /** The relay authority's key, 64 bytes. */
  secretKey: Uint8Array
}

export function createSolanaSigner({ rpc, registrar, commitment, secretKey }: SolanaSignerOptions) {
  const key = Keypair.fromSecretKey(secretKey)
  const authority = key.publicKey
  const cluster: Cluster = { registrar, commitment }

  const sign = async (instructions: readonly TransactionInstruction[]): Promise<BlockhashTx> => {
    return signTransaction(key, await readLatestBlockhash(rpc.call, commitment), instructions)
  }

  return {
    authority,
    /** Lamports for fees. @throws ChainUnavailableError, as all methods that ask */
    async balance(): Promise<bigint> {
      const { value } = await rpc.call<{ value: number }>('getBalance', [authority.toBase58(), { commitment }])
      return BigInt(value)
    },
    /** Statuses of transactions by signature; height and slot of the newest confirmed block are read before them. */
    statuses: (hashes: readonly string[]) =>
      rpc.onOneNode(async (call) => {
        const { blockHeight, absoluteSlot } = await call<EpochInfo>('getEpochInfo', [{ commitment }])
        const statuses = await readStatuses(call, hashes)
        return {
          height: blockHeight,
          slot: absoluteSlot,
          statuses: statuses.map((one) => one && statusOf(one, commitment)),
        }
      }),
    /** Whether payments are held, as confirmed in a slot not before `minSlot`. */
    areHeld: (payments: readonly PaymentKey[], minSlot: number): Promise<boolean[]> =>
      rpc.onOneNode(async (call) => {
        const quoteIds = payments.map(({ quoteId }) => quoteId)
        const accounts = await readPaymentAccounts(call, registrar, quoteIds, { commitment, minSlot })
        // a closed quote may be paid again, and then holds another payment
        return payments.map(({ sequence }, i) => accounts[i]?.sequence === sequence)
      }),
    /** View of a payment that is held no more, for its settlement or refund. */
    closing: (kind: ClosedEvent['kind'], payment: PaymentKey): Promise<PaymentView> =>
      rpc.onOneNode((call) => closingView(call, cluster, kind, payment)),
    /** Signs; nothing is sent. Several payments settle in one transaction, each refund has its own. */
    sign: (kind: ClosedEvent['kind'], payments: readonly ClosedPayment[]): Promise<BlockhashTx> =>
      sign(closingInstructions(registrar, authority, kind, payments)),
    /** View of a payment for a community name, for its refusal. */
    lookAtRefusal: (
      payment: Payment<CommunityNameTarget>,
      look: Omit<RefusalLook, 'commitment' | 'authority'>,
    ): Promise<PaymentView> =>
      rpc.onOneNode((call) => refusalView(call, cluster, counted(payment), { ...look, commitment, authority })),
    /** Signs what `lookAtRefusal` asks for; nothing is sent. */
    signRefusal: sign,
    /** Sends signed bytes (base64), again where need be. @returns why the node refused them, null when it took them */
    send: (raw: string): Promise<string | null> => rpc.onOneNode((call) => send(call, raw, commitment)),
  }
}

function closingInstructions(
  registrar: Registrar,
  authority: PublicKey,
  kind: 'settle' | 'refund',
  payments: readonly ClosedPayment[],
): TransactionInstruction[] {
  const closed = payments.map(({ quoteId, payer }) => ({ quoteId, payer: new PublicKey(payer) }))
  return kind === 'settle'
    ? [registrar.settle(authority, closed)]
    : closed.map((payment) => registrar.refund(authority, payment))
}

/** A program's payments, as far as a commitment shows them. */
interface Cluster {
  registrar: Registrar
  commitment: Commitment
}

interface EpochInfo {
  absoluteSlot: number
  blockHeight: number
}

function signTransaction(
  key: Keypair,
  { blockhash, lastValidBlockHeight }: LatestBlockhash,
  instructions: readonly TransactionInstruction[],
): BlockhashTx {
  const tx = new Transaction({ feePayer: key.publicKey, blockhash, lastValidBlockHeight }).add(...instructions)
  tx.sign(key)
  const raw = tx.serialize().toString('base64')
  return { hash: signatureText(tx.signature!), raw, lastValidHeight: lastValidBlockHeight }
}

const statusOf = (
  { confirmationStatus, err }: { confirmationStatus: 'processed' | Commitment | null; err: unknown },
  commitment: Commitment,
): TxStatus => ({
  isConfirmed: confirmationStatus === 'finalized' || confirmationStatus === commitment,
  error: err === null ? null : errorName(err),
})

/** Only the relay authority can have closed it, so that its events need no further proof. */
async function closingView(
  call: Call,
  { registrar, commitment }: Cluster,
  kind: ClosedEvent['kind'],
  { quoteId, sequence }: PaymentKey,
): Promise<PaymentView> {
  const account = { address: registrar.payment(quoteId), commitment }
  const closing = await findInTransactions(call, registrar, account, ({ closed }) =>
    closed.find((one) => one.sequence === sequence),
  )
  if (!closing) return { is: 'unknown' }
  const { signature } = closing
  if (closing.kind === kind) return { is: 'done', signature }
  return { is: 'lost', reason: closing.kind === 'settle' ? 'settled_elsewhere' : 'refunded_elsewhere', signature }
}

const counted = ({ payer, sequence, target }: Payment<CommunityNameTarget>): CountedPayment => ({
  payer: new PublicKey(payer.subarray(1)),
  community: target.community,
  name: target.name,
  sequence: BigInt(sequence),
})

async function refusalView(
  call: Call,
  { registrar, commitment }: Cluster,
  payment: CountedPayment,
  look: RefusalLook,
): Promise<PaymentView> {
  const step = await planRefusal(call, registrar, payment, look)
  switch (step.kind) {
    case 'refuse':
    case 'pay_back':
      return { is: 'held', refusal: step.instructions }
    case 'waiting':
      return { is: 'done', signature: null }
    case 'over':
      return { is: 'lost', reason: REFUND_WINDOW_ENDED, signature: null }
    case 'gone': {
      const found = await findCommunityOutcome(call, registrar, payment, commitment)
      if (!found) return { is: 'unknown' }
      const { kind, signature } = found
      return kind === 'released' ? { is: 'lost', reason: REFUND_WINDOW_ENDED, signature } : { is: 'done', signature }
    }
  }
}

/** JSON-RPC code of a transaction that fails its simulation. */
const SIMULATION_FAILED = -32_002
const ALREADY_PROCESSED = 'already_processed'

async function send(call: Call, raw: string, commitment: Commitment): Promise<string | null> {
  try {
    await call<string>('sendTransaction', [raw, { encoding: 'base64', preflightCommitment: commitment }])
    return null
  } catch (error) {
    const said = simulationError(error)
    if (said === null) throw error
    return said === ALREADY_PROCESSED ? null : said
  }
}

/** A node's verdict on the transaction itself; null for a fault of the node. */
function simulationError(error: unknown): string | null {
  for (const cause of causesOf(error)) {
    if (!('code' in cause) || cause.code !== SIMULATION_FAILED) continue
    const data = 'data' in cause ? (cause.data as { err?: unknown } | undefined) : undefined
    return errorName(data?.err ?? 'simulation_failed')
  }
  return null
}

/**
 * A name for a transaction's error as JSON has it: `"BlockhashNotFound"`, `{"InstructionError":[0,{"Custom":6014}]}`,
 * ... Never a node's own words.
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
