import { ChainUnavailableError } from '../../chains/chain.js'

/**
 * Asks chains for a transaction. The first chain in their order that has the transaction counts. The state is `unknown`
 * only if no chain knows the transaction.
 * @throws ChainUnavailableError where no chain has the transaction and one of the chains did not answer
 */
export async function findTransactionOnChains<Port, Tx extends { state: string }>(
  chains: readonly Port[],
  ask: (chain: Port) => Promise<Tx>,
): Promise<{ chain: Port; seen: Tx | { state: 'unknown' } }> {
  const answers = await Promise.allSettled(chains.map(ask))
  for (const [i, answer] of answers.entries())
    if (answer.status === 'fulfilled' && answer.value.state !== 'unknown')
      return { chain: chains[i]!, seen: answer.value }
  const failed = answers.find((answer) => answer.status === 'rejected')
  if (failed) throw failed.reason
  if (!chains[0]) throw new ChainUnavailableError('no chain of this network is configured')
  return { chain: chains[0], seen: { state: 'unknown' } }
}
