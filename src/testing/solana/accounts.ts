import { createHash } from 'node:crypto'
import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import type { SolanaAccount } from '../world.js'

const ACCOUNTS = 5

/** Who does the world's own work on the local Solana. */
export type SolanaOperator = 'deployer' | 'relayer' | 'treasurer'

/** The key of one of the world's own workers; a public one, as all local keys. */
export const solanaOperator = (operator: SolanaOperator): Keypair => localKey(`operator ${operator}`)

/** Wallets for whoever plays with a local world: the same in every one. */
export function solanaAccounts(): SolanaAccount[] {
  return Array.from({ length: ACCOUNTS }, (_, index) => describeAccount(localKey(`account ${index}`)))
}

export function describeAccount({ publicKey, secretKey }: Keypair): SolanaAccount {
  return { address: publicKey.toBase58(), secretKey: bs58.encode(secretKey) }
}

/** The key of an account as described. */
export const keypairOf = ({ secretKey }: SolanaAccount): Keypair => Keypair.fromSecretKey(bs58.decode(secretKey))

function localKey(role: string): Keypair {
  return Keypair.fromSeed(createHash('sha256').update(`clusterd local world, Solana, ${role}`).digest())
}
