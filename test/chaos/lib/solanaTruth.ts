import { type ConfirmedSignatureInfo, PublicKey, type VersionedTransactionResponse } from '@solana/web3.js'
import bs58 from 'bs58'
import { concatHex, type Hex, keccak256, toHex } from 'viem'
import { createRegistrar, registrarCoder } from '../../../src/chains/solana/registrar.js'
import type { Ledger } from './ledger.js'
import type { ChaosSolana } from './world.js'

const PAGE = 1_000
const AT_ONCE = 16

/** A payment as the program's own events report it. */
interface TruePayment {
  signature: string
  /** The id under which the hub takes it. */
  messageId: Hex
  /** Whether it paid its quote's amount. */
  isHonoured: boolean
  settled: number
  refunded: number
}

/** The cluster's state: every payment, read through Anchor's decoder, and the program's balance. */
export interface SolanaTruth {
  payments: readonly TruePayment[]
  heldLamports: bigint
  /** Whether the treasury has less than the program owes. */
  isShort: boolean
}

/** @param ledger marks the payments that were meant to be too small */
export async function readSolanaTruth(solana: ChaosSolana, ledger: Ledger): Promise<SolanaTruth> {
  const { connection, programId } = solana
  const program = new PublicKey(programId)
  const payments = new Map<string, TruePayment>()
  const closed: { name: string; sequence: string }[] = []
  const signatures = (await allSignatures(solana, program)).filter(({ err }) => err === null).reverse()
  for (let i = 0; i < signatures.length; i += AT_ONCE) {
    const some = signatures.slice(i, i + AT_ONCE)
    const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const
    const found = await Promise.all(some.map(({ signature }) => connection.getTransaction(signature, options)))
    found.forEach((tx, at) => {
      const { signature } = some[at]!
      for (const { name, data } of tx ? eventsOf(tx, program) : []) {
        const sequence = String(data.sequence)
        if (name !== 'RegistrationPaid') closed.push({ name, sequence })
        else {
          const isHonoured = ledger.find(signature)?.kind !== 'underpaid'
          const messageId = messageIdOf(solana, BigInt(sequence))
          payments.set(sequence, { signature, messageId, isHonoured, settled: 0, refunded: 0 })
        }
      }
    })
  }
  for (const { name, sequence } of closed) {
    if (name === 'PaymentSettled') payments.get(sequence)!.settled += 1
    else if (name === 'PaymentRefunded') payments.get(sequence)!.refunded += 1
  }
  return { payments: [...payments.values()], ...(await readTreasury(solana)) }
}

/** Bytes before an event in the data of the program's call of itself. */
const TAG_BYTES = 8

/** Events of a transaction, which the program logs as calls of itself. */
function eventsOf({ meta, transaction }: VersionedTransactionResponse, program: PublicKey) {
  const { loadedAddresses, innerInstructions } = meta!
  const keys = transaction.message.getAccountKeys({ accountKeysFromLookups: loadedAddresses ?? null })
  return (innerInstructions ?? [])
    .flatMap(({ instructions }) => instructions)
    .filter(({ programIdIndex }) => keys.get(programIdIndex)?.equals(program))
    .flatMap(({ data }) => {
      const event = Buffer.from(bs58.decode(data)).toString('base64', TAG_BYTES)
      return registrarCoder.events.decode(event) ?? []
    })
}

async function allSignatures({ connection }: ChaosSolana, program: PublicKey): Promise<ConfirmedSignatureInfo[]> {
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

async function readTreasury({ connection, programId }: ChaosSolana): Promise<Omit<SolanaTruth, 'payments'>> {
  const registrar = createRegistrar(programId)
  const [state, treasury] = await connection.getMultipleAccountsInfo([registrar.state, registrar.treasury], 'confirmed')
  const { keptLamports, heldLamports } = registrar.decodeState(state!.data)
  return { heldLamports, isShort: BigInt(treasury!.lamports) < keptLamports + heldLamports }
}

/** keccak256(keccak256(genesis hash ‖ program id) ‖ sequence u64 big-endian), computed independently here. */
function messageIdOf({ genesisHash, programId }: ChaosSolana, sequence: bigint): Hex {
  const words = [genesisHash, programId].map((text) => Buffer.from(new PublicKey(text).toBytes()))
  return keccak256(concatHex([keccak256(toHex(Buffer.concat(words))), toHex(sequence, { size: 8 })]))
}
