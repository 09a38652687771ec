import type pg from 'pg'
import { afterAll } from 'vitest'
import { Client } from '../../src/client/index.js'
import { type LogOptions, LogReader } from '../../src/client/verify.js'
import { migrate } from '../../src/db/pg/migrate.js'
import { createPool } from '../../src/db/pg/pool.js'
import { createMirrorWorker } from '../../src/mirror/worker.js'
import type { Worker } from '../../src/ops/worker.js'
import { createTransparencyLogWorker } from '../../src/push/transparencyLog.js'
import type { Witness } from '../../src/push/witnesses.js'
import { GrowingTree } from '../../src/registry/transparencyLog/append.js'
import { beginningLeaf } from '../../src/registry/transparencyLog/beginning.js'
import { sha256InOneCall, sha256TreeHasher } from '../../src/registry/transparencyLog/hash.js'
import type { TreeHead } from '../../src/registry/transparencyLog/note.js'
import {
  type Cosigner,
  logKeysOfSeeds,
  signCheckpoint,
} from '../../src/registry/transparencyLog/signer.js'
import {
  bundlePath,
  packBundle,
  TILE_WIDTH,
  tileAt,
  tilePath,
} from '../../src/registry/transparencyLog/tiles.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { START_MS } from '../api/support.js'
import { useServer } from '../support/database.js'
import { readEpoch } from '../support/epoch.js'
import { serveInTest } from '../support/httpServer.js'

const { signal } = new AbortController()
export const keys = logKeysOfSeeds([Buffer.alloc(32, 7)])
export const key = keys[0]!.publicKey.toString('base64')
export const ORIGIN = 'names.example/mainnet/1'

/** Steps the worker of a source's log until it has nothing to do. */
export async function writeLog(pool: pg.Pool, witnesses: readonly Witness[] = []): Promise<void> {
  const epoch = await readEpoch(pool, 'mainnet', 'index')
  const ctx = { pool, network: 'mainnet', epoch } as const
  const worker = createTransparencyLogWorker(ctx, { domain: 'names.example', keys, witnesses })
  while ((await worker.step(signal, () => {})) !== 'idle');
}

export interface Database {
  url: string
  pool: pg.Pool
}

/** A database of this version's tables, beside another one. */
export async function emptyDatabase(beside: string, name: string): Promise<Database> {
  const url = await createDatabase(beside, name)
  await migrate(url)
  return { url, pool: createPool({ url, max: 4, applicationName: 'test', isByIndex: true }) }
}

/** Maker of empty databases on a server of a file's own; their pools end with the file. */
export function useEmptyDatabases(): () => Promise<Database> {
  const server = useServer()
  const made: Database[] = []
  afterAll(() => Promise.all(made.map(({ pool }) => pool.end())))
  return async () => {
    const fresh = await emptyDatabase(server.url, `mirror_${made.length + 1}`)
    made.push(fresh)
    return fresh
  }
}

function clientOf(from: string | typeof fetch | Client, timeoutMs: number): Client {
  if (from instanceof Client) return from
  const common = { timeoutMs, retries: 0 }
  return typeof from === 'string'
    ? new Client({ url: from, ...common })
    : new Client({ url: 'http://log.invalid', fetch: from, ...common })
}

/** The worker of a mirror. */
export async function mirrorOf(
  { pool }: Pick<Database, 'pool'>,
  from: string | typeof fetch | Client,
  {
    timeoutMs = 5_000,
    isExpected = true,
    cosigner,
    ...options
  }: { timeoutMs?: number; isExpected?: boolean; cosigner?: Cosigner } & Partial<LogOptions> = {},
): Promise<Worker> {
  const reader = new LogReader(clientOf(from, timeoutMs), {
    key,
    sha256: sha256InOneCall,
    ...options,
  })
  const epoch = await readEpoch(pool, 'mainnet', 'index')
  return createMirrorWorker({ network: 'mainnet', pool, epoch, reader, isExpected, cosigner })
}

