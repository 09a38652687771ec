import pg from 'pg'
import { airdropLeaf, createTreeBuilder } from '../../registry/airdrop/tree.js'
import { addressToWord } from '../../registry/primitives/address.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { AIRDROP_STATE } from '../pg/codes.js'
import { CHUNK_BYTES, CopyBuffer, copyRows, startCopy } from '../pg/copy.js'
import { LOCK_CLASS } from '../pg/leader.js'
import { inTransaction } from '../pg/pool.js'
import { AirdropError, claimedFrom, deleteAirdrop, lockIfThere } from './airdrops.js'
import { createPageWriter } from './pages.js'
import { type Airdrop, findAirdrop } from './read.js'

/**
 * Takes in the file of an airdrop in one transaction: rows are staged as they are read, PostgreSQL sorts their leaves, the
 * tree is built out of a cursor, its pages are written as they fill. What is kept in this process is a few thousand rows.
 */

/** Second key of the lock under which a network's airdrops are loaded, beside those of leader.ts. */
const LOAD_LOCK = 3
const UNIQUE_VIOLATION = '23505'
const FETCH_LEAVES = 10_000
/** Leaves are sorted twice and accounts once; more goes through files of the server. */
const SORT_MEMORY = '64MB'
/** Of lines that repeat an account, so many are told. */
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
  /** Whether another file may take the place of one that nobody has claimed from. */
  replaces: boolean
  nowMs: number
  onProgress?: (progress: LoadProgress) => void
}

/** What is going on: rows are counted by whoever reads them, leaves as the tree grows. */
export type LoadProgress = { step: 'sorting' } | { step: 'growing'; leaves: number; of: number } | { step: 'closing' }

/** Where rows go as they are read. */
export interface Stage {
  /** @param account stored address @param amount above 0 @param line that it stands on */
  add(account: Buffer, amount: bigint, line: number): void
  /** Waits while more rows are on their way than the server takes. */
  drain(): Promise<void>
}

/** Lines that repeat the account of an earlier one, in order. */
export class RepeatedAccountsError extends Error {
  override name = 'RepeatedAccountsError'
  constructor(readonly lines: readonly { line: number; first: number }[]) {
    super('accounts are repeated')
  }
}

/**
 * Loads an airdrop: all of it or, when anything fails, nothing.
 * @param read hands every row to the stage; what it throws undoes everything
 * @returns the airdrop, and whether that very file was loaded before: then nothing is done
 * @throws AirdropError where the community has another one that may not be replaced, or the rows make none;
 *   RepeatedAccountsError
 */
export async function loadAirdrop(
  pool: pg.Pool,
  request: LoadRequest,
  read: (stage: Stage) => Promise<void>,
): Promise<{ airdrop: Airdrop; isNew: boolean }> {
  const { network, community } = request
  return inTransaction(pool, async (client) => {
    await lockLoads(client, network)
    const existing = await findAirdrop(client, network, community)
    if (existing?.fileHash.equals(request.fileHash)) return { airdrop: existing, isNew: false }
    if (existing) assertReplaceable(existing, request)
    await client.query(`SET LOCAL work_mem = '${SORT_MEMORY}'`)
    const { leafCount, total } = await stageRows(client, read)
    request.onProgress?.({ step: 'sorting' })
    const airdrop = await nextNumber(client)
    await writeAllocations(client, network, airdrop, leafCount)
    const root = await growTree(client, network, airdrop, leafCount, (leaves) =>
      request.onProgress?.({ step: 'growing', leaves, of: leafCount }),
    )
    request.onProgress?.({ step: 'closing' })
    // it may have been claimed from meanwhile
    const replaced = await lockIfThere(client, network, community)
    if (replaced) {
      assertReplaceable(replaced, request)
      await deleteAirdrop(client, replaced)
    }
    await insertAirdrop(client, request, { airdrop, root, leafCount, total })
    await client.query('ANALYZE airdrop_allocations, airdrop_pages')
    return { airdrop: (await findAirdrop(client, network, community))!, isNew: true }
  })
}

async function lockLoads(client: pg.ClientBase, network: Network): Promise<void> {
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1, $2) AS locked', [
    LOCK_CLASS,
    NETWORK_CODE[network] * 16 + LOAD_LOCK,
  ])
  if (!rows[0]!.locked)
    throw new AirdropError(`Another command is loading an airdrop of ${network}: try again when it has ended.`)
}

function assertReplaceable(existing: Airdrop, { replaces }: LoadRequest): void {
  if (existing.claimed.seen > 0) throw new AirdropError(claimedFrom(existing, 'it can not be replaced any more'))
  if (!replaces)
    throw new AirdropError(
      `"${existing.community}" has another airdrop (${existing.leafCount} accounts): --replace puts this file in its place.`,
    )
}

/** Copies rows into a temporary table as they are read, each with its leaf. */
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
    // the connection is in the middle of a COPY: it has to be ended before anything can be undone
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

/**
 * Laid down by account, so that the index is written from left to right. The last of n leaves, by hash, has position n - 1.
 * @throws RepeatedAccountsError
 */
async function writeAllocations(
  client: pg.ClientBase,
  network: Network,
  airdrop: number,
  leafCount: number,
): Promise<void> {
  await client.query('SAVEPOINT allocations')
  try {
    await client.query(
      `INSERT INTO airdrop_allocations (network, airdrop, account, index, position, amount)
       SELECT $1::smallint, $2::int, account, index, $3::int - (row_number() OVER (ORDER BY leaf))::int, amount
       FROM airdrop_staged ORDER BY account`,
      [NETWORK_CODE[network], airdrop, 2 * leafCount - 1],
    )
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION)) throw error
    await client.query('ROLLBACK TO allocations')
    const { rows } = await client.query<{ line: number; first: number }>(
      `SELECT line, first FROM (SELECT line, min(line) OVER (PARTITION BY account) AS first FROM airdrop_staged) s
       WHERE line <> first ORDER BY line LIMIT ${REPEATED_LIMIT}`,
    )
    throw new RepeatedAccountsError(rows)
  }
}

/** Builds the tree out of the sorted leaves and stores its pages. @returns its root */
async function growTree(
  client: pg.ClientBase,
  network: Network,
  airdrop: number,
  leafCount: number,
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
  { airdrop, root, leafCount, total }: { airdrop: number; root: Buffer; leafCount: number; total: bigint },
): Promise<void> {
  await client.query(
    `INSERT INTO airdrops (network, airdrop, community, label, merkle_root, file_hash, leaf_count, total, token, ends_at,
       state, created_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[
        NETWORK_CODE[network],
        airdrop,
        community,
        label,
        root,
        fileHash,
        leafCount,
        total.toString(),
        token,
        endsAtS,
      ],
      ...[AIRDROP_STATE.loaded, nowMs],
    ],
  )
}
