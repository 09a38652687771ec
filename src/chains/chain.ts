import type { Hex } from 'viem'
import type { ChainConfig } from '../config/index.js'
import { isOwnError, sentenceOf } from '../ops/log/errors.js'
import type { ClaimPermission } from '../registry/airdrop/permission.js'
import type { ReleaseApproval } from '../registry/community/release.js'
import type { CommunityPrice } from '../registry/community/rules.js'
import { type AddressType, EVM, type Family } from '../registry/families.js'
import type { CommunityNameTarget, StoredPayment } from '../registry/payment/payment.js'
import type { Network } from '../registry/primitives/network.js'
import type { Confirmations } from '../registry/status.js'

export type { Hex }

export interface MinedTx {
  state: 'mined'
  /** Number of the block, or of the slot where the chain counts those. */
  block: number
  succeeded: boolean
  /** True if our contracts logged in it, or it paid at our program; true while a cluster can't show that. */
  isRegistration: boolean
  confirmations: Confirmations
  isConfirmed: boolean
}

export type ChainTx = { state: 'unknown' } | ({ state: 'mempool' } & Sent) | (MinedTx & Sent)

interface Sent {
  sender: Hex
  nonce: number
  /** True if it names a contract of ours, or one logged in it: others are not remembered. */
  isOurs: boolean
}

/** Names are canonical; amounts are each bid's value on the hub, ETH wei. */
export interface RegistrationRequest {
  sender: string
  names: readonly { name: string; amountWei: bigint }[]
  /** Referrer as 32 bytes, null for none. */
  referral: Uint8Array | null
  /** Waits until a part of a long quote may be made. */
  turn?: () => Promise<void>
}

/** Cost of a registration, in the smallest unit of the chain's gas token. */
export interface Quote {
  gasToken: { symbol: string; decimals: number | string }
  registrationFee: bigint
  /** Cost of the delivery to the hub. */
  bridgeFee: bigint
  /** Names in the order of the request. `amount` is the bid in the gas token. */
  names: readonly { name: string; amountWei: bigint; amount: bigint }[]
}

/** Amounts are in the smallest unit of the chain's gas token. */
export interface EvmQuote extends Quote {
  gasToken: ChainConfig['gasToken']
  transactionData: { to: Hex; data: Hex; value: bigint }
}

/** Failure of the bridge to quote (502 `bridge_failure`). */
export class BridgeError extends Error {
  override name = 'BridgeError'
}

/** 400 `invalid_amount`; the message is one sentence for the caller. */
export class AmountError extends Error {
  override name = 'AmountError'
}

/** Failure of every RPC URL of a chain (503 `unavailable`). */
export class ChainUnavailableError extends Error {
  override name = 'ChainUnavailableError'
}

/**
 * Asks a chain. Every error but those of this file and of our own code becomes a ChainUnavailableError, because a node
 * that refuses a plain question is as good as no node.
 * @param what begins the message: "chain \"1\""
 */
export async function orUnavailable<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ([AmountError, BridgeError, ChainUnavailableError].some((known) => error instanceof known))
      throw error
    if (isOwnError(error)) throw error
    throw new ChainUnavailableError(`${what}: ${sentenceOf(error)}`, { cause: error })
  }
}

export interface SignatureQuestion {
  wallet: Hex
  /** Signed hash, 32 bytes. */
  hash: Hex
  signature: Hex
  /** True if signatures of wallets that are not deployed yet count (ERC-6492). */
  acceptsErc6492: boolean
  /** Client who asks, by its address: anybody may ask about any wallet. */
  caller: string
}

/** An allocation in the form that a distributor's claim takes. */
export interface DistributorClaim {
  index: number
  /** bytes32 */
  account: Buffer
  /** Base units of the token. */
  amount: bigint
  /** Hashes of 32 bytes in hex, without 0x. */
  proof: readonly string[]
}

/** Receiver of the allocation of an account of another chain, permitted by the operator. */
export interface PermittedReceiver {
  to: Hex
  /** Last second at which the permission is valid, Unix time. */
  deadlineS: number
  signature: Hex
}

/** Operator key of airdrops: permits claims of accounts of other chains than EVM's (EIP-712). */
export interface PermissionSigner {
  sign(permission: ClaimPermission): Promise<Hex>
}

/** Names are canonical, addresses in their answer form. */
export interface CommunityPaymentRequest {
  community: string
  name: string
  /** Price on this chain. */
  price: CommunityPrice
  /** Payer, who gets the name. */
  payer: string
  /** Referrer as 32 bytes, null for none. */
  referral: Uint8Array | null
}

/** To be signed. `value` in wei; where only `data` is, the transaction is serialized in base64. */
export type UnsignedTransaction =
  | { type: 'evm'; to: Hex; data: Hex; value: bigint }
  | { type: Exclude<AddressType, 'evm'>; data: string }

export type CommunityPayment = UnsignedTransaction & {
  /** To be sent first, when the payer's allowance is too small. */
  approval?: { to: Hex; data: Hex }
  /** To be sent before the approval: some tokens take none while an allowance is left (USDT on Ethereum). */
  approvalReset?: { to: Hex; data: Hex }
}

export type ReleaseSigner = (word: ReleaseApproval) => Promise<Hex>

