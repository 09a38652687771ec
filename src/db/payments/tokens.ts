import { PAYMENT_KIND } from '../../registry/payment/payment.js'
import type { Network } from '../../registry/primitives/network.js'
import { type Queryable, query } from '../pg/rows.js'

/** A token in which names of communities were paid on a chain; `native` is the chain's own coin. */
export interface TokenInUse {
  label: string
  token: string
}

/** Every token in which somebody paid for a name of a community. Reads all payments: for a command, no request. */
export const tokensInUse = (db: Queryable, network: Network): Promise<TokenInUse[]> =>
  query<TokenInUse>(
    db,
    network,
    `SELECT DISTINCT c.label, p.token FROM payments p JOIN chains c ON c.network = p.network AND c.chain = p.chain
     WHERE p.network = $1 AND p.kind = ${PAYMENT_KIND.communityName} ORDER BY c.label, p.token`,
    [],
  )
