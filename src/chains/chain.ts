import type { Hex } from 'viem'
import type { ChainConfig } from '../config/index.js'
import { errorSentence, isInternalError } from '../ops/logger/errors.js'
import type { ClaimPermission } from '../registry/airdrop/permission.js'
import type { ContractSignature } from '../registry/auth/evm.js'
import type { PaymentReleaseApproval } from '../registry/community/release.js'
import type { CommunityPrice } from '../registry/community/rules.js'
import { type ChainFamily, EVM, type PayerAddressType } from '../registry/families.js'
import type { CommunityNameTarget, StoredPayment } from '../registry/payment/payment.js'
import type { Network } from '../registry/primitives/network.js'
import type { Confirmations } from '../registry/status.js'

export type { Hex }

export interface MinedTx {
  state: 'mined'
  /** Number of the block; on Solana, of the slot. */
  block: number
  succeeded: boolean
  /**
   * True if a configured contract logged a bid, a message or a payment in the transaction, or the transaction paid the
   * configured Solana program. Also true while a Solana node has the transaction's status but not the transaction.
   */
  isRegistration: boolean
  confirmations: Confirmations
  isConfirmed: boolean
}

export type ChainTx =
  | { state: 'unknown' }
  | ({ state: 'mempool' } & TransactionOrigin)
  | (MinedTx & TransactionOrigin)

interface TransactionOrigin {
  /**
   * Account that sent the transaction. `sender` and `nonce` are both null where the transaction's signature does not
   * prove them, as for transaction types that only some chains have.
   */
  sender: Hex | null
  nonce: number | null
  /**
   * True if the transaction calls a configured contract, has its address in the calldata, or made it log a registration.
   * On Solana: if the program is among the transaction's accounts. Other transactions are not stored.
   */
  isOurs: boolean
}

/** A registration to quote. Names are canonical. Amounts are the value of each bid on the hub, in wei of ETH. */
export interface RegistrationRequest {
  sender: string
  names: readonly { name: string; amountWei: bigint }[]
  /** Referrer as 32 bytes, null without a referrer. */
  referral: Uint8Array | null
  /** Awaited before each part of a long quote, so that other requests run in between. */
  turn?: () => Promise<void>
}

/** Cost of a registration. All amounts but `amountWei` are in the smallest unit of the chain's gas token. */
export interface RegistrationQuote {
  /** `decimals` is the text `lamports` on Solana. */
  gasToken: { symbol: string; decimals: number | string }
  registrationFee: bigint
  /** Cost of the bids' delivery to the hub. */
  bridgeFee: bigint
  /** Names in the order of the request. `amountWei` is the bid in wei of ETH, `amount` its cost in the gas token. */
  names: readonly { name: string; amountWei: bigint; amount: bigint }[]
}

/** A quote with the transaction that registers. `value` is in the smallest unit of the chain's gas token. */
export interface EvmQuote extends RegistrationQuote {
  gasToken: ChainConfig['gasToken']
  transactionData: { to: Hex; data: Hex; value: bigint }
}

/** The bridge gives no usable price for a message (HTTP 502 `bridge_failure`). */
export class BridgeError extends Error {
  override name = 'BridgeError'
}

/** An amount that can't be paid (HTTP 400 `invalid_amount`). The message is one sentence for the client. */
export class AmountError extends Error {
  override name = 'AmountError'
}

/**
 * A chain gives no answer now: no RPC URL answers, or too few for an answer that needs several (HTTP 503
 * `unavailable`).
 */
export class ChainUnavailableError extends Error {
  override name = 'ChainUnavailableError'
}

/** Refusal of a call because too many calls of the same consumer wait for a node (HTTP 503). The node has not failed. */
export class ChainBusyError extends ChainUnavailableError {
  override name = 'ChainBusyError'
}

/**
 * Runs work that calls a chain's nodes. Turns their errors into ChainUnavailableError, also where a node refuses a
 * read. Errors of the classes in this file and programming errors are rethrown unchanged.
 * @param what beginning of the message, such as `chain "1"`
 */
export async function rethrowAsUnavailable<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ([AmountError, BridgeError, ChainUnavailableError].some((known) => error instanceof known))
      throw error
    if (isInternalError(error)) throw error
    throw new ChainUnavailableError(`${what}: ${errorSentence(error)}`, { cause: error })
  }
}

/** A smart wallet's signature to check on its chain. */
interface SignatureCheckQuery extends ContractSignature {
  wallet: Hex
  /** Signed hash, 32 bytes. */
  hash: Hex
  /** Called before each call of a node. */
  onCall(): void
}

/** An airdrop allocation, as the `claim` function of the distributor contract takes it. */
export interface AirdropDistributorClaim {
  index: number
  /** Account that owns the allocation, as bytes32. */
  account: Buffer
  /** Base units of the token. */
  amount: bigint
  /** Merkle proof of the allocation: hashes of 32 bytes in hex, without 0x. */
  proof: readonly string[]
}

