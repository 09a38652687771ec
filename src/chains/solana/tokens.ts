import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import type { Call } from '../rpc/nodes.js'
import { type RawAccount, readAccount } from './reads.js'
import { reads, signs, writes } from './registrar.js'

/** The SPL Token program, and the program of associated token accounts: one per wallet and mint. */
export const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')

/** Layout of spl-token's `Mint` and `Account`. */
const MINT_BYTES = 82
const MINT_DECIMALS_OFFSET = 44
const MINT_INITIALIZED_OFFSET = 45
const TOKEN_ACCOUNT_BYTES = 165
const TOKEN_AMOUNT_OFFSET = 64
/** Token-2022; the registrar takes no payments in its tokens. */
const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
/** Offset of the account type in Token-2022 accounts with extensions. */
const ACCOUNT_TYPE_OFFSET = 165
const ACCOUNT_TYPE = { mint: 1, account: 2 }
/** Part of an account that is read, as wallets show it: anybody may name one of megabytes as a token. */
const SLICE = { commitment: 'confirmed', dataSlice: { offset: 0, length: ACCOUNT_TYPE_OFFSET + 1 } } as const
/** Instruction of the associated token program: creates the account unless it exists. */
const CREATE_IDEMPOTENT = 1

/** Associated token account of a wallet and mint. */
export const associatedTokenAddress = (owner: PublicKey, mint: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync(
    [owner.toBytes(), TOKEN_PROGRAM.toBytes(), mint.toBytes()],
    ASSOCIATED_TOKEN_PROGRAM,
  )[0]

/** Creates a wallet's associated token account unless it exists. `payer` signs and pays its rent. */
export const createAssociated = (payer: PublicKey, owner: PublicKey, mint: PublicKey): TransactionInstruction =>
  new TransactionInstruction({
    programId: ASSOCIATED_TOKEN_PROGRAM,
    keys: [
      signs(payer),
      writes(associatedTokenAddress(owner, mint)),
      ...[owner, mint, SystemProgram.programId, TOKEN_PROGRAM].map(reads),
    ],
    data: Buffer.of(CREATE_IDEMPOTENT),
  })

/** Reads the decimals of an SPL mint; null for anything else, Token-2022 mints included. */
export async function readMintDecimals(call: Call, mint: PublicKey): Promise<number | null> {
  const found = await readMint(call, mint)
  return found?.program === TOKEN_PROGRAM.toBase58() ? found.decimals : null
}

/** Reads a mint of either token program; null for anything else. */
export async function readMint(call: Call, mint: PublicKey) {
  const account = await readAccount(call, mint, SLICE)
  const data = account && tokenData(account, MINT_BYTES, ACCOUNT_TYPE.mint)
  if (!account || data?.[MINT_INITIALIZED_OFFSET] !== 1) return null
  return { program: account.owner, decimals: data[MINT_DECIMALS_OFFSET]! }
}

/**
 * Balance of a wallet over all its accounts of a token, base units. Counts both token programs, since a balance is only
 * looked at; 0 for an address that is no mint.
 */
export async function readTokenBalance(call: Call, owner: PublicKey, mint: PublicKey): Promise<bigint> {
  const found = await readTokenAccounts(call, owner, mint)
  return found.reduce((sum, { amount }) => sum + amount, 0n)
}

/** A token account of a wallet. */
export interface TokenAccount {
  address: PublicKey
  /** Base units. */
  amount: bigint
}

/** Reads a wallet's token accounts of a mint. */
export async function readTokenAccounts(call: Call, owner: PublicKey, mint: PublicKey): Promise<TokenAccount[]> {
  const found = await readMint(call, mint)
  // nodes refuse the query for an address that is no mint
  if (!found) return []
  const { value } = await call<{ value: { pubkey: string; account: RawAccount }[] }>('getTokenAccountsByOwner', [
    owner.toBase58(),
    { mint: mint.toBase58() },
    { encoding: 'base64', ...SLICE },
  ])
  return value.flatMap(({ pubkey, account }) => {
    const data = account.owner === found.program ? tokenData(account, TOKEN_ACCOUNT_BYTES, ACCOUNT_TYPE.account) : null
    const isOfOwner = data?.subarray(0, 32).equals(mint.toBytes()) && data.subarray(32, 64).equals(owner.toBytes())
    return data && isOfOwner
      ? [{ address: new PublicKey(pubkey), amount: data.readBigUInt64LE(TOKEN_AMOUNT_OFFSET) }]
      : []
  })
}

/**
 * Data of an account of this type; null for others. Token-2022 stores the type behind the data common to both programs.
 */
function tokenData({ owner, data: [base64] }: RawAccount, bytes: number, type: number): Buffer | null {
  const data = Buffer.from(base64, 'base64')
  const isExtended = owner === TOKEN_2022_PROGRAM && data.length > ACCOUNT_TYPE_OFFSET
  if (isExtended) return data[ACCOUNT_TYPE_OFFSET] === type ? data : null
  const isOfToken = owner === TOKEN_PROGRAM.toBase58() || owner === TOKEN_2022_PROGRAM
  return isOfToken && data.length === bytes ? data : null
}
