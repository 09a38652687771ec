import { Connection, VersionedTransaction } from '@solana/web3.js'
import type { SolanaAccount, WorldSolana } from '../world.js'
import { keypairOfAccount } from './accounts.js'

/**
 * Signs a quote's transaction (base64) and sends it without waiting for its confirmation, as a wallet does.
 * @returns the transaction's signature
 * @throws web3.js's SendTransactionError, with the program's log, when the node's simulation fails
 */
export async function payQuote(
  { rpcUrl, wsUrl }: Pick<WorldSolana, 'rpcUrl' | 'wsUrl'>,
  account: SolanaAccount,
  transaction: string,
): Promise<string> {
  const connection = new Connection(rpcUrl, { wsEndpoint: wsUrl, commitment: 'confirmed' })
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  signed.sign([keypairOfAccount(account)])
  return connection.sendRawTransaction(signed.serialize(), { preflightCommitment: 'confirmed' })
}