/** EVM account that receives the allocation of an account on another chain, with the operator's permission. */
export interface PermittedClaimReceiver {
  to: Hex
  /** Last second at which the permission is valid, Unix time. */
  deadlineS: number
  /** The operator's signature (EIP-712). */
  signature: Hex
}

/** Signs permissions to claim for accounts on non-EVM chains, with the operator's key for airdrops. */
export interface ClaimPermissionSigner {
  sign(permission: ClaimPermission): Promise<Hex>
}

/** Payment for a community name, to be prepared. Names are canonical. Addresses are texts as responses show them. */
export interface CommunityPaymentRequest {
  community: string
  name: string
  /** Price on this chain. */
  price: CommunityPrice
  /** Payer, who gets the name. */
  payer: string
  /** Referrer as 32 bytes, null without a referrer. */
  referral: Uint8Array | null
}

/**
 * A transaction for the user to sign. `value` is in wei. A Solana transaction has only `data`: the serialized
 * transaction in base64.
 */
export type UnsignedTransaction =
  | { type: 'evm'; to: Hex; data: Hex; value: bigint }
  | { type: Exclude<PayerAddressType, 'evm'>; data: string }

export type CommunityPaymentTransaction = UnsignedTransaction & {
  /** Token approval to send first. Set when the payer's allowance is too small. */
  approval?: { to: Hex; data: Hex }
  /**
   * Transaction to send before the approval: some tokens refuse an approval while an allowance is left (USDT on
   * Ethereum).
   */
  approvalReset?: { to: Hex; data: Hex }
}

export type PaymentReleaseSigner = (approval: PaymentReleaseApproval) => Promise<Hex>

/** Symbol and decimals, in which people read and type a token's amounts. */
export interface TokenUnit {
  /**
   * Symbol that the token's contract returns, so of anybody's choice. Null unless it is 1 to 16 printable ASCII
   * characters without spaces.
   */
  symbol: string | null
  decimals: number
}

/** Communities on a chain: balances for their requirements, and payments for their names. */
export interface CommunityPaymentPort {
  /** Network label in the HTTP API: "1", "8453", ... */
  readonly label: string
  /** Address that takes payments, a contract or a program; null where none are taken. */
  readonly communityPayments: string | null
  /**
   * A wallet's balance of a token at the newest block, in base units (ERC-721: number of tokens). 0 where the address
   * is no token, since anybody may have named the address as a token. Both addresses are texts as responses show them.
   * @throws ChainUnavailableError, also while two nodes do not return equal balances
   */
  tokenBalance(token: string, wallet: string): Promise<bigint>
  /**
   * Like `tokenBalance`, but possibly a few seconds old. For checks that decide no payment and that anybody may
   * request. Absent where balances are not cached.
   */
  recentBalance?(token: string, wallet: string): Promise<bigint>
  /**
   * Unit in which people read and type a token's amounts. Two nodes have to agree, because typed prices are converted
   * by this unit. Absent on chains without tokens.
   * @returns decimals 0 where the address is no token @throws ChainUnavailableError
   */
  tokenUnit?(token: string): Promise<TokenUnit>
  /** True if a token has this address. Absent on chains that accept any address. @throws ChainUnavailableError */
  isToken?(token: string): Promise<boolean>
  /** Prepares a payment for the payer to sign. @throws ChainUnavailableError, also where the chain takes no payments */
  communityPayment(request: CommunityPaymentRequest): Promise<CommunityPaymentTransaction>
  /**
   * Transaction by which the recipient withdraws payments in one token. Null for an empty list, or where the chain takes
   * no payments. Absent on Solana, where the relayer pays recipients out.
   */
  communityPayout?(
    payments: readonly StoredPayment<CommunityNameTarget>[],
    sign: PaymentReleaseSigner,
  ): Promise<{ to: Hex; data: Hex } | null>
}

/** Money that a chain's contract or program owes to a payer or holds for the payer. */
export interface MoneyOwedToPayer {
  /** `native`, or the token's address or mint as responses show it. The amount is in base units. */
  token: string
  amount: bigint
  /** Payments that the money comes from. Empty where the chain keeps only their sum. */
  payments: readonly StoredPayment[]
  /** Time from which the payer may withdraw the money, ms. Null: now. */
  fromMs: number | null
  /** Transaction that withdraws the money. Null until `fromMs`. */
  transaction: UnsignedTransaction | null
}

export interface OwedMoneyQuery {
  /** Payer's address as responses show it. */
  payer: string
  /** Receiver of the money on an EVM chain. */
  to: string
  /** Tokens in which the payer may have credits. */
  tokens: readonly string[]
  /** Payments that are held, or refused and not yet withdrawn. */
  payments: readonly StoredPayment[]
  /** EVM contracts that took payments earlier and may still owe money for them. */
  former: readonly Hex[]
}

