import type pg from 'pg'
import { airdropLeaf, createTreeBuilder } from '../../registry/airdrop/tree.js'
import { addressToWord } from '../../registry/primitives/address.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { AIRDROP_STATE, lockKeys } from '../pg/codes.js'
import { CHUNK_BYTES, CopyBuffer, copyRows, startCopy } from '../pg/copy.js'
import { inTransaction } from '../pg/pool.js'
import { execute, query, readRows } from '../pg/rows.js'
import { isUniqueViolation } from '../pg/unavailable.js'
import { type Airdrop, AirdropError, claimedFrom, findAirdrop, noAirdrop } from './airdrops.js'
import { createPageWriter } from './pages.js'

/**
 * Loads the file of an airdrop in one transaction: rows are staged as they are read, PostgreSQL sorts their leaves, the
 * tree is built from a cursor, and its pages are written as they fill. This process holds a few thousand rows at a
 * time.
 */

const FETCH_LEAVES = 10_000
/** Memory of the server's sorts, of leaves (twice) and accounts (once); larger ones go through its files. */
const SORT_MEMORY = '64MB'
/** Upper bound on reported lines that repeat an account. */
const REPEATED_LIMIT = 1_000

export interface LoadRequest {
  network: Network
  /** Canonical name. */
  community: string
  /** Network label of the chain that it is paid on. */
  label: string
  token: Buffer | null
  endsAtS: number | null
  /** SHA-256 of the file. */
  fileHash: Buffer
  /** Whether the file may replace another one that nobody has claimed from. */
  replaces: boolean
  nowMs: number
  onProgress?: (progress: LoadProgress) => void
}

/** Steps after the rows are read; leaves are counted as the tree grows. */
type LoadProgress = { step: 'sorting' } | { step: 'growing'; leaves: number; of: number } | { step: 'closing' }

/** Takes rows as they are read. */
export interface Stage {
  /** @param account stored address @param amount above 0 @param line that it stands on */
  add(account: Buffer, amount: bigint, line: number): void
  /** Waits while the server is slower than the reader. */
  drain(): Promise<void>
}

/** Thrown for lines that repeat the account of an earlier one, in order. */
export class RepeatedAccountsError extends Error {
  override name = 'RepeatedAccountsError'
  constructor(readonly lines: readonly { line: number; first: number }[]) {
    super('accounts are repeated')
  }
}

/**
 * Loads an airdrop: all of it or, when anything fails, nothing.
 * @param read hands every row to the stage; a thrown error rolls everything back
 * @returns the airdrop, and false in `isNew` where the same file was loaded before and nothing is done
 * @throws AirdropError where the community has another one that may not be replaced, or the rows make none;
 *   RepeatedAccountsError
 */
export async function loadAirdrop(
  pool: pg.Pool,
  request: LoadRequest,
  read: (stage: Stage) => Promise<void>,
): Promise<{ airdrop: Airdrop; isNew: boolean }> {
  const { network, community } = request
  const isNew = await inTransaction(pool, async (client) => {
    await lockLoads(client, network)
    const existing = await findStored(client, network, community)
    if (existing?.fileHash.equals(request.fileHash)) return false
    if (existing) assertReplaceable(existing, request)
    await client.query(`SET LOCAL work_mem = '${SORT_MEMORY}'`)
    const { leafCount, total } = await stageRows(client, read)
    request.onProgress?.({ step: 'sorting' })
    const tree = { network, airdrop: await nextNumber(client), leafCount }
    await writeAllocations(client, tree)
    const root = await growTree(client, tree, (leaves) =>
      request.onProgress?.({ step: 'growing', leaves, of: leafCount }),
    )
    request.onProgress?.({ step: 'closing' })
    // claims may have been stored meanwhile
    const replaced = await findStored(client, network, community, 'FOR UPDATE')
    if (replaced) {
      assertReplaceable(replaced, request)
      await deleteAirdrop(client, network, replaced.airdrop)
    }
    await insertAirdrop(client, request, { ...tree, root, total })
    await client.query('ANALYZE airdrop_allocations, airdrop_pages')
    return true
  })
  return { airdrop: (await findAirdrop(pool, network, community))!, isNew }
}

/** Removes an airdrop with all its rows. @throws AirdropError where there is none */
export async function removeAirdrop(pool: pg.Pool, network: Network, community: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    const stored = await findStored(client, network, community, 'FOR UPDATE')
    if (!stored) throw new AirdropError(noAirdrop(network, community))
    await deleteAirdrop(client, network, stored.airdrop)
  })
}

type StoredFile = Pick<Airdrop, 'airdrop' | 'community' | 'fileHash' | 'leafCount' | 'claimed'>

/** The airdrop as this transaction sees it, null where there is none; a lock holds off claims and other commands. */
async function findStored(
  client: pg.ClientBase,
  network: Network,
  community: string,
  lock: '' | 'FOR UPDATE' = '',
): Promise<StoredFile | null> {
  const sql = `SELECT airdrop, community, file_hash, leaf_count FROM airdrops WHERE network = $1 AND community = $2 ${lock}`
  const [row] = await query<Omit<StoredFile, 'claimed'>>(client, network, sql, [community])
  if (!row) return null
  const count = `SELECT count(*) AS seen, count(*) FILTER (WHERE confirmed) AS confirmed
    FROM airdrop_claims WHERE network = $1 AND airdrop = $2`
  const [claimed] = await query<Airdrop['claimed']>(client, network, count, [row.airdrop])
  return { ...row, claimed: claimed! }
}

