import { type Address, BaseError, type Hex, type PublicClient } from 'viem'

type Node = Pick<PublicClient, 'request'>

/** Answer of `txpool_content`: transactions that wait for an earlier nonce, by sender, then by nonce in decimal. */
interface PoolContent {
  queued: Record<Address, Record<string, { hash: Hex }>>
}

/**
 * Sends a sender's transactions again that are stuck in anvil's pool, if `hash` is the hash of the first of them. If a
 * transaction arrives while its predecessor's block is mined, the pool lists the transaction as waiting for the
 * predecessor, which has already left the pool. So the transaction never becomes ready, and a second copy is refused as
 * "already imported". The transaction can be sent again only after the pool has removed all of the sender's
 * transactions. No effect if the pool lists the transaction as ready, or if the node does not have anvil's methods for
 * the pool.
 */
export async function resendStuckTransactions(node: Node, hash: Hex): Promise<void> {
  try {
    const { queued } = await ask<PoolContent>(node, 'txpool_content')
    for (const [sender, byNonce] of Object.entries(queued)) {
      const hashes = Object.entries(byNonce)
        .sort(([a], [b]) => Number(a) - Number(b))
        .map(([, one]) => one.hash)
      if (hashes[0] === hash) await sendAgain(node, sender as Address, hashes)
    }
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
  }
}

async function sendAgain(node: Node, sender: Address, hashes: readonly Hex[]): Promise<void> {
  const transactions: Hex[] = []
  for (const hash of hashes)
    transactions.push(await ask<Hex>(node, 'eth_getRawTransactionByHash', hash))
  await ask(node, 'anvil_removePoolTransactions', sender)
  for (const transaction of transactions) await ask(node, 'eth_sendRawTransaction', transaction)
}

/** Calls a method that is missing in viem's types of a public client. */
const ask = <T>(node: Node, method: string, ...params: unknown[]): Promise<T> =>
  node.request({ method, params } as never) as Promise<T>
