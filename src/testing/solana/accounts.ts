import { createHash } from 'node:crypto'
import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import { ed25519PublicKey } from '../../registry/primitives/ed25519.js'
import type { SolanaAccount } from '../world.js'

const SOLANA_ACCOUNT_COUNT = 5

type SolanaOperatorRole = 'deployer' | 'relayer' | 'treasurer'

/**
 * Keypair of an account that the local world uses for its own work. The secret key is derived from constants of this
 * file, so anybody can sign with it.
 */
export const solanaOperatorKeypair = (operator: SolanaOperatorRole): Keypair =>
  derivedKeypair(`operator ${operator}`)

/** Solana wallets for users of a local world. They are the same in every local world. */
export function solanaAccounts(): SolanaAccount[] {
  return Array.from({ length: SOLANA_ACCOUNT_COUNT }, (_, index) =>
    solanaAccountOf(derivedKeypair(`account ${index}`)),
  )
}

export function solanaAccountOf({ publicKey, secretKey }: Keypair): SolanaAccount {
  return { address: publicKey.toBase58(), secretKey: bs58.encode(secretKey) }
}

/** Keypair of an account's secret key. */
export const keypairOfAccount = ({ secretKey }: SolanaAccount): Keypair =>
  Keypair.fromSecretKey(bs58.decode(secretKey))

function derivedKeypair(role: string): Keypair {
  const seed = createHash('sha256').update(`clusterd local world, Solana, ${role}`).digest()
  return Keypair.fromSecretKey(Buffer.concat([seed, ed25519PublicKey(seed)]), {
    skipValidation: true,
  })
}
