import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  type SignatureStatus,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { NATIVE_COIN } from '../../registry/community/rules.js'
import type { SolanaJobTx } from '../../registry/outbox.js'
import type { Payment } from '../../registry/payment/payment.js'
import { addPriceMargin } from '../margins.js'
import { fallbackIfCallFails, NodeError, RpcError } from '../rpc/errors.js'
import { MAX_COMPUTE_UNITS } from '../rpc/forms.js'
import type { RpcCall } from '../rpc/nodes.js'
import type { Commitment, SolanaRpc } from '../rpc/solana.js'
import { createCommunityPaymentInstructions, type NumberedPayment } from './community/program.js'
import { readOpenPayments } from './openPayments.js'
import {
  hasReachedCommitment,
  readLatestBlockhash,
  readRegistrarState,
  readSignatureStatuses,
} from './reads.js'
import { type RegistrarClient, registrarIdl, type UndecidedPaymentKey } from './registrar.js'

/** Decisions about payments: for names on the hub (settle, refund), and for community names (refuse, release). */
export type PaymentDecision = 'settle' | 'refund' | 'refuse' | 'release'

/** State of a transaction in a block. `error` is null when the transaction succeeded. */
export interface SolanaTxStatus {
  isConfirmed: boolean
  /** Reason in snake_case: an error of the program's IDL, or of the runtime. */
  error: string | null
}

/** Signs and sends decisions about payments as the relay authority. */
export type SolanaSigner = ReturnType<typeof createSolanaSigner>

/** Fee of a transaction with one signature, lamports. */
const SIGNATURE_LAMPORTS = 5_000n
/** Micro-lamports per lamport: prices of compute units are in micro-lamports. */
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000
/** Compute units that a batch of the largest size needs at most. */
const MAX_BATCH_UNITS = 200_000

interface SolanaSignerOptions {
  rpc: SolanaRpc
  registrar: RegistrarClient
  commitment: Commitment
  /** The relay authority's key pair, 64 bytes: private and public half, which match (src/config/solanaKey.ts). */
  secretKey: Uint8Array
  /** Highest price of a compute unit, millionths of a lamport. */
  maxUnitPrice: number
}

/** Creates the signer of the relay authority. Methods that call nodes throw ChainUnavailableError or RpcError. */
export function createSolanaSigner(options: SolanaSignerOptions) {
  const { rpc, registrar, commitment } = options
  const key = Keypair.fromSecretKey(options.secretKey, { skipValidation: true })
  const authority = key.publicKey

  return {
    authority,
    /** Highest cost of one transaction, lamports. */
    maxFee:
      SIGNATURE_LAMPORTS +
      BigInt(Math.ceil((MAX_BATCH_UNITS * options.maxUnitPrice) / MICRO_LAMPORTS_PER_LAMPORT)),
    /** Balance of the relay authority, lamports: the highest that a node reports, so that no single node stops payouts. */
    async balance(): Promise<bigint> {
      const balances = await rpc.onEveryNode(async (call) => {
        const params = [authority.toBase58(), { commitment }]
        const { value } = await call<{ value: number }>('getBalance', params)
        return value
      })
      return BigInt(Math.max(...balances))
    },
    /** The relay authority that the program has stored. Null before the program is initialized. */
    async relayAuthority(): Promise<PublicKey | null> {
      const { state } = await rpc.onOneNode((call) =>
        readRegistrarState(call, registrar, commitment),
      )
      return state?.relayAuthority ?? null
    },
    /**
     * Reads a node's block height and slot, then the statuses of transactions (by signature) from the same node, another
     * one each time. `agreedHeight`: the height that this node and, where two are configured, two nodes have reached; 0
     * while fewer answer.
     */
    statuses: async (hashes: readonly string[]) => {
      const readEpoch = (call: RpcCall) => call<EpochInfo>('getEpochInfo', [{ commitment }])
      const epochs = await rpc.answersOfAll(readEpoch, 1)
      const reached = epochs.reached(rpc.needed, ({ blockHeight }) => blockHeight)
      return rpc.inTurn(async (call) => {
        const { blockHeight, absoluteSlot } = await readEpoch(call)
        const statuses = await readSignatureStatuses(call, hashes)
        return {
          height: blockHeight,
          agreedHeight: Math.min(blockHeight, reached?.answer.blockHeight ?? 0),
          slot: absoluteSlot,
          statuses: statuses.map((one) => statusOf(one, commitment)),
        }
      })
    },
    /** For each payment, true if any node reports it as undecided as of slot `minSlot` or a later slot. */
    async areHeld(payments: readonly Payment[], minSlot: number): Promise<boolean[]> {
      const views = await rpc.onEveryNode(async (call) => {
        const open = await readOpenPayments(call, registrar, payments, { commitment, minSlot })
        return open.map((account) => account?.state === 'held')
      })
      return payments.map((_, i) => views.some((areHeld) => areHeld[i]))
    },
    /**
     * Signs a transaction with one decision about payments of one kind. Nothing is sent.
     * @param attempt from 0; each attempt takes the blockhash of another node, and offers a higher price of a compute unit
     */
    sign: (
      decision: PaymentDecision,
      payments: readonly Payment[],
      attempt: number,
    ): Promise<SolanaJobTx> =>
      rpc.inTurn(
        (call) => {
          const instruction = decisionInstruction(registrar, authority, decision, payments)
          return signFromNodeAnswers(call, key, instruction, options, attempt)
        },
        attempt + (payments[0]?.sequence ?? 0),
      ),
    /**
     * Sends a transaction (base64); may be repeated.
     * @returns reason of the nodes' refusal; null when a node accepted the transaction
     */
    send: async (raw: string): Promise<string | null> => {
      const [verdict] = await rpc.toEveryNode(
        (call) => send(call, raw, commitment),
        (verdict) => verdict === null,
      )
      return verdict
    },
  }
}

