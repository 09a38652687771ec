import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import type pg from 'pg'
import { partitionName, STATE_TABLES } from '../../src/db/journal/partitions.js'
import { computeStateHash } from '../../src/db/journal/stateHash.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { type Entry, entryKindOfCode } from '../../src/registry/journal/entry.js'
import { NETWORK_CODE, type Network } from '../../src/registry/primitives/network.js'

/** A recorded journal of a network, and the results that it has to give for ever. */
export interface Golden {
  entries: readonly Entry[]
  /** State hash of the tables and all effects (src/db/journal/stateHash.ts). */
  hash: string
  /** Number of rows per table, which shows where to look when the hash differs. */
  rows: Readonly<Record<string, number>>
}

/** Entry as stored: kind, chain, block, log index, txKey, time in ms, body in base64, ruleset. */
type Stored = [
  number,
  number | null,
  number | null,
  number | null,
  string | null,
  number,
  string,
  number,
]

/** Rows of the state tables of a network. */
export async function countRows(
  client: pg.ClientBase,
  network: Network,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of STATE_TABLES) {
    const { rows } = await client.query(
      `SELECT count(*)::int AS count FROM ${partitionName(table, network)}`,
    )
    counts[table] = rows[0].count
  }
  return counts
}

/** Writes a network's journal, its state hash and its counts to a file. */
export async function recordGolden(pool: pg.Pool, network: Network, file: string): Promise<void> {
  const golden = await inTransaction(pool, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
    const code = NETWORK_CODE[network]
    const head = await client.query('SELECT generation FROM journal_heads WHERE network = $1', [
      code,
    ])
    const { generation } = head.rows[0]
    const { rows } = await client.query({
      rowMode: 'array',
      text: `SELECT kind, chain, block, log_index, tx_key::text, at_ms, translate(encode(body, 'base64'), E'\\n', ''), ruleset
             FROM ${partitionName('journal', network)} WHERE network = $1 AND generation = $2 ORDER BY seq`,
      values: [code, generation],
    })
    return {
      hash: await computeStateHash(client, network, generation),
      rows: await countRows(client, network),
      entries: rows,
    }
  })
  writeFileSync(file, gzipSync(JSON.stringify(golden), { level: 9 }))
}

/** Reads a recorded journal. */
export function readGolden(file: string): Golden {
  const { entries, ...rest } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Omit<
    Golden,
    'entries'
  > & {
    entries: Stored[]
  }
  return {
    ...rest,
    entries: entries.map(([kind, chain, block, logIndex, txKey, causeMs, body, ruleset]) => ({
      kind: entryKindOfCode(kind),
      position: chain === null ? null : { chain, block: block!, logIndex: logIndex! },
      txKey: txKey === null ? null : BigInt(txKey),
      causeMs,
      body: Buffer.from(body, 'base64'),
      ruleset,
    })),
  }
}
