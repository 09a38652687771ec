import type { Hex } from 'viem'
import type { ClaimPermission } from '../registry/airdrop/permission.js'
import type { CommunityPrice } from '../registry/community/rules.js'
import type { Network } from '../registry/primitives/network.js'
import type { Confirmations } from '../registry/status.js'

/** A hex string with 0x prefix. */
export type { Hex }

/** The token in which a chain's gas is paid. */
export interface GasToken {
  symbol: string
  /** Decimals of the smallest unit; Solana answers its unit by name (`lamports`). */
  decimals: number
}

/** What a chain answers now for a transaction hash. */
export type ChainTx =
  | { state: 'unknown' }
  | { state: 'mempool'; sender: Hex; nonce: number }
  | {
      state: 'mined'
      sender: Hex
      nonce: number
      block: number
      succeeded: boolean
      /** Our contracts logged in it. */
      isRegistration: boolean
      confirmations: Confirmations
      isConfirmed: boolean
    }

/** What a registration asks of a chain. Names are canonical, amounts what each bid is worth on the hub in ETH wei. */
export interface RegistrationRequest {
  sender: string
  names: readonly { name: string; amountWei: bigint }[]
  /** 32 bytes that name who is credited, null for nobody. */
  referral: Uint8Array | null
}

/** Transaction data for a registration on an EVM chain; amounts in the smallest unit of the chain's gas token. */
export interface EvmQuote {
  gasToken: GasToken
  transactionData: { to: Hex; data: Hex; value: bigint }
  registrationFee: bigint
  bridgeFee: bigint
  /** The same order as asked. `amount` is the bid in the gas token. */
  names: readonly { name: string; amountWei: bigint; amount: bigint }[]
}

/** The bridge can't quote now (502 `bridge_failure`). */
export class BridgeError extends Error {
  override name = 'BridgeError'
}

/** A chain could not be asked: every RPC URL failed (503 `unavailable`). */
export class ChainUnavailableError extends Error {
  override name = 'ChainUnavailableError'
}

/**
 * Runs a question to a chain. Whatever error it throws but a BridgeError becomes a ChainUnavailableError: a node's refusal of a
 * plain question is as good as no answer.
 * @param what begins the message: "chain \"1\""
 */
export async function orUnavailable<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ChainUnavailableError || error instanceof BridgeError) throw error
    throw new ChainUnavailableError(`${what}: ${(error as Error).message}`, { cause: error })
  }
}

export interface SignatureQuestion {
  wallet: Hex
  /** What was signed, 32 bytes. */
  hash: Hex
  signature: Hex
  /** Whether the wallet may be one that is not deployed yet (ERC-6492). */
  acceptsErc6492: boolean
}

/** Smart wallets on a chain: accounts whose contract says what is their signature (ERC-1271). */
export interface SmartWalletPort {
  /** EIP-155 id of the chain. */
  readonly chainId: number
  /** Asks the wallet's contract. An account without one has no such signatures. @throws ChainUnavailableError */
  isValidSignature(question: SignatureQuestion): Promise<boolean>
}

/** An allocation as an airdrop's distributor takes its claim. */
export interface DistributorClaim {
  index: number
  /** As a bytes32. */
  account: Buffer
  /** The token's base units. */
  amount: bigint
  /** 32 bytes each in hex, without 0x. */
  proof: readonly string[]
}

/** To whom an operator permits that a Solana account's allocation is paid. */
export interface PermittedReceiver {
  to: Hex
  /** Unix time, seconds: the last at which the permission is good. */
  deadlineS: number
  signature: Hex
}

/** Airdrop distributors on a chain. */
export interface DistributorPort {
  /** EIP-155 id of the chain. */
  readonly chainId: number
  /** Calldata that pays an EVM account itself. */
  claim(claim: DistributorClaim): Hex
  /** Calldata that pays a Solana account's tokens to an EVM account. */
  claimFor(claim: DistributorClaim, permitted: PermittedReceiver): Hex
}

/** The operator's key of airdrops, which permits claims of Solana accounts (EIP-712). */
export interface PermissionSigner {
  readonly address: Hex
  sign(permission: ClaimPermission): Promise<Hex>
}

/** A payment for a community name that somebody is to make. Names are canonical, addresses in their answer form. */
export interface CommunityPaymentRequest {
  community: string
  name: string
  /** Its network is this chain's. */
  price: CommunityPrice
  /** Who pays, and gets the name. */
  payer: string
  /** 32 bytes that name who is credited, null for nobody. */
  referral: Uint8Array | null
}