const publicKeyOfAddress = (address: Uint8Array): PublicKey => new PublicKey(address.subarray(1))

function decisionInstruction(
  registrar: RegistrarClient,
  authority: PublicKey,
  decision: PaymentDecision,
  payments: readonly Payment[],
): TransactionInstruction {
  if (decision === 'settle' || decision === 'refund')
    return registrar[decision](authority, payments.flatMap(nameKeys))
  return createCommunityPaymentInstructions(registrar)[decision](
    authority,
    payments.flatMap(communityKeys),
  )
}

const nameKeys = ({ payer, sequence, target }: Payment): UndecidedPaymentKey[] =>
  target.kind === 'name'
    ? [{ payer: publicKeyOfAddress(payer), quoteId: target.quoteId, sequence: BigInt(sequence) }]
    : []

function communityKeys({ payer, sequence, money, target }: Payment): NumberedPayment[] {
  if (target.kind !== 'communityName') return []
  const token = money.token === NATIVE_COIN ? null : new PublicKey(money.token)
  const recipient = new PublicKey(target.recipient)
  return [
    {
      payer: publicKeyOfAddress(payer),
      number: target.number,
      sequence: BigInt(sequence),
      token,
      recipient,
    },
  ]
}

interface EpochInfo {
  absoluteSlot: number
  blockHeight: number
}

/**
 * Signs a transaction from one node's answers: a simulation limits the compute units, and recent prices for the same
 * accounts give the price.
 */
async function signFromNodeAnswers(
  call: RpcCall,
  key: Keypair,
  instruction: TransactionInstruction,
  { commitment, maxUnitPrice }: SolanaSignerOptions,
  attempt: number,
): Promise<SolanaJobTx> {
  const [{ blockhash, lastValidBlockHeight }, usualPrice] = await Promise.all([
    readLatestBlockhash(call, commitment),
    readUsualUnitPrice(call, instruction),
  ])
  const microLamports = priceOfComputeUnit(usualPrice, attempt, maxUnitPrice)
  const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports })
  const signed = (units: number): Transaction => {
    const limit = ComputeBudgetProgram.setComputeUnitLimit({ units })
    const tx = new Transaction({ feePayer: key.publicKey, blockhash, lastValidBlockHeight })
    tx.add(limit, price, instruction).sign(key)
    return tx
  }
  const tx = signed(await unitsOf(call, signed(MAX_COMPUTE_UNITS), commitment))
  return {
    hash: bs58.encode(tx.signature!),
    raw: tx.serialize().toString('base64'),
    lastValidHeight: lastValidBlockHeight,
  }
}

interface Simulation {
  value: { err: unknown; unitsConsumed?: number }
}

