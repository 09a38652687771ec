import { beforeAll, describe, expect, it } from 'vitest'
import { lockJournalHead } from '../../src/db/journal/head.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { rowKeysOfEntries } from '../../src/registry/fold/index.js'
import type { ClusterChange } from '../../src/registry/journal/change.js'
import { encodeChange } from '../../src/registry/journal/change.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { parseAddress } from '../../src/registry/primitives/address.js'
import { type Member, memberOf } from '../api/members.js'
import { bid, freshName, startApi } from '../api/support.js'
import { loadSlice } from '../support/slice.js'
import { useWorld } from '../support/useWorld.js'

/** Number of names of the cluster; `MANY_NAMES=100000`, in thousands, for more. */
const NAMES = Number(process.env.MANY_NAMES ?? 25_000)

const world = useWorld(() => startApi())
let owner: Member
let community: string

beforeAll(async () => {
  owner = await memberOf(world)
  community = freshName()
  for (const name of [freshName(), freshName()])
    await world.append('mainnet', [bid({ from: owner.address, name })])
  await addNames(NAMES)
  await world.append('mainnet', [bid({ from: owner.address, name: community })])
})

/** Adds names to the owner's cluster, like its second bid. */
async function addNames(count: number): Promise<void> {
  const { pool } = world
  await pool.query(
    `INSERT INTO journal SELECT j.network, j.generation, h.seq + i, j.kind, j.chain, 100000000 + i, 0, j.tx_key, j.at_ms, h.public_seq + i, 1,
       j.actor, substring(j.body FOR 96) || decode(rpad(encode(convert_to('many-' || i, 'UTF8'), 'hex'), 64, '0'), 'hex'), j.effects, j.ruleset
     FROM journal j JOIN journal_heads h USING (network) CROSS JOIN generate_series(1, $1::int) i
     WHERE j.network = 0 AND j.seq = h.seq`,
    [count],
  )
  await pool.query(
    `INSERT INTO names (network, seq, tx_key, name, cluster, outcome, updated_seq)
     SELECT 0, h.seq + i, n.tx_key, 'many-' || i, n.cluster, 1, h.seq + i
     FROM names n JOIN journal_heads h USING (network) CROSS JOIN generate_series(1, $1::int) i
     WHERE n.network = 0 AND n.seq = h.seq`,
    [count],
  )
  await pool.query(
    'UPDATE journal_heads SET seq = seq + $1, public_seq = public_seq + $1 WHERE network = 0',
    [count],
  )
  await pool.query('ANALYZE')
}

/** Number of names that a change reads under the lock of the head. */
const namesRead = (change: ClusterChange): Promise<number> =>
  inTransaction(world.pool, async (client) => {
    const body = encodeChange(change)
    const entry = decodeEntry({ kind: change.kind, position: null, txKey: null, causeMs: 1, body })
    const head = await lockJournalHead(client, 'mainnet', null)
    const { clusters } = await loadSlice(client, 'mainnet', head, rowKeysOfEntries([entry]))
    return [...clusters.values()].reduce((sum, { names }) => sum + names.length, 0)
  })
const bytesOf = ({ address }: Member): Buffer => {
  const parsed = parseAddress(address)
  if (!parsed || typeof parsed === 'string') throw new Error(address)
  return parsed.bytes
}

/** Pages of an owner's names, following the links of each page. */
async function pagesOf(address: string, query = ''): Promise<{ name: string }[][]> {
  const pages: { name: string }[][] = []
  for (let path: string | undefined = `/v1/names/owner/address/${address}${query}`; path; ) {
    const { body, headers } = await world.get(path)
    pages.push(body)
    path = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
  }
  return pages
}

describe(`a cluster of ${NAMES} names`, () => {
  it('is listed completely, page by page', async () => {
    const pages = await pagesOf(owner.address)
    expect(pages.map(({ length }) => length)).toEqual([...Array(NAMES / 1_000).fill(1_000), 3])
    expect(new Set(pages.flat().map(({ name }) => name)).size).toBe(NAMES + 3)
    expect(pages.at(-1)!.at(-1)!.name).toBe(community)
  })

  it('continues with names below communities, and refuses a malformed name', async () => {
    const friend = await memberOf(world)
    const free = { prices: [], startsAt: null, ownersOnly: false, requirements: [] }
    expect((await owner.call('PUT', `/v1/communities/${community}`, free)).status).toBe(200)
    for (const name of ['ann', 'ben', 'cat']) {
      const path = `/v1/names/community/${community}/register`
      expect((await friend.call('POST', path, { name })).status, name).toBe(200)
    }
    await world.append('mainnet', [bid({ from: friend.address, name: 'friends' })])
    const pages = await pagesOf(friend.address, '?limit=2')
    const names = ['friends', ...['ann', 'ben', 'cat'].map((name) => `${community}/${name}`)]
    expect(pages.map((page) => page.map(({ name }) => name))).toEqual([
      names.slice(0, 2),
      names.slice(2),
    ])
    for (const after of ['nobody-has-this', 'a/b', '!']) {
      const path = `/v1/names/owner/address/${friend.address}?after=${after}`
      expect(await world.get(path), after).toMatchObject({
        status: 400,
        body: { error: 'invalid_page' },
      })
    }
  })

  it('is not read in full for a change of its wallets, which still cannot take names below its communities', async () => {
    const wallets = [
      { address: Buffer.concat([Buffer.of(1), Buffer.alloc(20, 5)]), name: 'x', isPrivate: false },
    ]
    // the oldest name, and the community
    expect(await namesRead({ kind: 'add_wallets', actor: bytesOf(owner), wallets })).toBe(2)
    const taken = await owner.call('POST', '/v1/clusters/wallets', [
      { address: `0x${'05'.repeat(20)}`, name: 'ann' },
    ])
    expect(taken).toMatchObject({ status: 409, body: { error: 'wallet_name_taken' } })
    expect((await owner.call('DELETE', '/v1/clusters/wallets', [owner.address])).body.error).toBe(
      'last_verified_wallet',
    )
  })
})