/** Transaction data of such a payment on an EVM chain. */
export interface EvmCommunityPayment {
  to: Hex
  data: Hex
  value: bigint
  /** A transaction to be made before, where the payer has not approved as much of the token. */
  approval?: { to: Hex; data: Hex }
}

/** The same on Solana: an unsigned legacy transaction. */
export interface SolanaCommunityPayment {
  base64: string
}

/** What communities ask of a chain: balances for their requirements, and payments for their names. */
export interface CommunityPort<Payment> {
  /** Network label of the interface. */
  readonly label: string
  /** Who takes payments there, a contract or a program; null where none are taken. */
  readonly communityPayments: string | null
  /**
   * A wallet's balance of a token, in base units (of an ERC-721: how many), at the newest block. 0 where the token is no token:
   * it is what anybody has named. Both are addresses of this chain in their answer form.
   * @throws ChainUnavailableError
   */
  tokenBalance(token: string, wallet: string): Promise<bigint>
  /** @throws ChainUnavailableError, also where no payments are taken */
  communityPayment(request: CommunityPaymentRequest): Promise<Payment>
}

/** How a chain shows itself to the API: what it says of a transaction, and what a registration on it takes. */
export interface ChainPort extends CommunityPort<EvmCommunityPayment> {
  readonly network: Network
  /** The number of the chain in the database. */
  readonly chain: number
  /** Network label of the interface: "1", "8453", ... */
  readonly label: string
  readonly role: 'hub' | 'spoke'
  readonly gasToken: GasToken
  /** The contracts are somebody else's and quotes are off. */
  readonly isWatchOnly: boolean
  /** Absent where a chain has none. */
  readonly smartWallets?: SmartWalletPort
  /** Absent where a chain has none. */
  readonly distributors?: DistributorPort
  /** @throws ChainUnavailableError */
  transaction(hash: Hex): Promise<ChainTx>
  /** The transaction that took this nonce, once it is confirmed; null while it is unused or unconfirmed. @throws ChainUnavailableError */
  replacement(sender: Hex, nonce: number): Promise<Hex | null>
  /** Latest block, and the newest block that counts as confirmed. @throws ChainUnavailableError */
  head(): Promise<{ latest: number; confirmed: number }>
  /**
   * The names that a packet sent from here asks the hub for, in order, canonical or as raw words in hex. Empty when the hub
   * refuses it as a whole, null when it asks for no name (a withdrawal).
   */
  namesOfPacket(packet: Uint8Array): string[] | null
  /** @throws ChainUnavailableError, BridgeError */
  quote(request: RegistrationRequest): Promise<EvmQuote>
}

/** What a Solana cluster answers now for a signature. */
export type SolanaTx =
  | { state: 'unknown' }
  | {
      state: 'seen'
      slot: number
      succeeded: boolean
      /** It paid at our program, or may have: the cluster doesn't show what it did yet. */
      isRegistration: boolean
      confirmations: Confirmations
      isConfirmed: boolean
    }

/** An unsigned legacy transaction as `Transaction.toJSON` of @solana/web3.js writes it; keys in base58. */
export interface SolanaTransactionJson {
  recentBlockhash: string
  feePayer: string
  nonceInfo: null
  instructions: {
    keys: { pubkey: string; isSigner: boolean; isWritable: boolean }[]
    programId: string
    data: number[]
  }[]
  signers: []
}

/** Transactions for a registration on Solana, one a name; amounts in lamports. */
export interface SolanaQuote {
  gasToken: { symbol: 'SOL'; decimals: 'lamports' }
  /** Unsigned, the same order as the names: serialized in base64, and as JSON. */
  transactions: readonly { base64: string; json: SolanaTransactionJson }[]
  registrationFee: bigint
  /** What the relay costs the hub. */
  bridgeFee: bigint
  /** The same order as asked. `amount` is the bid in lamports. */
  names: readonly { name: string; amountWei: bigint; amount: bigint }[]
}

/** How a network's Solana cluster shows itself to the API. */
export interface SolanaPort extends CommunityPort<SolanaCommunityPayment> {
  readonly network: Network
  /** The number of the chain in the database, null until it was first reached. */
  readonly chain: number | null
  /** Network label of the interface: "solana". */
  readonly label: string
  /** The most that a bid may be, wei: the program counts in 128 bits. */
  readonly maxAmountWei: bigint
  /** @param signature base58 of 64 bytes @throws ChainUnavailableError */
  transaction(signature: string): Promise<SolanaTx>
  /** @throws ChainUnavailableError, also where a price feed is stale or has jumped */
  quote(request: RegistrationRequest): Promise<SolanaQuote>
}
