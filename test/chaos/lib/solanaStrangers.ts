import { createHash } from 'node:crypto'
import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { createCommunityPaymentInstructions } from '../../../src/chains/solana/community/program.js'
import { createRegistrarClient, readonlyAccount } from '../../../src/chains/solana/registrar.js'
import { nameToWord } from '../../../src/registry/primitives/name.js'
import { integerBetween, pickElement } from '../../../src/testing/faultProxy/random.js'
import { fundSolanaAddresses } from '../../../src/testing/solana/setUpSolana.js'
import { seededRandomSequence } from '../../support/random.js'
import { COMMUNITY } from './community.js'
import type { Ledger } from './ledger.js'
import type { Dust } from './strangers.js'
import { actAtPace, STALLS } from './wallets.js'
import type { ChaosSolana } from './world.js'

const PACE_MS = { min: 1_500, max: 5_000 }
const EXPIRES_AFTER_S = 3_600
const NOBODY = Buffer.alloc(32)
/** First bytes of a program's call to itself that carries an event (Anchor's `emit_cpi!`). */
const EVENT_TAG = Buffer.from('e445a52e51cb9a1d', 'hex')

/**
 * A program that logs about 190 bytes for each call. So many calls fill the 10,000 bytes that a node keeps for a
 * transaction.
 */
const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const MEMOS = 55
const FOUR = Buffer.from('memo')

/** Creates a stranger on Solana. Runs before any disruption. */
export async function openSolanaStranger(
  { connection }: ChaosSolana,
  seed: number,
): Promise<Keypair> {
  const stranger = Keypair.fromSeed(createHash('sha256').update(`${seed}/stranger`).digest())
  await fundSolanaAddresses(connection, [stranger.publicKey])
  return stranger
}

/** Lets the stranger send worthless transactions to the program until the signal. */
export async function runSolanaStranger(
  solana: ChaosSolana,
  stranger: Keypair,
  ledger: Ledger,
  { seed, signal, dust }: { seed: number; signal: AbortSignal; dust: Dust },
): Promise<void> {
  const next = seededRandomSequence(seed, 'stranger', 'solana')
  const makers = dustOf(solana, stranger, next)
  await actAtPace(next, PACE_MS, signal, async () => {
    const kind = pickElement(next(), Object.keys(makers) as (keyof typeof makers)[])
    const transaction = new Transaction({
      feePayer: stranger.publicKey,
      ...(await solana.connection.getLatestBlockhash('confirmed')),
    }).add(...makers[kind]())
    transaction.sign(stranger)
    const hash = bs58.encode(transaction.signature!)
    ledger.add({
      hash,
      raw: '0x',
      label: 'solana',
      sender: stranger.publicKey.toBase58(),
      nonce: 0,
      kind: 'dust',
    })
    // failing transactions are included too
    await solana.connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
    dust[kind] = (dust[kind] ?? 0) + 1
  })
}

/** Instructions of each kind of worthless transaction. */
function dustOf({ programId }: ChaosSolana, { publicKey }: Keypair, next: () => number) {
  const registrar = createRegistrarClient(programId)
  const community = createCommunityPaymentInstructions(registrar)
  const someBytes = (): Buffer => createHash('sha256').update(next().toString()).digest()
  const register = () =>
    registrar.register(
      {
        payer: publicKey.toBytes(),
        name: nameToWord(`dust-${integerBetween(next(), 1, 1_000)}`),
        amountWei: 1n,
        lamports: 1n,
        expiresAt: BigInt(Math.floor(Date.now() / 1_000) + EXPIRES_AFTER_S),
        referral: NOBODY,
      },
      someBytes(),
    )
  const pay = () =>
    community.pay({
      payer: publicKey,
      recipient: publicKey,
      amount: 1n,
      referral: NOBODY,
      community: nameToWord(COMMUNITY),
      name: nameToWord(`stall-${integerBetween(next(), 1, STALLS)}`),
      number: someBytes().readBigUInt64LE(),
    })
  return {
    'quotes of nobody': () => [register()],
    'payments of 1 lamport': () => [pay()],
    'many at once': () => [register(), pay(), pay(), register()],
    /** The payment is after the end of the logs that a node keeps. */
    'payments behind cut logs': () => [
      ...Array.from(
        { length: MEMOS },
        () => new TransactionInstruction({ programId: MEMO, keys: [], data: FOUR }),
      ),
      pickElement(next(), [register, pay])(),
    ],
    /** Transactions that nodes list among the program's, although they contain nothing of it. */
    'gifts of 1 lamport': () =>
      [registrar.state, registrar.treasury].map((toPubkey) =>
        SystemProgram.transfer({ fromPubkey: publicKey, toPubkey, lamports: 1 }),
      ),
    /** Data in the program's form of an event, emitted by another program. */
    'forged events': () => [
      new TransactionInstruction({
        programId: registrar.programId,
        keys: [readonlyAccount(registrar.eventAuthority), readonlyAccount(registrar.programId)],
        data: Buffer.concat([EVENT_TAG, someBytes(), someBytes()]),
      }),
      SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: registrar.programId, lamports: 0 }),
    ],
  }
}
