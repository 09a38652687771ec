import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import { NodeError, RpcError, transientError } from '../rpc/errors.js'
import type { RpcCall } from '../rpc/nodes.js'
import { readAccount, type UndecodedAccount } from './reads.js'
import { readonlyAccount, writableAccount, writableSignerAccount } from './registrar.js'

/** The SPL Token program, and the program of associated token accounts, of which each wallet has one per mint. */
export const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')

/** Commitment at which balances are read: the commitment at which wallets show balances to their users. */
export const WALLET_COMMITMENT = 'confirmed'
/** Options that read an account's owner without its data: anybody may name an account of megabytes as a token. */
const OWNER_READ_OPTIONS = {
  commitment: WALLET_COMMITMENT,
  dataSlice: { offset: 0, length: 0 },
} as const
/** Position of the balance in the data of a token account, in bytes. Equal for SPL Token and Token-2022. */
const AMOUNT_SLICE = { offset: 64, length: 8 }
/** Number of the associated token program's instruction that creates the account unless it exists. */
const CREATE_IDEMPOTENT_INSTRUCTION = 1

export const associatedTokenAddress = (owner: PublicKey, mint: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync(
    [owner.toBytes(), TOKEN_PROGRAM.toBytes(), mint.toBytes()],
    ASSOCIATED_TOKEN_PROGRAM,
  )[0]

/** Instruction that creates an associated token account unless it exists. `payer` signs and pays the rent. */
export const createTokenAccountInstruction = (
  payer: PublicKey,
  owner: PublicKey,
  mint: PublicKey,
): TransactionInstruction =>
  new TransactionInstruction({
    programId: ASSOCIATED_TOKEN_PROGRAM,
    keys: [
      writableSignerAccount(payer),
      writableAccount(associatedTokenAddress(owner, mint)),
      ...[owner, mint, SystemProgram.programId, TOKEN_PROGRAM].map(readonlyAccount),
    ],
    data: Buffer.of(CREATE_IDEMPOTENT_INSTRUCTION),
  })

/** Reads the decimals of a mint of SPL Token. Null for any other address, also for a Token-2022 mint. */
export async function readSplTokenMintDecimals(
  call: RpcCall,
  mint: PublicKey,
): Promise<number | null> {
  const [decimals, { value }] = await Promise.all([
    readMintDecimalsOrNull(call, mint),
    readAccount(call, mint, OWNER_READ_OPTIONS),
  ])
  return value?.owner === TOKEN_PROGRAM.toBase58() ? decimals : null
}

/**
 * Reads the decimals of a mint of SPL Token or Token-2022. Null for any other address: nodes refuse to read its supply.
 */
export async function readMintDecimalsOrNull(
  call: RpcCall,
  mint: PublicKey,
): Promise<number | null> {
  const params = [mint.toBase58(), { commitment: WALLET_COMMITMENT }]
  const supply = await fallbackOnExpectedError(
    call<{ value: { decimals: number } }>('getTokenSupply', params),
    isNotMintError,
    null,
  )
  return supply?.value.decimals ?? null
}

/** JSON-RPC code "invalid params", with which nodes report that an address is not a mint. */
const INVALID_PARAMS_CODE = -32_602
/** Matches the message or the data of the error that an address is not a mint. */
const NO_MINT_PATTERN = /mint|find account|token account/i

function isNotMintError(error: unknown): boolean {
  const cause = error instanceof RpcError ? error.cause : null
  return (
    cause instanceof NodeError &&
    cause.code === INVALID_PARAMS_CODE &&
    NO_MINT_PATTERN.test(`${cause.details} ${cause.data}`)
  )
}

/**
 * Sum of the balances of a wallet's token accounts of a mint (SPL Token or Token-2022), base units. 0 where `token` is
 * not a mint.
 * @throws RpcError
 */
export async function readTokenBalance(
  call: RpcCall,
  token: string,
  wallet: string,
): Promise<bigint> {
  const accounts = await readTokenAccounts(call, new PublicKey(wallet), new PublicKey(token))
  return accounts.reduce((sum, { amount }) => sum + amount, 0n)
}

type RawTokenAccount = { pubkey: string; account: UndecodedAccount }

interface TokenAccount {
  address: PublicKey
  /** Base units. */
  amount: bigint
}

/** Reads a wallet's token accounts of a mint. Empty where the address is not a mint. */
export async function readTokenAccounts(
  call: RpcCall,
  owner: PublicKey,
  mint: PublicKey,
): Promise<TokenAccount[]> {
  const options = { encoding: 'base64', commitment: WALLET_COMMITMENT, dataSlice: AMOUNT_SLICE }
  const params = [owner.toBase58(), { mint: mint.toBase58() }, options]
  const response = await fallbackOnExpectedError(
    call<{ value: RawTokenAccount[] }>('getTokenAccountsByOwner', params),
    isNotMintError,
    null,
  )
  return (response?.value ?? []).map(({ pubkey, account }) => {
    const amount = Buffer.from(account.data[0], 'base64')
    if (amount.length !== AMOUNT_SLICE.length)
      throw transientError('getTokenAccountsByOwner: a node gave another slice than asked')
    return { address: new PublicKey(pubkey), amount: amount.readBigUInt64LE() }
  })
}
