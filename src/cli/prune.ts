import { countExpired, type Pruned, removeExpired } from '../db/deployment/retention.js'
import { NETWORKS } from '../registry/primitives/network.js'
import { withPool } from './database.js'
import { printJson } from './output.js'

export interface PruneCommand {
  yes?: boolean
  json?: boolean
}

/** `clusterd prune`: shows what the daemon's retention would remove by now; removes it with `--yes`. */
export async function prune({ yes, json }: PruneCommand): Promise<void> {
  const rows: Record<string, Pruned> = {}
  await withPool({ command: 'prune' }, async (pool) => {
    for (const network of NETWORKS)
      rows[network] = yes ? await removeExpired(pool, network) : await countExpired(pool, network)
  })
  if (json) return printJson({ removed: yes === true, rows })
  console.log(yes ? 'Removed:' : 'This would be removed (nothing is changed yet):')
  for (const [network, counts] of Object.entries(rows))
    for (const [what, count] of Object.entries(counts)) console.log(`  ${network}: ${count} ${what}`)
  if (!yes) console.log('To do it: the same with --yes; a daemon that leads does it once an hour')
}
