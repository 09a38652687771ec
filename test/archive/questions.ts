import type pg from 'pg'
import { decodeWallet } from '../../src/registry/primitives/address.js'
import type { Member } from '../api/members.js'
import type { ArchiveWorld } from './world.js'

/** Answers by what was asked. */
export type Answers = Map<string, string>

const OF_NAMES = ['v1/clusters/name', 'v1/communities', 'v0.1/cluster', 'v0.1/address', 'v0.1/register/check']
const ORDERS = ['oldest', 'newest']
const NOBODY = `0x${'0'.repeat(40)}`
const OF_ADDRESSES = ['names/address', 'names/owner/address', 'clusters/address']

/** Asks an API all that it has about a registry, as a stranger and as its members, and walks its feeds. */
export async function askAll(url: string, world: ArchiveWorld, asked: Subjects): Promise<Answers> {
  return new Map([...(await askLookUps(url, world, asked)), ...(await askFeeds(url, asked))])
}

async function askLookUps(url: string, { members }: ArchiveWorld, asked: Subjects): Promise<Answers> {
  const { answers, ask } = asking(url)
  const own = (member: Member, path: string) => ask(path, member.headers, member.address)
  await Promise.all([
    ...asked.names.flatMap((name) => OF_NAMES.map((path) => ask(`/${path}/${name}`))),
    ...asked.addresses.flatMap((address) => OF_ADDRESSES.map((path) => ask(`/v1/${path}/${address}`))),
    ...asked.clusters.map((id) => ask(`/v1/clusters/id/0x${id}`)),
    ...asked.txs.flatMap((tx) => ['v1/names', 'v0.1'].map((of) => ask(`/${of}/register/tx/0x${tx}`))),
    ...['/v1/overview', '/v1/events/checkpoint'].map((path) => ask(path)),
    ...members.flatMap((member) => [
      ...asked.clusters.map((id) => own(member, `/v1/clusters/id/0x${id}`)),
      ...['/v1/bundle', `/v1/names/address/${member.address}`].map((path) => own(member, path)),
    ]),
  ])
  return answers
}

/** Walks the feed in both versions and orders, of everybody and of some, and from times on. */
export async function askFeeds(url: string, { actors, times }: Subjects): Promise<Answers> {
  const { answers, ask } = asking(url)
  const walks = ORDERS.flatMap((orderBy) => [
    ...['', ...actors, NOBODY].map((from) => walk(ask, 'v1', { orderBy, limit: '7', ...(from && { from }) })),
    walk(ask, 'v0.1', { orderBy, limit: '7' }),
  ])
  const since = times.map((fromTimestamp) => walk(ask, 'v1', { limit: '50', fromTimestamp }))
  await Promise.all([...walks, ...since])
  return answers
}

function asking(url: string) {
  const answers: Answers = new Map()
  const ask = async (path: string, headers: Record<string, string> = {}, as = ''): Promise<string> => {
    const response = await fetch(`${url}${path}`, { headers })
    const text = `${response.status} ${await response.text()}`
    answers.set(`${as} ${path}`, text)
    return text
  }
  return { answers, ask }
}

type Ask = (path: string) => Promise<string>

/** Walks a feed to its end. */
async function walk(ask: Ask, version: string, query: Record<string, string>): Promise<void> {
  for (let next: Record<string, string> | null = query; next; ) {
    const text = await ask(`/${version}/events?${new URLSearchParams(next)}`)
    const { nextPage } = JSON.parse(text.slice(4)) as { nextPage?: string }
    next = nextPage ? { ...query, nextPage } : null
  }
}

/** What a registry is asked about: found while its table has all entries. */
export type Subjects = Awaited<ReturnType<typeof subjectsOf>>

export async function subjectsOf(pool: pg.Pool) {
  const column = async (text: string): Promise<string[]> =>
    (await pool.query<{ v: string }>(`SELECT DISTINCT v FROM (${text}) s WHERE v IS NOT NULL ORDER BY v`)).rows.map(
      ({ v }) => v,
    )
  const textOf = (hex: string): string => decodeWallet(Buffer.from(hex, 'hex')).text
  const addresses = await column(
    `SELECT encode(address, 'hex') AS v FROM wallets UNION SELECT encode(address, 'hex') FROM community_names`,
  )
  const actors = await column(`SELECT encode(actor, 'hex') AS v FROM (SELECT actor FROM journal WHERE actor IS NOT NULL
    GROUP BY actor ORDER BY count(*) DESC, actor LIMIT 12) a`)
  return {
    names: await column('SELECT name AS v FROM names'),
    addresses: addresses.map(textOf),
    actors: actors.map(textOf),
    clusters: await column(`SELECT encode(id, 'hex') AS v FROM clusters`),
    txs: await column(`SELECT encode(substring(body FROM 1 FOR 32), 'hex') AS v FROM journal WHERE kind = 1`),
    times: await column(`SELECT at_ms::text AS v FROM journal WHERE seq % 23 = 0`),
  }
}
