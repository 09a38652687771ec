import { type Address, BaseError, type Hex, type PublicClient } from 'viem'

type Node = Pick<PublicClient, 'request'>

/** Answer of `txpool_content`: transactions by sender and nonce, in decimal. */
interface PoolContent {
  queued: Record<Address, Record<string, { hash: Hex }>>
}

/**
 * Sends what anvil's pool has put aside again, where `hash` is the first of its sender. The pool files a transaction
 * that comes while its predecessor's block is made under those that wait for that predecessor, which has left the pool
 * by then: nothing calls it any more, a second copy is "already imported", and only the removal of all of the sender's
 * lets it be sent again. Without effect where the pool holds it as ready, and on nodes without these methods.
 */
export async function requeue(node: Node, hash: Hex): Promise<void> {
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

/** Calls a method that viem's types of a public client lack. */
const ask = <T>(node: Node, method: string, ...params: unknown[]): Promise<T> =>
  node.request({ method, params } as never) as Promise<T>
