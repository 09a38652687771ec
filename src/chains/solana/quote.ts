import {
  PACKET_DATA_SIZE,
  PublicKey,
  SIGNATURE_LENGTH_IN_BYTES,
  Transaction,
  type TransactionInstruction,
  TransactionMessage,
} from '@solana/web3.js'
import bs58 from 'bs58'
import type { SolanaConfig } from '../../config/index.js'
import { mapWithoutBlocking, waitForEventLoopTurn } from '../../ops/turns.js'
import {
  deriveQuoteId,
  type PaymentTerms,
  QUOTE_LAMPORTS_BITS,
} from '../../registry/payment/quote.js'
import { nameToWord } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'
import { AmountError, type RegistrationRequest } from '../chain.js'
import { addPriceMargin } from '../margins.js'
import type { RpcNodes } from '../rpc/nodes.js'
import { cacheAnswerForDuration } from '../rpc/served.js'
import type { SolanaRpc } from '../rpc/solana.js'
import type { SolanaQuote } from './port.js'
import { createHubPriceReader, weiToLamports } from './rates.js'
import { readLatestBlockhash } from './reads.js'
import type { RegistrarClient } from './registrar.js'

/** Gas of `deliver` for one name on our hub: measured, plus a margin (checked by test/solana/register.test.ts). */
export const HUB_DELIVERY_GAS = 150_000n
/** How long a quote can be paid, seconds. */
const QUOTE_LIFETIME_S = 600
/** How long a blockhash is cached, ms. A blockhash is valid for a minute at least. */
const BLOCKHASH_CACHE_MS = 2_000
/** Names quoted before the process serves other requests: two names take about a millisecond. */
const NAMES_PER_TURN = 2

export interface SolanaQuoterOptions {
  config: SolanaConfig
  network: Network
  rpc: SolanaRpc
  registrar: RegistrarClient
  /** Nodes of the network's hub, which has the price feeds. */
  hub: RpcNodes
  /** HMAC key of quote ids. */
  quoteKey: Uint8Array
  nowMs?: () => number
}

/**
 * Creates a quoter of registrations on Solana. For each name it builds a transaction that pays the bid and the delivery
 * on the hub in SOL. Nothing is stored: a quote's id is the HMAC of its terms.
 * @returns a function that throws AmountError; ChainUnavailableError when the hub, a price or Solana is unavailable;
 * RpcError
 */
export function createSolanaQuoter(
  options: SolanaQuoterOptions,
): (request: RegistrationRequest) => Promise<SolanaQuote> {
  const { config, network, rpc, registrar, quoteKey, nowMs = Date.now } = options
  const rates = createHubPriceReader(options.hub, config.feeds, nowMs)

  const blockhashes = cacheAnswerForDuration(BLOCKHASH_CACHE_MS, () =>
    readLatestBlockhash(rpc.call, 'confirmed'),
  )

  return async ({
    sender,
    names,
    referral,
    turn: waitForLoop = () => waitForEventLoopTurn(''),
  }) => {
    const [now, { blockhash }, genesis] = await Promise.all([
      rates(),
      blockhashes(),
      rpc.genesisHash(),
    ])
    const program = {
      network,
      genesisHash: bs58.decode(genesis),
      programId: registrar.programId.toBytes(),
    }
    const fee = weiToLamports(addPriceMargin(HUB_DELIVERY_GAS * now.gasPriceWei, 'delivery'), now)
    const quoted = names.map(({ name, amountWei }) => ({
      name,
      amountWei,
      amount: weiToLamports(amountWei, now),
    }))
    const dear = quoted.find(({ amount }) => (amount + fee) >> QUOTE_LAMPORTS_BITS !== 0n)
    if (dear)
      throw new AmountError(
        `"${dear.name}" costs ${dear.amount + fee} lamports, more than there are.`,
      )
    const payer = new PublicKey(sender)
    const common = {
      payer: payer.toBytes(),
      expiresAt: BigInt(Math.floor(nowMs() / 1_000) + QUOTE_LIFETIME_S),
      referral: referral ?? NO_REFERRAL,
    }
    const all = quoted.map(({ name, amountWei, amount }): PaymentTerms => {
      return { name: nameToWord(name), amountWei, lamports: amount + fee, ...common }
    })
    const transactionOf = (terms: PaymentTerms) => {
      const instruction = registrar.register(terms, deriveQuoteId(quoteKey, program, terms))
      return {
        base64: encodeUnsignedTransaction(payer, blockhash, instruction),
        json: () => {
          const legacy = new Transaction({ feePayer: payer, recentBlockhash: blockhash })
          return JSON.parse(JSON.stringify(legacy.add(instruction)))
        },
      }
    }
    const transactions = await mapWithoutBlocking(waitForLoop, all, transactionOf, NAMES_PER_TURN)
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

const NO_REFERRAL = new Uint8Array(32)

/**
 * Encodes a legacy transaction without signatures, in base64. A message of version 0 is a version byte, the legacy
 * message, and the number of lookup tables (a zero byte). The library compiles it in a quarter of the time of a legacy
 * message, so the legacy message is cut out of it.
 * @throws RangeError if the transaction is larger than a packet of the network
 */
export function encodeUnsignedTransaction(
  payerKey: PublicKey,
  recentBlockhash: string,
  ...instructions: TransactionInstruction[]
): string {
  const message = new TransactionMessage({ payerKey, recentBlockhash, instructions })
  const compiled = message.compileToV0Message()
  const { numRequiredSignatures } = compiled.header
  const signatures = Buffer.alloc(1 + numRequiredSignatures * SIGNATURE_LENGTH_IN_BYTES)
  signatures[0] = numRequiredSignatures
  const bytes = Buffer.concat([signatures, compiled.serialize().subarray(1, -1)])
  if (bytes.length > PACKET_DATA_SIZE)
    throw new RangeError(`a transaction of ${bytes.length} bytes; a packet has ${PACKET_DATA_SIZE}`)
  return bytes.toString('base64')
}
