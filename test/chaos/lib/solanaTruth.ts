import {
  type ConfirmedSignatureInfo,
  PublicKey,
  type VersionedTransactionResponse,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { concatHex, type Hex, keccak256, toHex } from 'viem'
import { createRegistrarClient, registrarCoder } from '../../../src/chains/solana/registrar.js'
import type { Ledger } from './ledger.js'
import type { ChaosSolana } from './world.js'

const PAGE = 1_000
const AT_ONCE = 16

/** A payment as the program's own events report it. */
interface TruePayment {
  signature: string
  /** The id with which the hub receives it. */
  messageId: Hex
  /** True if it paid its quote's amount. */
  isHonoured: boolean
  settled: number
  refunded: number
}

/** The cluster's state: every payment, decoded by Anchor, and the program's balance. */
export interface SolanaTruth {
  payments: readonly TruePayment[]
  /** Contradictions between the program's events, its state and its balances. */
  moneyBreaches: readonly string[]
}

/** A payment for a name below a community, by the program's events. */
interface CommunityPayment {
  ends: string[]
  /** True if its money has left the program. */
  isPaidOut: boolean
}

/** @param ledger marks the payments that were too small on purpose */
export async function readSolanaTruth(solana: ChaosSolana, ledger: Ledger): Promise<SolanaTruth> {
  const { connection, programId } = solana
  const program = new PublicKey(programId)
  const payments = new Map<string, TruePayment>()
  const communities = new Map<string, CommunityPayment>()
  const closed: { name: string; sequence: string }[] = []
  let settledLamports = 0n
  const lamportsOf = new Map<string, bigint>()
  const signatures = (await allSignatures(solana, program))
    .filter(({ err }) => err === null)
    .reverse()
  for (let i = 0; i < signatures.length; i += AT_ONCE) {
    const some = signatures.slice(i, i + AT_ONCE)
    const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const
    const found = await Promise.all(
      some.map(({ signature }) => connection.getTransaction(signature, options)),
    )
    found.forEach((tx, at) => {
      const { signature } = some[at]!
      for (const { name, data } of tx ? eventsOf(tx, program) : []) {
        const sequence = String(data.sequence)
        if (name.startsWith('Community')) noteCommunity(communities, name, data)
        else if (name !== 'RegistrationPaid') closed.push({ name, sequence })
        else {
          lamportsOf.set(sequence, BigInt(String(data.lamports)))
          const isHonoured = ledger.find(signature)?.kind === 'payment'
          const messageId = messageIdOf(solana, BigInt(sequence))
          payments.set(sequence, { signature, messageId, isHonoured, settled: 0, refunded: 0 })
        }
      }
    })
  }
  for (const { name, sequence } of closed) {
    if (name === 'PaymentSettled') {
      payments.get(sequence)!.settled += 1
      settledLamports += lamportsOf.get(sequence)!
    } else if (name === 'PaymentRefunded') payments.get(sequence)!.refunded += 1
  }
  return {
    payments: [...payments.values()],
    moneyBreaches: [
      ...communityBreaches(communities),
      ...(await treasuryBreaches(solana, settledLamports)),
    ],
  }
}

/** Bytes before an event in the data of the program's call to itself. */
const TAG_BYTES = 8

/** Events of a transaction, which the program emits as calls to itself. */
function eventsOf({ meta, transaction }: VersionedTransactionResponse, program: PublicKey) {
  const { loadedAddresses, innerInstructions } = meta!
  const keys = transaction.message.getAccountKeys({
    accountKeysFromLookups: loadedAddresses ?? null,
  })
  return (innerInstructions ?? [])
    .flatMap(({ instructions }) => instructions)
    .filter(({ programIdIndex }) => keys.get(programIdIndex)?.equals(program))
    .flatMap(({ data }) => {
      const event = Buffer.from(bs58.decode(data)).toString('base64', TAG_BYTES)
      return registrarCoder.events.decode(event) ?? []
    })
}

async function allSignatures(
  { connection }: ChaosSolana,
  program: PublicKey,
): Promise<ConfirmedSignatureInfo[]> {
  const all: ConfirmedSignatureInfo[] = []
  for (;;) {
    const before = all.at(-1)?.signature
    const page = await connection.getSignaturesForAddress(
      program,
      { limit: PAGE, ...(before !== undefined && { before }) },
      'confirmed',
    )
    all.push(...page)
    if (page.length < PAGE) return all
  }
}

/** Records an event of a payment for a name below a community. */
function noteCommunity(
  payments: Map<string, CommunityPayment>,
  name: string,
  data: Record<string, unknown>,
): void {
  const sequence = String(data.sequence)
  const payment = payments.get(sequence) ?? { ends: [], isPaidOut: false }
  payments.set(sequence, payment)
  if (name === 'CommunityPaid') return
  if (name !== 'CommunityCollected') payment.ends.push(name)
  payment.isPaidOut ||= name === 'CommunityReclaimed' || name === 'CommunityCollected'
  // true where the money could be paid at once
  if (data.paid !== undefined) payment.isPaidOut ||= String(data.paid) === String(data.amount)
}

/** Here no price is in SOL, so each of these payments has to be refunded to its payer, once. */
const communityBreaches = (payments: ReadonlyMap<string, CommunityPayment>): string[] =>
  [...payments].flatMap(([sequence, { ends, isPaidOut }]) =>
    ends.join() === 'CommunityRefused' && isPaidOut
      ? []
      : [
          `the payment ${sequence} on Solana for a community ended ${ends.join(' and ') || 'never'}, paid: ${isPaidOut}`,
        ],
  )

/** Checks that the program keeps what it settled, holds nothing, and has the whole sum. */
async function treasuryBreaches(
  { connection, programId }: ChaosSolana,
  settledLamports: bigint,
): Promise<string[]> {
  const registrar = createRegistrarClient(programId)
  const [state, treasury] = await connection.getMultipleAccountsInfo(
    [registrar.state, registrar.treasury],
    'confirmed',
  )
  const { keptLamports, heldLamports } = registrar.decodeState(state!.data)
  const has = BigInt(treasury!.lamports)
  return [
    ...(heldLamports === 0n ? [] : [`the registrar still holds ${heldLamports} lamports`]),
    ...(keptLamports === settledLamports
      ? []
      : [`the registrar keeps ${keptLamports}, and settled ${settledLamports}`]),
    ...(has >= keptLamports + heldLamports
      ? []
      : ['the treasury has less than the registrar promised']),
  ]
}

/**
 * keccak256(keccak256(genesis hash ‖ program id) ‖ sequence u64 big-endian), calculated independently of the product.
 */
function messageIdOf({ genesisHash, programId }: ChaosSolana, sequence: bigint): Hex {
  const words = [genesisHash, programId].map((text) => Buffer.from(new PublicKey(text).toBytes()))
  return keccak256(
    concatHex([keccak256(toHex(Buffer.concat(words))), toHex(sequence, { size: 8 })]),
  )
}
