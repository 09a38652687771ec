import { beforeAll, expect, it } from 'vitest'
import { readJournalHead } from '../../src/db/journal/head.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { rowKeysOfEntries } from '../../src/registry/fold/index.js'
import { encodeChange, type SignedChange } from '../../src/registry/journal/change.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { deriveClusterId } from '../../src/registry/primitives/clusterId.js'
import { useDatabase } from '../support/database.js'
import { loadSlice } from '../support/slice.js'

/** A stranger's change takes the same time with and without private wallets of others: it reads none of their rows. */
const PRIVATE = 50
const SERIAL = 7

const database = useDatabase()
/** A wallet's stored address: type byte and 20 bytes. */
const wallet = (n: number): Buffer => Buffer.concat([Buffer.of(1), Buffer.alloc(20, n)])
const owner = wallet(200)
const stranger = wallet(201)
const hidden = wallet(1)
const listed = wallet(202)
const id = deriveClusterId('testnet', owner, 0)

beforeAll(async () => {
  const { pool } = database
  await pool.query(
    'INSERT INTO clusters (network, serial, id, created_seq) VALUES (1, $1, $2, 1)',
    [SERIAL, id],
  )
  const add = `INSERT INTO wallets (network, cluster, address, name, verified, private, backed_up, created_seq, updated_seq)
    VALUES (1, ${SERIAL}, $1, $2, $3, $4, false, 1, 1)`
  await pool.query(add, [owner, 'main', true, false])
  await pool.query(add, [listed, 'listed', false, true])
  for (let n = 1; n <= PRIVATE; n++) await pool.query(add, [wallet(n), `w${n}`, n === 1, true])
  await pool.query(
    `INSERT INTO names (network, seq, name, cluster, outcome, updated_seq) VALUES (1, 1, 'club', ${SERIAL}, 1, 1)`,
  )
})

/** Private rows of the cluster that a change loads; null where it does not load the cluster. */
async function privateRowsOf(change: SignedChange): Promise<number | null> {
  const entry = {
    kind: change.kind,
    position: null,
    txKey: null,
    causeMs: Date.now(),
    body: encodeChange(change),
  }
  const keys = rowKeysOfEntries([decodeEntry(entry)])
  const slice = await inTransaction(database.pool, async (client) =>
    loadSlice(client, 'testnet', await readJournalHead(client, 'testnet'), keys),
  )
  const found = slice.clusters.get(SERIAL)
  return found ? [...found.wallets.values()].filter(({ isPrivate }) => isPrivate).length : null
}

const FREE = { prices: [], ownersOnly: false, startsAtMs: null, requirements: [] }

it.each<[string, SignedChange]>([
  ['verify itself in a cluster', { kind: 'verify_wallet', actor: stranger, clusterId: id }],
  [
    'make its name a community',
    { kind: 'configure_community', actor: stranger, community: 'club', rules: FREE },
  ],
])('a stranger’s attempt to %s reads no private row', async (_what, change) => {
  expect(await privateRowsOf(change)).toBe(0)
})

it('a member and an invited wallet read them all', async () => {
  expect(
    await privateRowsOf({
      kind: 'configure_community',
      actor: owner,
      community: 'club',
      rules: FREE,
    }),
  ).toBe(51)
  expect(await privateRowsOf({ kind: 'verify_wallet', actor: listed, clusterId: id })).toBe(51)
})

it('a name for a private wallet reads the same clusters as a name for a stranger', async () => {
  const register = (to: Buffer): SignedChange => ({
    kind: 'register_community_name',
    actor: stranger,
    community: 'mine',
    name: 'x',
    wallet: to,
    met: null,
    isAssigned: false,
  })
  expect(await privateRowsOf(register(hidden))).toBe(await privateRowsOf(register(stranger)))
})
