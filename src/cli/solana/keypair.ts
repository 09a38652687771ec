import { Keypair } from '@solana/web3.js'
import { solanaKeyIn } from '../../config/relayerKey.js'

/** The key in a file that `solana-keygen` wrote. @param option names it in errors @throws ConfigError */
export const keypairIn = (file: string, option: string): Keypair => Keypair.fromSecretKey(solanaKeyIn(file, option))

/** Price of a compute unit, millionths of a lamport. @throws Error with one sentence */
export function unitPriceOf({ unitPrice = '0' }: { unitPrice?: string }): number {
  if (!/^[0-9]{1,9}$/.test(unitPrice)) throw new Error('--unit-price is a number of millionths of a lamport.')
  return Number(unitPrice)
}
