import {
  type Connection,
  Keypair,
  type PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import {
  type CommunityPaymentTerms,
  createCommunityPaymentInstructions,
  derivePaymentNumber,
  type PaymentToken,
} from '../../src/chains/solana/community/program.js'
import { createRegistrarClient } from '../../src/chains/solana/registrar.js'
import {
  associatedTokenAddress,
  createTokenAccountInstruction,
  TOKEN_PROGRAM,
} from '../../src/chains/solana/tokens.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { sendSolanaTransaction } from './sendSolana.js'

/** Instructions of the SPL Token program: tags u8, fields without padding. */
const TOKEN_INSTRUCTION = { MINT_TO: 7, INITIALIZE_MINT_2: 20 }
const MINT_BYTES = 82

/** Creates an SPL token that `authority` may mint and pays for. @returns its mint */
export async function createMint(
  connection: Connection,
  authority: Keypair,
  decimals = 6,
): Promise<PublicKey> {
  const mint = Keypair.generate()
  await sendSolanaTransaction(
    connection,
    [authority, mint],
    SystemProgram.createAccount({
      fromPubkey: authority.publicKey,
      newAccountPubkey: mint.publicKey,
      lamports: await connection.getMinimumBalanceForRentExemption(MINT_BYTES),
      space: MINT_BYTES,
      programId: TOKEN_PROGRAM,
    }),
    new TransactionInstruction({
      programId: TOKEN_PROGRAM,
      keys: [{ pubkey: mint.publicKey, isSigner: false, isWritable: true }],
      // no freeze authority
      data: Buffer.concat([
        Buffer.of(TOKEN_INSTRUCTION.INITIALIZE_MINT_2, decimals),
        authority.publicKey.toBytes(),
        Buffer.of(0),
      ]),
    }),
  )
  return mint.publicKey
}

/** Mints tokens into a wallet's associated account, created if absent; the authority pays. */
export async function mintTokens(
  connection: Connection,
  authority: Keypair,
  { mint, owner, amount }: { mint: PublicKey; owner: PublicKey; amount: bigint },
): Promise<void> {
  const data = Buffer.alloc(9)
  data.writeUInt8(TOKEN_INSTRUCTION.MINT_TO, 0)
  data.writeBigUInt64LE(amount, 1)
  await sendSolanaTransaction(
    connection,
    [authority],
    createTokenAccountInstruction(authority.publicKey, owner, mint),
    new TransactionInstruction({
      programId: TOKEN_PROGRAM,
      keys: [
        { pubkey: mint, isSigner: false, isWritable: true },
        { pubkey: associatedTokenAddress(owner, mint), isSigner: false, isWritable: true },
        { pubkey: authority.publicKey, isSigner: true, isWritable: false },
      ],
      data,
    }),
  )
}

/** A transaction as v0.1 answers it. */
export interface LegacyTransaction {
  recentBlockhash: string
  feePayer: string
  instructions: {
    keys: { pubkey: string; isSigner: boolean; isWritable: boolean }[]
    programId: string
    data: number[]
  }[]
}

export interface CommunityPaymentOrder extends Pick<CommunityPaymentTerms, 'amount' | 'recipient'> {
  community: string
  name: string
  /** SOL when absent. */
  token?: PaymentToken
}

/** Pays for a community name and waits for confirmation. @returns the signature @throws as `sendSolana` */
export function payCommunity(
  connection: Connection,
  programId: string,
  payer: Keypair,
  { community, name, token, ...order }: CommunityPaymentOrder,
): Promise<string> {
  const words = {
    community: nameToWord(community),
    name: nameToWord(name),
    referral: new Uint8Array(32),
  }
  const number = derivePaymentNumber(words.community, words.name)
  const terms: CommunityPaymentTerms = { ...order, ...words, payer: payer.publicKey, number }
  return sendSolanaTransaction(
    connection,
    [payer],
    createCommunityPaymentInstructions(createRegistrarClient(programId)).pay(terms, token),
  )
}
