import { listSigners, moveNonce, type SignerRow } from '../../db/outbox/signers.js'
import { notify } from '../../db/pg/notify.js'
import { inTransaction } from '../../db/pg/pool.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { withPool } from '../database.js'
import { printJson, table } from '../output.js'
import { addressOf, type NetworkOptions, networksOf } from '../values.js'

export interface NonceOptions extends NetworkOptions {
  signer?: string
  json?: boolean
}

/**
 * `clusterd outbox nonce [chain] [next]`: shows signers' next nonces, or sets one, which a running daemon takes up.
 * @throws Error with one sentence where no signer, or more than one, is meant, or where a job under way holds a later
 * nonce
 */
export async function nonce(chain: string | undefined, next: string | undefined, options: NonceOptions): Promise<void> {
  const signers = await withPool({ command: 'outbox', max: 1 }, async (pool) => {
    const all = await listSigners(pool, networksOf(options))
    const wanted = options.signer === undefined ? null : addressOf('--signer', options.signer)
    const chosen = all.filter(
      ({ label, signer }) => (chain === undefined || label === chain) && (!wanted || signer.equals(wanted)),
    )
    if (next === undefined) return chosen
    const [row] = chosen
    if (!row || chosen.length > 1)
      throw new Error(`${chosen.length} signers are known on chain "${chain}": name one with --signer.`)
    const to = nonceOf(next, row)
    await inTransaction(pool, (client) => moveNonce(client, row, row.next, to))
    await notify(pool, row.network)
    return [{ ...row, next: to, claimed: null }]
  })
  print(signers, options)
}

function nonceOf(text: string, { top }: SignerRow): number {
  if (!/^[0-9]{1,10}$/.test(text)) throw new Error('The next nonce is a whole number.')
  const to = Number(text)
  if (top !== null && to <= top) throw new Error(`A job under way holds nonce ${top}: the next one is above that.`)
  return to
}

function print(signers: readonly SignerRow[], { json }: NonceOptions): void {
  if (json) printJson(signers.map(describe))
  else if (signers.length === 0) console.log('No signer has sent anything.')
  else
    console.log(
      table([
        ['NETWORK', 'CHAIN', 'SIGNER', 'NEXT', 'CHAIN SAYS'],
        ...signers
          .map(describe)
          .map((row) => [
            ...[row.network, row.chain, row.signer, String(row.next)],
            row.claimed === null ? '-' : String(row.claimed),
          ]),
      ]),
    )
}

const describe = ({ network, label, signer, next, claimed }: SignerRow) => ({
  ...{ network, chain: label, signer: toHex(signer), next, claimed },
})
