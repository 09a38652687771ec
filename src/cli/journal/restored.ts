import { type RestoreReport, resetNetworkAfterRestore } from '../../db/deployment/restored.js'
import { readMirroredNetworks } from '../../db/mirror/mirrors.js'
import { inTransactionWithRetries } from '../../db/pg/tries.js'
import { NETWORKS } from '../../registry/primitives/network.js'
import { withDatabasePool } from '../database.js'
import { printJson } from '../output.js'

/**
 * `clusterd journal restored`: shows what has to begin anew after the database was restored to an earlier state: each
 * network's feed, signed log and leaders, and the relayer's jobs. With `--yes` these begin anew.
 */
export async function restartFeedsAfterRestore({
  yes = false,
  json,
}: {
  yes?: boolean
  json?: boolean
}): Promise<void> {
  const networks = await withDatabasePool(async (pool) => {
    const client = await pool.connect()
    try {
      return await inTransactionWithRetries(client, async () => {
        const begun: Record<string, RestoreReport> = {}
        const mirrored = await readMirroredNetworks(client)
        // mirrored networks are left out: a mirror continues from its own state
        for (const network of NETWORKS.filter((one) => !mirrored.has(one)))
          begun[network] = await resetNetworkAfterRestore(client, network)
        if (!yes) await client.query('ROLLBACK')
        return begun
      })
    } finally {
      // close the connection, so that an unfinished transaction is rolled back
      client.release(true)
    }
  })
  if (json) return printJson({ applied: yes, networks })
  if (Object.keys(networks).length === 0)
    return console.log('Nothing begins anew: a mirror continues from its own state.')
  console.log(
    yes ? 'The database counts as restored:' : 'This begins anew (nothing is changed yet):',
  )
  for (const [network, { feed, entries, jobs }] of Object.entries(networks)) {
    console.log(
      `  ${network}: ${entries} entries of the journal; the feed's number ${feed.from} becomes ${feed.to},`,
    )
    console.log(`    so that every reader begins anew; jobs checked again: ${jobs}`)
    console.log('    signed changes are answered 503 until the head of the hub is folded again')
  }
  if (!yes) console.log('To do it: the same with --yes')
}
