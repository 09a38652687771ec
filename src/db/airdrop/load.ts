import type pg from 'pg'
import {
  type AirdropTree,
  airdropLeaf,
  buildAirdropTree,
  MAX_AIRDROP_ACCOUNTS,
} from '../../registry/airdrop/tree.js'
import { addressToWord } from '../../registry/primitives/address.js'
import type { Network } from '../../registry/primitives/network.js'
import { insertRows, type RowsToInsert } from '../pg/arrays.js'
import { advisoryLockKeys } from '../pg/codes.js'
import { inTransaction } from '../pg/pool.js'
import { execute, readRows } from '../pg/rows.js'
import {
  AIRDROP_STATE,
  type Airdrop,
  AirdropError,
  alreadyClaimedText,
  findAirdrop,
  lockAirdrop,
  noAirdropText,
} from './airdrops.js'
import { packTreePages } from './pages.js'

export interface AirdropLoadRequest
  extends Pick<Airdrop, 'network' | 'community' | 'label' | 'fileHash'> {
  /** True if the file may replace the community's stored airdrop, as long as nobody has claimed from that airdrop. */
  replaces: boolean
  nowMs: number
}

export interface AccountAllocation {
  /** Stored address. */
  account: Buffer
  /** Allocated amount in base units of the token, above 0. */
  amount: bigint
}

/**
 * Loads an airdrop in one transaction.
 * @param rows in the order of the file, each account once
 * @returns the airdrop; `isNew` is false, with nothing written, where the same file was loaded before for the same
 * chain
 * @throws AirdropError where the community has another airdrop that may not be replaced, the rows are no valid airdrop,
 * or another process is loading an airdrop of the network
 */
export async function loadAirdrop(
  pool: pg.Pool,
  request: AirdropLoadRequest,
  rows: readonly AccountAllocation[],
): Promise<{ airdrop: Airdrop; isNew: boolean }> {
  const { network, community } = request
  const total = totalOf(rows)
  const isNew = await inTransaction(pool, async (client) => {
    await lockAirdropLoads(client, network)
    const existing = await findAirdrop(client, network, community)
    if (existing?.fileHash.equals(request.fileHash) && existing.label === request.label)
      return false
    if (existing) assertReplaceable(existing, request)
    const tree = buildAirdropTree(
      rows.map(({ account, amount }, i) => airdropLeaf(BigInt(i), addressToWord(account), amount)),
    )
    const airdrop = await nextAirdropNumber(client)
    await insertInParts(client, network, allocationRows(airdrop, rows, tree))
    await insertInParts(client, network, treePageRows(airdrop, tree))
    // Reads the existing airdrop again, under a lock. It was not locked while the new rows were inserted, so the
    // indexer may have stored claims.
    const replaced = await lockAirdrop(client, network, community)
    if (replaced) {
      assertReplaceable(replaced, request)
      await deleteAirdrop(client, network, replaced.airdrop)
    }
    const { label, fileHash, nowMs } = request
    const root = tree.nodes[0]!
    await execute(client, network, INSERT_AIRDROP, [
      airdrop,
      community,
      label,
      root,
      fileHash,
      rows.length,
      total,
      nowMs,
    ])
    await client.query('ANALYZE airdrop_allocations, airdrop_pages')
    return true
  })
  return { airdrop: (await findAirdrop(pool, network, community))!, isNew }
}

function totalOf(rows: readonly AccountAllocation[]): bigint {
  if (rows.length === 0) throw new AirdropError('The file has no rows.')
  if (rows.length > MAX_AIRDROP_ACCOUNTS)
    throw new AirdropError(
      `The file has ${rows.length.toLocaleString('en-US')} accounts; an airdrop has at most ${MAX_AIRDROP_ACCOUNTS.toLocaleString('en-US')}.`,
    )
  const total = rows.reduce((sum, { amount }) => sum + amount, 0n)
  if (total >> 256n !== 0n)
    throw new AirdropError('The amounts sum up to more than any token has (2^256 base units).')
  return total
}

/** Removes an airdrop with all its rows. @throws AirdropError where the community has none */
export async function removeAirdrop(
  pool: pg.Pool,
  network: Network,
  community: string,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    const stored = await lockAirdrop(client, network, community)
    if (!stored) throw new AirdropError(noAirdropText(network, community))
    await deleteAirdrop(client, network, stored.airdrop)
  })
}

async function deleteAirdrop(
  client: pg.ClientBase,
  network: Network,
  airdrop: number,
): Promise<void> {
  for (const table of ['airdrop_claims', 'airdrop_pages', 'airdrop_allocations', 'airdrops'])
    await execute(client, network, `DELETE FROM ${table} WHERE network = $1 AND airdrop = $2`, [
      airdrop,
    ])
}

async function lockAirdropLoads(client: pg.ClientBase, network: Network): Promise<void> {
  const sql = 'SELECT pg_try_advisory_xact_lock($1, $2) AS locked'
  const [lock] = await readRows<{ locked: boolean }>(client, sql, advisoryLockKeys(network, 'load'))
  if (!lock!.locked)
    throw new AirdropError(
      `Another command is loading an airdrop of ${network}: try again when it has ended.`,
    )
}

function assertReplaceable(existing: Airdrop, { replaces }: AirdropLoadRequest): void {
  if (existing.claimed.seen > 0)
    throw new AirdropError(alreadyClaimedText(existing, 'it can not be replaced any more'))
  if (!replaces)
    throw new AirdropError(
      `"${existing.community}" has another airdrop (${existing.leafCount} accounts): --replace puts this file in its place.`,
    )
}

async function nextAirdropNumber(client: pg.ClientBase): Promise<number> {
  const sql = `SELECT nextval(pg_get_serial_sequence('airdrops', 'airdrop'))::int AS airdrop`
  const [row] = await readRows<Pick<Airdrop, 'airdrop'>>(client, sql, [])
  return row!.airdrop
}

const allocationRows = (
  airdrop: number,
  rows: readonly AccountAllocation[],
  { positions }: AirdropTree,
): RowsToInsert<number> => ({
  table: 'airdrop_allocations',
  columns: [
    ['airdrop', 'int4', () => airdrop],
    ['account', 'bytea', (i) => rows[i]!.account],
    ['index', 'int4', (i) => i],
    ['position', 'int4', (i) => positions[i]],
    ['amount', 'numeric', (i) => rows[i]!.amount],
  ],
  items: [...rows.keys()],
})

const treePageRows = (
  airdrop: number,
  { nodes }: AirdropTree,
): RowsToInsert<[page: number, bytes: Buffer]> => ({
  table: 'airdrop_pages',
  columns: [
    ['airdrop', 'int4', () => airdrop],
    ['page', 'int4', ([page]) => page],
    ['nodes', 'bytea', ([, bytes]) => bytes],
  ],
  items: [...packTreePages(nodes)],
})

const ROWS_PER_INSERT = 5_000

async function insertInParts<Item>(
  client: pg.ClientBase,
  network: Network,
  rows: RowsToInsert<Item>,
): Promise<void> {
  for (let from = 0; from < rows.items.length; from += ROWS_PER_INSERT)
    await insertRows(client, network, {
      ...rows,
      items: rows.items.slice(from, from + ROWS_PER_INSERT),
    })
}

const INSERT_AIRDROP = `INSERT INTO airdrops (network, airdrop, community, label, merkle_root, file_hash, leaf_count, total, state,
  created_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, ${AIRDROP_STATE.loaded}, $9)`
