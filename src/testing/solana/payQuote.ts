import { Connection, VersionedTransaction } from '@solana/web3.js'
import type { SolanaAccount, WorldSolana } from '../world.js'
import { keypairOf } from './accounts.js'

/**
 * Signs a transaction as a quote gives it (base64) and sends it, as a wallet does, without waiting for it.
 * @returns its signature
 * @throws web3.js's SendTransactionError, with the program's log, when the node's trial run of it fails
 */
export async function payQuote(
  { rpcUrl, wsUrl }: Pick<WorldSolana, 'rpcUrl' | 'wsUrl'>,
  account: SolanaAccount,
  transaction: string,
): Promise<string> {
  const connection = new Connection(rpcUrl, { wsEndpoint: wsUrl, commitment: 'confirmed' })
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  signed.sign([keypairOf(account)])
  return connection.sendRawTransaction(signed.serialize(), { preflightCommitment: 'confirmed' })
}
