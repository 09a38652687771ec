import { PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import type { SolanaConfig } from '../../config/index.js'
import { LAMPORTS_BITS, type PaymentTerms, quoteId } from '../../registry/payment/quote.js'
import { nameToWord } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'
import {
  ChainUnavailableError,
  type RegistrationRequest,
  type SolanaQuote,
  type SolanaTransactionJson,
} from '../chain.js'
import type { Nodes } from '../rpc/nodes.js'
import type { SolanaRpc } from '../rpc/solana.js'
import { weiToLamports } from './rate.js'
import { createRates } from './rates.js'
import { readLatestBlockhash } from './reads.js'
import type { Registrar } from './registrar.js'

/** Gas of `deliver` for one name on our hub, measured, plus a margin (held by test/solana/register.test.ts). */
export const DELIVER_GAS = 150_000n
/** Margin for gas that gets dearer before the delivery. */
const GAS_MARGIN_PERCENT = 25n

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
 * @returns a function that throws ChainUnavailableError when the hub, a price or the cluster is unavailable
 */
export function createQuoter(options: QuoterOptions): (request: RegistrationRequest) => Promise<SolanaQuote> {
  const { config, network, rpc, registrar, quoteKey, nowMs = Date.now } = options
  const rates = createRates(options.hub, config.feeds, nowMs)

  return async ({ sender, names, referral }) => {
    const [now, { blockhash }, genesis] = await Promise.all([
      rates(),
      readLatestBlockhash(rpc.call, 'confirmed'),
      rpc.genesisHash(),
    ])
    const program = { network, genesisHash: bs58.decode(genesis), programId: registrar.programId.toBytes() }
    const payer = new PublicKey(sender).toBytes()
    const fee = weiToLamports((DELIVER_GAS * now.gasPriceWei * (100n + GAS_MARGIN_PERCENT)) / 100n, now)
    const expiresAt = BigInt(Math.floor(nowMs() / 1_000) + config.quoteLifetimeSeconds)
    const quoted = names.map(({ name, amountWei }) => ({ name, amountWei, amount: weiToLamports(amountWei, now) }))
    const transactions = quoted.map(({ name, amountWei, amount }) => {
      const lamports = amount + fee
      if (lamports >> LAMPORTS_BITS !== 0n)
        throw new ChainUnavailableError(`"${name}" would cost ${lamports} lamports, more than there are`)
      const terms: PaymentTerms = {
        payer,
        name: nameToWord(name),
        amountWei,
        lamports,
        expiresAt,
        referral: referral ?? NOBODY,
      }
      return unsigned(registrar, blockhash, terms, quoteId(quoteKey, program, terms))
    })
    return {
      gasToken: { symbol: 'SOL', decimals: 'lamports' },
      transactions,
      expiresAt: new Date(Number(expiresAt) * 1_000),
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

/** Transaction that pays one quote, unsigned, for the payer's wallet. */
function unsigned(
  registrar: Registrar,
  recentBlockhash: string,
  terms: PaymentTerms,
  id: Uint8Array,
): { base64: string; json: SolanaTransactionJson } {
  const instruction = registrar.register(terms, id)
  const payer = new PublicKey(terms.payer)
  const json: SolanaTransactionJson = {
    recentBlockhash,
    feePayer: payer.toBase58(),
    nonceInfo: null,
    instructions: [
      {
        keys: instruction.keys.map(({ pubkey, ...meta }) => ({ pubkey: pubkey.toBase58(), ...meta })),
        programId: registrar.id,
        data: [...instruction.data],
      },
    ],
    signers: [],
  }
  return { base64: unsignedTransaction(payer, recentBlockhash, instruction), json }
}