/** Communities on a chain: balances for their requirements, and payments for their names. */
export interface CommunityPort {
  /** Network label of the interface: "1", "8453", ... */
  readonly label: string
  /** Address that takes payments, a contract or a program; null where none are taken. */
  readonly communityPayments: string | null
  /**
   * A wallet's balance of a token at the newest block, in base units (ERC-721: number of tokens). 0 where the address
   * is no token, since anybody may have named it. Both addresses are in their answer form.
   * @throws ChainUnavailableError
   */
  tokenBalance(token: string, wallet: string): Promise<bigint>
  /** As `tokenBalance`, some seconds old at most: for checks that decide nothing, which anybody may ask for. */
  recentBalance?(token: string, wallet: string): Promise<bigint>
  /** Absent where any address may be named. @throws ChainUnavailableError */
  isToken?(token: string): Promise<boolean>
  /** @throws ChainUnavailableError, also where no payments are taken */
  communityPayment(request: CommunityPaymentRequest): Promise<CommunityPayment>
  /** Transaction with which the recipient of payments in one token takes them; null where none is needed or taken. */
  communityPayout?(
    payments: readonly StoredPayment<CommunityNameTarget>[],
    sign: ReleaseSigner,
  ): Promise<{ to: Hex; data: Hex } | null>
}

/** Money that a chain's contract or program owes to a payer, or holds of it. */
export interface OwedMoney {
  /** `native`, or the token's address or mint in its answer form; amount in base units. */
  token: string
  amount: bigint
  /** Payments that it comes from; none where the chain keeps only their sum. */
  payments: readonly StoredPayment[]
  /** Time from which on the payer may take it, ms; null for now. */
  fromMs: number | null
  /** Null until then. */
  transaction: UnsignedTransaction | null
}

export interface OwedQuestion {
  /** Answer form. */
  payer: string
  /** Receiver of the money on an EVM chain. */
  to: string
  /** Tokens in which the payer may have credits. */
  tokens: readonly string[]
  /** Payments that are held, or wait for their payer. */
  payments: readonly StoredPayment[]
  /** Contracts that took payments on an EVM chain before, and may owe them still. */
  former: readonly Hex[]
}

export interface RefundPort {
  /** As of the chain's newest block. @throws ChainUnavailableError */
  owed(question: OwedQuestion): Promise<OwedMoney[]>
  /** LayerZero's id of the chain, absent where none is configured. */
  readonly eid?: number | undefined
  /**
   * Transaction with which a bidder withdraws what the hub owes it for bids from this chain.
   * @param to receiver on the hub; null for the bidder itself
   * @returns null for a contract on a spoke without a receiver: the same address on the hub may be nobody's
   * @throws ChainUnavailableError, BridgeError
   */
  withdrawal?(bidder: string, to: string | null): Promise<UnsignedTransaction | null>
}

/** A chain of any family as the API sees it. */
export interface ChainPort extends CommunityPort {
  readonly family: Family
  readonly network: Network
  /** Chain number in the database, null until the chain was first reached. */
  readonly chain: number | null
  readonly role: 'hub' | 'spoke'
  /** In answers: decimals are a number, whatever a quote shows. */
  readonly gasToken: { readonly symbol: string; readonly decimals: number }
  /** True if the contracts are third-party; quotes are off. */
  readonly isWatchOnly: boolean
  /** Base URL of a block explorer, null where none is known. */
  readonly explorer: string | null
  /** EIP-155 id of the chain, null where it has none. */
  readonly chainId: number | null
  /** Names of one quote at most; absent: those of a request. */
  readonly maxNames?: number
  /** Largest bid, wei; absent: 2^256 - 1. */
  readonly maxAmountWei?: bigint
  readonly refunds: RefundPort
  /** @throws AmountError, ChainUnavailableError, BridgeError */
  quote(request: RegistrationRequest): Promise<Quote>
}

/** An EVM chain, on which names are bid for: transactions, quotes, packets. */
export interface EvmPort extends ChainPort {
  readonly chain: number
  readonly chainId: number
  communityPayment(request: CommunityPaymentRequest): Promise<CommunityPayment & { type: 'evm' }>
  /** Asks a wallet's contract (ERC-1271); false for an account without one. @throws ChainUnavailableError */
  isValidSignature(question: SignatureQuestion): Promise<boolean>
  /** Calldata with which an EVM account claims its own allocation of an airdrop. */
  claimData(claim: DistributorClaim): Hex
  /** Calldata that pays an allocation of an account of another chain to an EVM account. */
  claimForData(claim: DistributorClaim, to: PermittedReceiver): Hex
  readonly refunds: RefundPort & Required<Pick<RefundPort, 'withdrawal'>>
  /**
   * Current state of a transaction.
   * @param confirmed the newest block that was confirmed before the question, below which no reorg reaches
   * @throws ChainUnavailableError
   */
  transaction(hash: Hex, confirmed: number): Promise<ChainTx>
  /** Transaction that used a nonce up to a confirmed block, if any. @throws ChainUnavailableError */
  replacement(sender: Hex, nonce: number, confirmed: number): Promise<Hex | null>
  /** As `messageNames`, of a packet sent from this chain. */
  namesOfPacket(packet: Uint8Array): string[] | null
  quote(request: RegistrationRequest): Promise<EvmQuote>
}

export const isEvmPort = (port: ChainPort): port is EvmPort => port.family === EVM

export type PaymentTx = { state: 'unknown' } | (MinedTx & Pick<Sent, 'isOurs'>)

/** A chain on which names are paid for; the relayer delivers each payment at the hub. */
export interface PaymentPort extends ChainPort {
  /** @param id in its answer form @throws ChainUnavailableError */
  transaction(id: string): Promise<PaymentTx>
}

export const isPaymentPort = (port: ChainPort): port is PaymentPort => !isEvmPort(port)
