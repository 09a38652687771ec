import { setImmediate } from 'node:timers/promises'
import { PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import type { SolanaConfig } from '../../config/index.js'
import { LAMPORTS_BITS, type PaymentTerms, quoteId } from '../../registry/payment/quote.js'
import { decodeBase58 } from '../../registry/primitives/base58.js'
import { nameToWord } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'
import { AmountError, type RegistrationRequest, type SolanaQuote, type SolanaTransactionJson } from '../chain.js'
import { transient } from '../rpc/errors.js'
import type { Nodes } from '../rpc/nodes.js'
import { servedFor } from '../rpc/served.js'
import type { SolanaRpc } from '../rpc/solana.js'
import { weiToLamports } from './rate.js'
import { createRates } from './rates.js'
import { readLatestBlockhash } from './reads.js'
import { type Registrar, registerData } from './registrar.js'

/** Gas of `deliver` for one name on our hub, measured, plus a margin (held by test/solana/register.test.ts). */
export const DELIVER_GAS = 150_000n
/** Margin for gas that gets dearer before the delivery. */
const GAS_MARGIN_PERCENT = 25n
/** Time for which a blockhash is served, ms: it is good for a minute at least. */
const BLOCKHASH_MS = 2_000
/** Names of a quote between two turns of other requests. */
const AT_ONCE = 8
/** Places of the payer and of the payment's account among the instruction's. */
const PAYER_KEY = 0
const PAYMENT_KEY = 3

export interface QuoterOptions {
  config: SolanaConfig
  network: Network
  rpc: SolanaRpc
  registrar: Registrar
  /** Nodes of the network's hub, which holds the price feeds. */
  hub: Nodes
  /** HMAC key of quote ids. */
  quoteKey: Uint8Array
  nowMs?: () => number
}

/**
 * Creates a quoter of registrations on Solana. Each name gets a transaction that pays its bid and its delivery on the
 * hub in SOL. Nothing is stored: a quote's id is the HMAC of its terms.
 * @returns a function that throws AmountError; ChainUnavailableError when the hub, a price or the cluster is away
 */
export function createQuoter(options: QuoterOptions): (request: RegistrationRequest) => Promise<SolanaQuote> {
  const { config, network, rpc, registrar, quoteKey, nowMs = Date.now } = options
  const rates = createRates(options.hub, config.feeds, nowMs)

  let compiled: ReturnType<typeof compile> | undefined
  const blockhashes = servedFor(BLOCKHASH_MS, () => readLatestBlockhash(rpc.call, 'confirmed'))

  return async ({ sender, names, referral }) => {
    const [now, { blockhash }, genesis] = await Promise.all([rates(), blockhashes(), rpc.genesisHash()])
    const program = { network, genesisHash: bs58.decode(genesis), programId: registrar.programId.toBytes() }
    const fee = weiToLamports((DELIVER_GAS * now.gasPriceWei * (100n + GAS_MARGIN_PERCENT)) / 100n, now)
    const quoted = names.map(({ name, amountWei }) => ({ name, amountWei, amount: weiToLamports(amountWei, now) }))
    const dear = quoted.find(({ amount }) => (amount + fee) >> LAMPORTS_BITS !== 0n)
    if (dear) throw new AmountError(`"${dear.name}" would cost ${dear.amount + fee} lamports, more than there are.`)
    const payer = new PublicKey(sender)
    const common = {
      payer: payer.toBytes(),
      expiresAt: BigInt(Math.floor(nowMs() / 1_000) + config.quoteLifetimeSeconds),
      referral: referral ?? NOBODY,
    }
    const all = quoted.map(({ name, amountWei, amount }): PaymentTerms => {
      return { name: nameToWord(name), amountWei, lamports: amount + fee, ...common }
    })
    compiled ??= compile(registrar)
    const unsigned = compiled(payer, blockhash)
    const transactions: SolanaQuote['transactions'][number][] = []
    for (const [i, terms] of all.entries()) {
      transactions.push(unsigned(terms, quoteId(quoteKey, program, terms)))
      if (i % AT_ONCE === AT_ONCE - 1) await setImmediate()
    }
    return {
      gasToken: { symbol: 'SOL', decimals: 'lamports' },
      transactions,
      expiresAt: new Date(Number(common.expiresAt) * 1_000),
      registrationFee: quoted.reduce((sum, { amount }) => sum + amount, 0n),
      bridgeFee: fee * BigInt(names.length),
      names: quoted,
    }
  }
}

const NOBODY = new Uint8Array(32)

/** A legacy transaction without signatures, in base64. */
export const unsignedTransaction = (
  feePayer: PublicKey,
  recentBlockhash: string,
  ...instructions: readonly TransactionInstruction[]
) =>
  new Transaction({ feePayer, recentBlockhash })
    .add(...instructions)
    .serialize({ requireAllSignatures: false, verifySignatures: false })
    .toString('base64')

/** Stand-ins of what differs between quotes. */
const PAYER = Buffer.alloc(32, 1)
const BLOCKHASH = Buffer.alloc(32, 2)
const TERMS = { payer: PAYER, name: NOBODY, amountWei: 0n, lamports: 0n, expiresAt: 0n, referral: NOBODY }

/**
 * Compiles the transaction that pays a quote, unsigned, for the payer's wallet: once for all, since they differ by
 * payer, blockhash, the payment's account and the data alone.
 * @returns a function that takes payer and blockhash (base58), and gives one that makes the transactions of quotes
 */
function compile(registrar: Registrar) {
  const instruction = registrar.register(TERMS, NOBODY)
  const blockhash = bs58.encode(BLOCKHASH)
  const template = Buffer.from(unsignedTransaction(new PublicKey(PAYER), blockhash, instruction), 'base64')
  const [payerAt, blockhashAt, accountAt] = [PAYER, BLOCKHASH, registrar.paymentBytes(PAYER, NOBODY)].map((word) =>
    template.indexOf(word),
  )
  const dataAt = template.length - instruction.data.length
  const keys = instruction.keys.map(({ pubkey, ...meta }) => ({ pubkey: pubkey.toBase58(), ...meta }))

  return (payer: PublicKey, recentBlockhash: string) => {
    const bytes = Buffer.from(template)
    bytes.set(payer.toBytes(), payerAt)
    const hash = decodeBase58(recentBlockhash, BLOCKHASH.length)
    if (!hash) throw transient(`getLatestBlockhash: "${recentBlockhash.slice(0, 50)}" is none`)
    bytes.set(hash, blockhashAt)
    const feePayer = payer.toBase58()
    const jsonOf = (account: Uint8Array, data: Uint8Array): SolanaTransactionJson => {
      const changed = new Map([
        [PAYER_KEY, feePayer],
        [PAYMENT_KEY, bs58.encode(account)],
      ])
      const own = keys.map(({ pubkey, isSigner, isWritable }, i) => {
        return { pubkey: changed.get(i) ?? pubkey, isSigner, isWritable }
      })
      const instructions = [{ keys: own, programId: registrar.id, data: [...data] }]
      return { recentBlockhash, feePayer, nonceInfo: null, instructions, signers: [] }
    }
    return (terms: PaymentTerms, id: Uint8Array): SolanaQuote['transactions'][number] => {
      const account = registrar.paymentBytes(terms.payer, id)
      const data = registerData(terms, id)
      bytes.set(account, accountAt)
      bytes.set(data, dataAt)
      return { base64: bytes.toString('base64'), json: () => jsonOf(account, data) }
    }
  }
}
