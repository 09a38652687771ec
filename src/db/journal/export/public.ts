import type pg from 'pg'
import { isClusterChangeKind, isCommunityChangeKind } from '../../../registry/journal/change.js'
import { ENTRY_KIND, type EntryKind } from '../../../registry/journal/entry.js'
import { NOT_FOLDED } from '../../../registry/journal/ruleset.js'
import { NOBODY } from '../../../registry/primitives/address.js'
import { NETWORK_CODE, type Network } from '../../../registry/primitives/network.js'
import { leaf, type PartitionedTable, STATE_TABLES, type StateTable } from '../../pg/partitions.js'

const codesOf = (belongs: (kind: EntryKind) => boolean): string =>
  (Object.keys(ENTRY_KIND) as EntryKind[])
    .filter(belongs)
    .map((kind) => ENTRY_KIND[kind])
    .join()

/** Entries that anybody may know: what chains logged, rules of communities, and changes with public events. */
const PUBLIC = `chain IS NOT NULL OR public_count > 0 OR kind = ${ENTRY_KIND.configure_community}`

/**
 * Bodies as they may be shown: a cluster's change names the public actor and nothing else, since its effects have its
 * public events; a community's names the public actor in place of the one who signed, and not whether a bundle's claim
 * gave the name, which shows that the wallet is in one.
 */
const ACTOR = `encode(coalesce(j.actor, '\\x${NOBODY.toString('hex')}'), 'hex')`
const SIGNER = `regexp_replace(convert_from(j.body, 'UTF8'), '^\\{"actor":"[0-9a-f]+"', '{"actor":"' || ${ACTOR} || '"')`
const ASSIGNED = `'"met":("[0-9a-f]+"|null),"isAssigned":(true|false)\\}$', '"met":null,"isAssigned":false}'`
const BODY = `CASE WHEN j.kind IN (${codesOf(isClusterChangeKind)}) THEN convert_to('{"actor":"' || ${ACTOR} || '"}', 'UTF8')
  WHEN j.kind IN (${codesOf(isCommunityChangeKind)})
    THEN convert_to(regexp_replace(${SIGNER}, ${ASSIGNED}), 'UTF8')
  ELSE j.body END AS body`

const own = (table: PartitionedTable, network: Network): string => `public.${leaf(table, network)}`
const keptOf = (network: Network): string => `kept_${network}`

/**
 * Puts a view of its public entries before a network's journal, for this connection: without those that only concern
 * private wallets, and numbered anew without gaps, so that not even their number shows.
 * @param entries how many of the public entries: null for all
 * @returns how many there are, and the time of the newest, ms
 */
export async function showPublicJournal(
  client: pg.ClientBase,
  network: Network,
  generation: number,
  entries: number | null,
): Promise<{ seq: number; atMs: number }> {
  const kept = keptOf(network)
  const journal = own('journal', network)
  const ofGeneration = `network = ${NETWORK_CODE[network]} AND generation = ${generation}`
  await client.query(`CREATE TEMP TABLE ${kept} AS SELECT seq, row_number() OVER (ORDER BY seq) AS n, at_ms
    FROM ${journal} WHERE ${ofGeneration} AND (${PUBLIC}) ORDER BY seq LIMIT ${entries ?? 'ALL'}`)
  await client.query(`CREATE UNIQUE INDEX ON ${kept} (seq)`)
  await client.query(`CREATE UNIQUE INDEX ON ${kept} (n)`)
  await client.query(`ANALYZE ${kept}`)
  await client.query(`CREATE TEMP VIEW ${leaf('journal', network)} AS
    SELECT j.network, j.generation, k.n AS seq, j.kind, j.chain, j.block, j.log_index, j.tx_key, j.at_ms, ${BODY},
      ${NOT_FOLDED}::int2 AS ruleset, j.public_first, j.public_count, j.actor, j.effects
    FROM ${kept} k JOIN ${journal} j ON j.network = ${NETWORK_CODE[network]} AND j.generation = ${generation} AND j.seq = k.seq`)
  const text = `SELECT count(*)::int8 AS seq, coalesce(max(at_ms), 0)::int8 AS at_ms FROM ${kept}`
  const { rows } = await client.query<{ seq: number; at_ms: number }>(text)
  return { seq: rows[0]!.seq, atMs: rows[0]!.at_ms }
}

/** Columns of the state tables, each number of an entry as `@column`. */
const COLUMNS: Record<StateTable, string> = {
  names: 'network, @seq, tx_key, name, cluster, outcome, community, @updated_seq',
  clusters: 'network, serial, id, @created_seq',
  wallets: 'network, cluster, address, name, verified, private, backed_up, @created_seq, @updated_seq',
  communities: 'network, name, @seq',
  community_names: 'network, community, name, address, verified, assigned, @seq, claim',
  moves: 'network, source, target, @seq, actor',
}

/** Says which cluster a name was assigned to where everybody knows its owner in it. */
const assigned = (wallets: string): string => `CASE WHEN EXISTS (SELECT FROM ${wallets} w WHERE w.network = t.network
  AND w.cluster = t.assigned AND w.address = t.address AND w.verified AND NOT w.private) THEN t.assigned END AS assigned`

/** Puts tables of their public rows before a network's, for this connection, after `showPublicJournal`. */
export async function showPublicTables(client: pg.ClientBase, network: Network): Promise<void> {
  const kept = keptOf(network)
  for (const table of STATE_TABLES) {
    const joins: string[] = []
    const columns = COLUMNS[table].split(', ').map((column) => {
      if (column === 'assigned') return assigned(own('wallets', network))
      if (column === 'claim') return 'NULL::bytea AS claim'
      if (!column.startsWith('@')) return `t.${column}`
      const seq = column.slice(1)
      joins.push(`LEFT JOIN ${kept} ${seq}_at ON ${seq}_at.seq = t.${seq}`)
      // the newest public entry before it, for a number that is none
      const before = `(SELECT max(k.n) FROM ${kept} k WHERE k.seq < t.${seq})`
      return `coalesce(${seq}_at.n, ${before}, 1)::int8 AS ${seq}`
    })
    const shown = table === 'wallets' ? 'WHERE NOT t.private' : ''
    await client.query(
      `CREATE TEMP TABLE ${leaf(table, network)} AS SELECT ${columns} FROM ${own(table, network)} t ${joins.join(' ')} ${shown}`,
    )
  }
}
