import type { HubChain, SignedTx } from './hubChain.js'

export const CONFIRMATION_BLOCKS = 2

/** A transaction as far as its status goes. */
export interface KnownTx extends SignedTx {
  /** Whether its status was requested while the chain had it. */
  isRemembered: boolean
}

interface Expected {
  status: string
  outcomes?: string[]
}

/** The status that follows from what the chain holds now. @param base the first block whose bids count */
export async function expectedOf(
  txs: readonly KnownTx[],
  tx: KnownTx,
  at: { chain: HubChain; base: number },
): Promise<Expected> {
  const { chain, base } = at
  const confirmed = (await chain.head()) - CONFIRMATION_BLOCKS
  const place = await chain.place(tx)
  if (place.at === 'mined') {
    if (place.block > confirmed) return { status: 'pending' }
    if (!place.succeeded || !tx.names) return { status: 'invalid' }
    return outcomeOf(tx, await chain.bids(base, confirmed))
  }
  if (place.at === 'mempool') return { status: 'pending' }
  if (!tx.isRemembered) return { status: 'not_found' }
  for (const other of txs) {
    if (other === tx || other.sender !== tx.sender || other.nonce !== tx.nonce) continue
    const its = await chain.place(other)
    if (its.at !== 'mined' || its.block > confirmed) continue
    return expectedOf(txs, other, at)
  }
  return { status: 'pending' }
}

/** The first bid for a name wins it. */
function outcomeOf(tx: KnownTx, bids: readonly { tx: string; name: string }[]): Expected {
  const outcomes = tx.names!.map((name) =>
    bids.find((bid) => bid.name === name)?.tx === tx.hash ? 'won' : 'lost',
  )
  return { status: outcomes[0] === 'won' ? 'finalized' : 'lost_bid', outcomes }
}
