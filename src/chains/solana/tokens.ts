import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import type { Call } from '../nodes.js'
import type { Commitment } from './reads.js'
import { reads, signs, writes } from './registrar.js'

/** The SPL Token program, and the one that gives each wallet its one account a token. */
export const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
export const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')

/** spl-token's `Mint` and `Account`. */
const MINT_BYTES = 82
const MINT_DECIMALS_OFFSET = 44
const MINT_INITIALIZED_OFFSET = 45
const TOKEN_ACCOUNT_BYTES = 165
const AMOUNT_OFFSET = 64
/** Of the associated token program: makes the account unless it is there. */
const CREATE_IDEMPOTENT = 1

/** Where wallets keep their tokens of a mint. */
export const associatedTokenAddress = (owner: PublicKey, mint: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync(
    [owner.toBytes(), TOKEN_PROGRAM.toBytes(), mint.toBytes()],
    ASSOCIATED_TOKEN_PROGRAM,
  )[0]

/** Makes a wallet's associated token account where there is none. `payer` signs and pays its rent. */
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

interface RawAccount {
  data: [string, 'base64']
  owner: string
}

/** The decimals of an SPL mint; null where there is none at this address, one of Token-2022's among them. */
export async function readMintDecimals(call: Call, mint: PublicKey, commitment: Commitment): Promise<number | null> {
  const options = { commitment, encoding: 'base64' }
  const { value } = await call<{ value: RawAccount | null }>('getAccountInfo', [mint.toBase58(), options])
  if (value?.owner !== TOKEN_PROGRAM.toBase58()) return null
  const data = Buffer.from(value.data[0], 'base64')
  return data.length === MINT_BYTES && data[MINT_INITIALIZED_OFFSET] === 1 ? data[MINT_DECIMALS_OFFSET]! : null
}

/** What a wallet has of an SPL token, in base units, in all its token accounts together. 0 of what is no mint. */
export async function readTokenBalance(
  call: Call,
  owner: PublicKey,
  mint: PublicKey,
  commitment: Commitment,
): Promise<bigint> {
  const found = await readTokenAccounts(call, owner, mint, commitment)
  return found.reduce((sum, { amount }) => sum + amount, 0n)
}

/** A token account of a wallet. */
export interface TokenAccount {
  address: PublicKey
  /** Base units. */
  amount: bigint
}

/** The token accounts that a wallet owns of an SPL token. */
export async function readTokenAccounts(
  call: Call,
  owner: PublicKey,
  mint: PublicKey,
  commitment: Commitment,
): Promise<TokenAccount[]> {
  // a node refuses the question about what is no mint
  if ((await readMintDecimals(call, mint, commitment)) === null) return []
  const { value } = await call<{ value: { pubkey: string; account: RawAccount }[] }>('getTokenAccountsByOwner', [
    owner.toBase58(),
    { mint: mint.toBase58() },
    { commitment, encoding: 'base64' },
  ])
  return value.flatMap(({ pubkey, account }) => {
    const data = Buffer.from(account.data[0], 'base64')
    const isOne = account.owner === TOKEN_PROGRAM.toBase58() && data.length === TOKEN_ACCOUNT_BYTES
    const isOfOwner = data.subarray(0, 32).equals(mint.toBytes()) && data.subarray(32, 64).equals(owner.toBytes())
    return isOne && isOfOwner ? [{ address: new PublicKey(pubkey), amount: data.readBigUInt64LE(AMOUNT_OFFSET) }] : []
  })
}