/**
 * Compute units to request for a transaction: those used in a simulation, plus a margin. Where the node does not
 * simulate, the most that a batch needs. Where the simulation fails, the most that a transaction may request.
 */
async function unitsOf(call: RpcCall, tx: Transaction, commitment: Commitment): Promise<number> {
  const options = { encoding: 'base64', commitment, sigVerify: false, replaceRecentBlockhash: true }
  const params = [tx.serialize().toString('base64'), options]
  const none: Simulation = { value: { err: null } }
  const { value } = await fallbackIfCallFails(call<Simulation>('simulateTransaction', params), none)
  // the simulation's error is ignored, since sending the transaction will report the same error
  if (value.err !== null) return MAX_COMPUTE_UNITS
  return value.unitsConsumed
    ? Number(addPriceMargin(BigInt(value.unitsConsumed), 'units'))
    : MAX_BATCH_UNITS
}

/** Lowest price that further attempts double, millionths of a lamport for a compute unit. */
const MIN_RAISED_PRICE = 1_000
/** Percentile of the recent blocks' prices that the first attempt pays. */
const PRICE_PERCENTILE = 75

/** Compute unit price that was enough in `PRICE_PERCENTILE` % of recent blocks for the instruction's accounts. */
async function readUsualUnitPrice(
  call: RpcCall,
  instruction: TransactionInstruction,
): Promise<number> {
  const locked = instruction.keys.flatMap(({ pubkey, isWritable }) =>
    isWritable ? [pubkey.toBase58()] : [],
  )
  const params = [[...new Set(locked)]]
  const recent = await fallbackIfCallFails(
    call<{ prioritizationFee: number }[]>('getRecentPrioritizationFees', params),
    [],
  )
  const prices = recent.map(({ prioritizationFee }) => prioritizationFee).sort((a, b) => a - b)
  return prices[Math.floor((prices.length * PRICE_PERCENTILE) / 100)] ?? 0
}

/**
 * Price that an attempt offers: the usual price, doubled by each further attempt, up to `max`. Further attempts double
 * at least `MIN_RAISED_PRICE`.
 */
export const priceOfComputeUnit = (usual: number, attempt: number, max: number): number =>
  Math.min(max, attempt === 0 ? usual : Math.max(usual, MIN_RAISED_PRICE) * 2 ** attempt)

function statusOf(status: SignatureStatus | null, commitment: Commitment): SolanaTxStatus | null {
  if (!status) return null
  const { err } = status
  const error = err === null ? null : transactionErrorName(err)
  return { isConfirmed: hasReachedCommitment(status, commitment), error }
}

/** JSON-RPC code of a transaction that fails its simulation. */
const SIMULATION_FAILED = -32_002
const ALREADY_PROCESSED = 'already_processed'

async function send(call: RpcCall, raw: string, commitment: Commitment): Promise<string | null> {
  try {
    await call<string>('sendTransaction', [
      raw,
      { encoding: 'base64', preflightCommitment: commitment },
    ])
    return null
  } catch (error) {
    const reason = simulationError(error)
    if (reason === null) throw error
    return reason === ALREADY_PROCESSED ? null : reason
  }
}

/** A node's error about the transaction itself. Null for a fault of the node. */
function simulationError(error: unknown): string | null {
  const cause = error instanceof RpcError ? error.cause : null
  if (!(cause instanceof NodeError) || cause.code !== SIMULATION_FAILED) return null
  const { err } = Object(cause.data) as { err?: unknown }
  return transactionErrorName(err ?? 'simulation_failed')
}

/**
 * Name of a transaction's error in JSON: `"BlockhashNotFound"`, `{"InstructionError":[0,{"Custom":6014}]}`, ... Never
 * holds a node's own message.
 */
export function transactionErrorName(err: unknown): string {
  if (typeof err === 'string') return toSnakeCase(err)
  if (typeof err !== 'object' || err === null) return 'failed'
  const [name, detail] = Object.entries(err)[0] ?? ['failed', null]
  if (name === 'InstructionError' && Array.isArray(detail)) return transactionErrorName(detail[1])
  if (name === 'Custom') {
    const known = registrarIdl.errors?.find(({ code }) => code === detail)
    return known ? toSnakeCase(known.name) : `custom_${String(detail).slice(0, 10)}`
  }
  return toSnakeCase(name)
}

const toSnakeCase = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9_]/g, '')
    .slice(0, 60)
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toLowerCase()