/** Steps a mirror until it has nothing to do. */
export async function mirrorFrom(...of: Parameters<typeof mirrorOf>): Promise<void> {
  const worker = await mirrorOf(...of)
  while ((await worker.step(signal, () => {})) !== 'idle');
}

/** Rows of everything that a mirror writes. */
export async function writtenRows(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ rows: number }>(
    `SELECT ((SELECT count(*) FROM journal) + (SELECT count(*) FROM names) + (SELECT count(*) FROM clusters)
      + (SELECT count(*) FROM wallets) + (SELECT count(*) FROM logs) + (SELECT count(*) FROM log_tiles)
      + (SELECT count(*) FROM journal_heads WHERE seq > 0 OR proved_block IS NOT NULL))::int AS rows`,
  )
  return rows[0]!.rows
}

export interface Files {
  head: TreeHead
  /** By their paths below the network. */
  files: Map<string, Uint8Array>
}

/** A log of any entries, signed, as files below the network's folder. */
export function filesOf(
  events: readonly string[],
  { origin = ORIGIN, previous = null as TreeHead | null, by = keys } = {},
): Files {
  const entries = [beginningLeaf(origin, previous), ...events].map((text) => Buffer.from(text))
  const files = new Map<string, Uint8Array>()
  const below = origin.split('/').at(-1)!
  const tree = new GrowingTree(sha256TreeHasher)
  for (const tile of tree.append(entries.map((entry) => sha256TreeHasher.leaf(entry))))
    files.set(`${below}/${tilePath(tile)}`, tile.hashes)
  for (let index = 0; index * TILE_WIDTH < entries.length; index++) {
    const tile = tileAt(entries.length, 0, index)!
    const bundle = entries.slice(index * TILE_WIDTH, index * TILE_WIDTH + tile.width)
    files.set(`${below}/${bundlePath(tile)}`, packBundle(bundle))
  }
  const head = { origin, size: tree.size, root: tree.root }
  files.set('checkpoint', Buffer.from(signCheckpoint(head, by)!))
  return { head, files }
}

/** A `fetch` that answers with these files. */
export const serving =
  ({ files }: Pick<Files, 'files'>): typeof fetch =>
  async (input) => {
    const path = new URL(String(input)).pathname.replace('/v1/log/mainnet/', '')
    const bytes = files.get(path)
    return bytes
      ? new Response(new Uint8Array(bytes))
      : Response.json({ error: 'not_found', message: `no ${path}` }, { status: 404 })
  }

/** A public event: its type, its data and its actor. */
export type Event = readonly [type: string, data: object, from: string]

export const leavesOf = (events: readonly Event[]): string[] =>
  events.map(([type, data, from], i) =>
    JSON.stringify({ v: 1, type, at: START_MS + i, from, data }),
  )

/** Makes a cluster with one wallet. */
export const createdBy = (of: string, wallet: string): Event[] => [
  ['CREATE_CLUSTER', { cluster_id: of }, wallet],
  [
    'ADD_WALLET',
    { name: 'main', address: wallet, cluster_id: of, is_verified: true, is_backed_up: false },
    wallet,
  ],
]

/** A cluster whose wallet registers a name. */
export function registeredBy(wallet: string, name: string): Event[] {
  const of = `0x${'7'.repeat(64)}`
  const registration = { name, wei_amount: '1', cluster_id: of }
  return [...createdBy(of, wallet), ['REGISTER_NAME', registration, wallet]]
}

/**
 * Serves a log of these leaves until the test ends.
 * @returns its address, the key that signs it, and a function that shows another log from now on
 */
export async function serveFiles(leaves: readonly string[]) {
  let answer = serving(filesOf(leaves))
  const source = await serveInTest(async ({ url }, res) => {
    const response = await answer(`http://log.invalid${url}`)
    res.writeHead(response.status, { 'content-type': response.headers.get('content-type') ?? '' })
    res.end(Buffer.from(await response.arrayBuffer()))
  })
  const show = (others: readonly string[]): void => {
    answer = serving(filesOf(others))
  }
  return { source, by: key, show }
}