async function deleteAirdrop(client: pg.ClientBase, network: Network, airdrop: number): Promise<void> {
  for (const table of ['airdrop_claims', 'airdrop_pages', 'airdrop_allocations', 'airdrops'])
    await execute(client, network, `DELETE FROM ${table} WHERE network = $1 AND airdrop = $2`, [airdrop])
}

async function lockLoads(client: pg.ClientBase, network: Network): Promise<void> {
  const sql = 'SELECT pg_try_advisory_xact_lock($1, $2) AS locked'
  const [lock] = await readRows<{ locked: boolean }>(client, sql, [...lockKeys(network, 'load')])
  if (!lock!.locked)
    throw new AirdropError(`Another command is loading an airdrop of ${network}: try again when it has ended.`)
}

function assertReplaceable(existing: StoredFile, { replaces }: LoadRequest): void {
  if (existing.claimed.seen > 0) throw new AirdropError(claimedFrom(existing, 'it can not be replaced any more'))
  if (!replaces)
    throw new AirdropError(
      `"${existing.community}" has another airdrop (${existing.leafCount} accounts): --replace puts this file in its place.`,
    )
}

/** Copies rows with their leaves into a temporary table as they are read. */
async function stageRows(
  client: pg.ClientBase,
  read: (stage: Stage) => Promise<void>,
): Promise<{ leafCount: number; total: bigint }> {
  await client.query(`CREATE TEMP TABLE airdrop_staged (
    index int NOT NULL, line int NOT NULL, account bytea NOT NULL, amount numeric NOT NULL, leaf bytea NOT NULL
  ) ON COMMIT DROP`)
  const copy = startCopy(client, 'airdrop_staged')
  const rows = new CopyBuffer()
  let total = 0n
  try {
    await read({
      add(account, amount, line) {
        const index = rows.rows
        const leaf = airdropLeaf(BigInt(index), addressToWord(account), amount)
        rows.row(5).int4(index).int4(line).bytea(account).numeric(amount).bytea(leaf)
        total += amount
      },
      async drain() {
        if (rows.bytes >= CHUNK_BYTES) await copy.write(rows.take())
      },
    })
  } catch (error) {
    // ROLLBACK needs the COPY to end first
    await copy.end().catch(() => {})
    throw error
  }
  await copy.write(rows.finish())
  await copy.end()
  if (rows.rows === 0) throw new AirdropError('The file has no rows.')
  if (total >> 256n !== 0n) throw new AirdropError('The amounts sum up to more than any token has (2^256 base units).')
  return { leafCount: rows.rows, total }
}

async function nextNumber(client: pg.ClientBase): Promise<number> {
  const sql = `SELECT nextval(pg_get_serial_sequence('airdrops', 'airdrop'))::int AS airdrop`
  return (await client.query<{ airdrop: number }>(sql)).rows[0]!.airdrop
}

interface Tree {
  network: Network
  airdrop: number
  leafCount: number
}

/**
 * Writes allocations by account, so that the index fills from left to right. The last of n leaves, by hash, has
 * position n - 1.
 * @throws RepeatedAccountsError
 */
async function writeAllocations(client: pg.ClientBase, { network, airdrop, leafCount }: Tree): Promise<void> {
  await client.query('SAVEPOINT allocations')
  try {
    await execute(
      client,
      network,
      `INSERT INTO airdrop_allocations (network, airdrop, account, index, position, amount)
       SELECT $1::smallint, $2::int, account, index, $3::int - (row_number() OVER (ORDER BY leaf))::int, amount
       FROM airdrop_staged ORDER BY account`,
      [airdrop, 2 * leafCount - 1],
    )
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    await client.query('ROLLBACK TO allocations')
    const { rows } = await client.query<{ line: number; first: number }>(
      `SELECT line, first FROM (SELECT line, min(line) OVER (PARTITION BY account) AS first FROM airdrop_staged) s
       WHERE line <> first ORDER BY line LIMIT ${REPEATED_LIMIT}`,
    )
    throw new RepeatedAccountsError(rows)
  }
}

/** Builds the tree from the sorted leaves and stores its pages. @returns its root */
async function growTree(
  client: pg.ClientBase,
  { network, airdrop, leafCount }: Tree,
  onLeaves: (leaves: number) => void,
): Promise<Buffer> {
  let pages = new CopyBuffer()
  const writer = createPageWriter(leafCount, (page, nodes) => {
    pages.row(4).int2(NETWORK_CODE[network]).int4(airdrop).int4(page).bytea(nodes)
  })
  const builder = createTreeBuilder(leafCount, writer.put)
  await client.query('DECLARE leaves NO SCROLL CURSOR FOR SELECT leaf FROM airdrop_staged ORDER BY leaf')
  for (let done = 0; done < leafCount; ) {
    const { rows } = await client.query<[Buffer]>({ text: `FETCH ${FETCH_LEAVES} FROM leaves`, rowMode: 'array' })
    for (const [leaf] of rows) builder.add(leaf)
    done += rows.length
    await copyRows(client, 'airdrop_pages (network, airdrop, page, nodes)', pages)
    pages = new CopyBuffer()
    onLeaves(done)
  }
  await client.query('CLOSE leaves')
  return builder.root()
}

async function insertAirdrop(
  client: pg.ClientBase,
  { network, community, label, token, endsAtS, fileHash, nowMs }: LoadRequest,
  { airdrop, root, leafCount, total }: Tree & { root: Buffer; total: bigint },
): Promise<void> {
  await execute(
    client,
    network,
    `INSERT INTO airdrops (network, airdrop, community, label, merkle_root, file_hash, leaf_count, total, token, ends_at_s,
       state, created_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ${AIRDROP_STATE.loaded}, $11)`,
    [airdrop, community, label, root, fileHash, leafCount, total, token, endsAtS, nowMs],
  )
}
