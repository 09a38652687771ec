import { randomBytes } from 'node:crypto'
import bs58 from 'bs58'
import { ed25519PublicKey } from '../../registry/primitives/ed25519.js'
import type { GeneratedRelayerKey } from '../family.js'

/** Generates a key for the relay authority, with which the relayer signs on Solana. */
export function generateSolanaRelayerKey(): GeneratedRelayerKey {
  const seed = randomBytes(32)
  const publicKey = ed25519PublicKey(seed)
  const relay = bs58.encode(publicKey)
  return {
    variable: 'SOLANA_RELAYER_KEY_FILE',
    file: 'solana-relayer.json',
    // seed and public key as one list of bytes, the file format of solana-keygen
    content: `${JSON.stringify([...seed, ...publicKey])}\n`,
    note: `The relay authority on Solana is ${relay}.`,
    steps: (network) => [
      `clusterd solana deploy${network} --keypair <file>   # the program, paid by this key`,
      `clusterd solana init${network} --upgrade-authority <its key> --admin <key> --relay ${relay} --treasury <key> --keypair <file>`,
    ],
  }
}
