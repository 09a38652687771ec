import { appendEntries } from '../../../src/db/journal/append.js'
import { migrate } from '../../../src/db/pg/migrate.js'
import { createPool, inTransaction } from '../../../src/db/pg/pool.js'
import { encodeChange, type SignedChange } from '../../../src/registry/journal/change.js'
import { type DecodedEntry, decodeEntry } from '../../../src/registry/journal/decode.js'
import { txKeyOfHash } from '../../../src/registry/primitives/bytes.js'
import { deriveClusterId } from '../../../src/registry/primitives/clusterId.js'
import {
  isPrivate,
  isVerified,
  nameOf,
  type Shape,
  shapeOf,
  strangerOf,
  txOf,
  walletOf,
} from './population.js'

/** Fills a database with a generated registry: its entries, as chains and signed requests would have brought them. */

const NETWORK = 'mainnet'
/** Number of the hub, the first chain that a daemon registers. */
const CHAIN = 1
const BIDS_A_BLOCK = 50
const FIRST_BLOCK = 1_000_000
const FIRST_MS = Date.UTC(2026, 0, 1)
const MS_A_CLUSTER = 200
const MINIMUM = 10n ** 16n
/** Wallets that one change may list (src/api/clusters). */
const WALLETS_A_CHANGE = 100
const CLUSTERS_A_BATCH = 500
/** Time of the writer: all entries are dated by their causes. */
const WRITER_MS = Number.MAX_SAFE_INTEGER

/** Generates at least so many names in a new database. */
export async function generate({
  databaseUrl,
  names,
}: {
  databaseUrl: string
  names: number
}): Promise<void> {
  await migrate(databaseUrl)
  const pool = createPool({ url: databaseUrl, max: 1, applicationName: 'test' })
  const entries = new Entries(names)
  let won = 0
  let cluster = 0
  while (won < names) {
    const batch: DecodedEntry[] = cluster === 0 ? [minimumEntry()] : []
    const end = cluster + CLUSTERS_A_BATCH
    for (; cluster < end && won < names; cluster++) won += entries.add(batch, cluster).names
    const { changes } = await inTransaction(pool, (client) =>
      appendEntries(client, NETWORK, batch, { writerMs: WRITER_MS }),
    )
    const refused = changes.outcomes.find(({ refusal }) => refusal !== null)
    if (refused) throw new Error(`entry ${refused.seq}: ${refused.refusal!.code}`)
  }
  await pool.query('UPDATE journal_heads SET caught_up = true WHERE network = 0')
  // counts rows for the planner, as autovacuum does in time
  await pool.query('VACUUM ANALYZE')
  await pool.end()
}

/** The minimum that the hub announced before all bids. */
const minimumEntry = (): DecodedEntry =>
  decodeEntry({
    kind: 'minimum',
    position: { chain: CHAIN, block: FIRST_BLOCK - 1, logIndex: 0 },
    txKey: null,
    causeMs: FIRST_MS,
    body: wordOf(MINIMUM),
  })

function wordOf(value: bigint): Buffer {
  const word = Buffer.alloc(32)
  word.writeBigUInt64BE(value, 24)
  return word
}

/** Makes entries in order; counts the bids, whose places on the chain follow one another. */
class Entries {
  #bids = 0

  /** @param total names of the whole registry */
  constructor(readonly total: number) {}

  /** Adds what a cluster's wallets and strangers did. @returns its shape */
  add(to: DecodedEntry[], cluster: number): Shape {
    const shape = shapeOf(cluster, this.total)
    const first = walletOf(cluster)
    const causeMs = FIRST_MS + cluster * MS_A_CLUSTER
    for (let k = 0; k < shape.names; k++)
      to.push(this.#bid({ first, name: nameOf(cluster, k), hash: txOf(cluster, k) }, causeMs))
    if (shape.others > 0) addWallets(to, cluster, shape.others, causeMs)
    if (shape.below !== null) addCommunity(to, cluster, shape.below, causeMs)
    return shape
  }

  #bid(
    { first, name, hash }: Record<'first' | 'hash', Buffer> & { name: string },
    causeMs: number,
  ): DecodedEntry {
    const body = Buffer.alloc(128)
    hash.copy(body)
    first.copy(body, 44, 1)
    body.writeBigUInt64BE(MINIMUM, 88)
    body.write(name, 96, 'latin1')
    const block = FIRST_BLOCK + Math.floor(this.#bids / BIDS_A_BLOCK)
    const position = { chain: CHAIN, block, logIndex: this.#bids % BIDS_A_BLOCK }
    this.#bids += 1
    return decodeEntry({ kind: 'bid', position, txKey: txKeyOfHash(hash), causeMs, body })
  }
}

/** A signed change as a request brings it. */
const changed = (content: SignedChange, causeMs: number): DecodedEntry =>
  decodeEntry({
    kind: content.kind,
    position: null,
    txKey: null,
    causeMs,
    body: encodeChange(content),
  })

/** The first wallet lists the others, some of which accept. */
function addWallets(to: DecodedEntry[], cluster: number, others: number, causeMs: number): void {
  const actor = walletOf(cluster)
  const accepting: Buffer[] = []
  for (let from = 1; from <= others; from += WALLETS_A_CHANGE) {
    const wallets = []
    for (let j = from; j <= Math.min(others, from + WALLETS_A_CHANGE - 1); j++) {
      const address = walletOf(cluster, j)
      wallets.push({ address, name: `wallet-${j}`, isPrivate: isPrivate(j) })
      if (isVerified(j)) accepting.push(address)
    }
    to.push(changed({ kind: 'add_wallets', actor, wallets }, causeMs))
  }
  const id = deriveClusterId(NETWORK, actor, 0)
  for (const wallet of accepting)
    to.push(changed({ kind: 'verify_wallet', actor: wallet, clusterId: id }, causeMs))
}

/** The first name becomes a community, free for everybody, and strangers register names below it. */
function addCommunity(to: DecodedEntry[], cluster: number, below: number, causeMs: number): void {
  const community = nameOf(cluster)
  const rules = { prices: [], ownersOnly: false, startsAtMs: null, requirements: [] }
  to.push(
    changed({ kind: 'configure_community', actor: walletOf(cluster), community, rules }, causeMs),
  )
  for (let i = 0; i < below; i++) {
    const wallet = strangerOf(cluster, i)
    const of = { community, name: `friend-${i}`, wallet, met: null, isAssigned: false }
    to.push(changed({ kind: 'register_community_name', actor: wallet, ...of }, causeMs))
  }
}