export interface RefundPort {
  /** Money owed to a payer or held for the payer, as of the chain's newest block. @throws ChainUnavailableError */
  owed(question: OwedMoneyQuery): Promise<MoneyOwedToPayer[]>
  /** LayerZero's id of the chain, absent where none is configured. */
  readonly eid?: number | undefined
  /**
   * Transaction by which a bidder withdraws what the hub owes for bids from this chain.
   * @param to receiver on the hub; null for the bidder's own address
   * @returns null where the bidder is a contract on a spoke and `to` is null: the contract may not exist on the hub's
   * chain
   * @throws ChainUnavailableError, BridgeError
   */
  withdrawal?(bidder: string, to: string | null): Promise<UnsignedTransaction | null>
}

/** A chain of any family (EVM or Solana) as the API uses it. */
export interface ChainPort extends CommunityPaymentPort {
  readonly family: ChainFamily
  readonly network: Network
  /** Chain number in the database, null until the chain was first reached. */
  readonly chain: number | null
  readonly role: 'hub' | 'spoke'
  /** Gas token as the API returns it. `decimals` is always a number here, unlike in a quote. */
  readonly gasToken: { readonly symbol: string; readonly decimals: number }
  /** True if the chain's contracts are another operator's, and the chains file allows no quotes for them. */
  readonly isWatchOnly: boolean
  /** Base URL of a block explorer, null where none is known. */
  readonly explorer: string | null
  readonly name: string
  /** RPC URLs that the API shows to wallets. Never the operator's own, except in a local world. */
  readonly publicRpcUrls: readonly string[]
  /** Address of the hub or spoke contract, or of the program that takes payments. */
  readonly contract: string
  /** EIP-155 id of the chain, null where it has none. */
  readonly chainId: number | null
  /** Maximum number of names in one quote. Absent: the API's limit of names in a request. */
  readonly maxNames?: number
  /** Largest bid, wei. Absent: 2^256 - 1. */
  readonly maxAmountWei?: bigint
  readonly refunds: RefundPort
  /** Quotes a registration. @throws AmountError, ChainUnavailableError, BridgeError */
  quote(request: RegistrationRequest): Promise<RegistrationQuote>
}

/** An EVM chain as the API uses it: names are bid for in its transactions. */
export interface EvmChainPort extends ChainPort {
  readonly chain: number
  readonly chainId: number
  communityPayment(
    request: CommunityPaymentRequest,
  ): Promise<CommunityPaymentTransaction & { type: 'evm' }>
  tokenUnit: NonNullable<CommunityPaymentPort['tokenUnit']>
  /** Number of configured nodes. */
  readonly nodes: number
  /**
   * True if one node reports that an account has code. One node is enough, because this only decides whether the
   * account's contract is asked about a signature.
   * @throws ChainUnavailableError
   */
  seemsToHaveCode(account: Hex): Promise<boolean>
  /**
   * Asks a wallet's contract whether a signature is valid (ERC-1271, ERC-6492). Two nodes have to give equal answers where
   * two are configured. False where they contradict each other or refuse the call.
   * @returns null where the account has no code, also after the deployment that the signature names
   * @throws ChainUnavailableError
   */
  isValidSignature(question: SignatureCheckQuery): Promise<boolean | null>
  /**
   * The primary ENS name that an account set at a reverse registrar (ENSIP-19). Null if the account set none, or if the
   * registrar does not return names.
   * @throws ChainUnavailableError
   */
  primaryName(registrar: Hex, account: Hex): Promise<string | null>
  /** Calldata with which an EVM account claims its own allocation of an airdrop. */
  claimData(claim: AirdropDistributorClaim): Hex
  /** Calldata that pays an allocation of an account of another chain to an EVM account. */
  claimForData(claim: AirdropDistributorClaim, to: PermittedClaimReceiver): Hex
  readonly refunds: RefundPort & Required<Pick<RefundPort, 'withdrawal'>>
  /**
   * Current state of a transaction.
   * @param confirmed number of the newest block that was confirmed before this call
   * @throws ChainUnavailableError
   */
  transaction(hash: Hex, confirmed: number): Promise<ChainTx>
  /**
   * Transaction of `sender` with this nonce in a block up to `confirmed`. Null if none is found: the nonce is unused, old
   * state is pruned, or two nodes do not agree.
   * @throws ChainUnavailableError
   */
  replacement(sender: Hex, nonce: number, confirmed: number): Promise<Hex | null>
  /**
   * Names for which a bridge packet from this chain bids. Empty where the hub refuses the packet. Null for a packet
   * that requests a withdrawal.
   */
  namesOfPacket(packet: Uint8Array): string[] | null
  quote(request: RegistrationRequest): Promise<EvmQuote>
}

export const isEvmChainPort = (port: ChainPort): port is EvmChainPort => port.family === EVM

export type PaymentTx = { state: 'unknown' } | (MinedTx & Pick<TransactionOrigin, 'isOurs'>)

/** A chain on which names are paid for. The relayer delivers each payment at the hub. */
export interface PaymentChainPort extends ChainPort {
  /** @param id transaction id as responses show it @throws ChainUnavailableError */
  transaction(id: string): Promise<PaymentTx>
}

export const isPaymentChainPort = (port: ChainPort): port is PaymentChainPort =>
  !isEvmChainPort(port)
