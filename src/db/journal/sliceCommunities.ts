import type { RulesVersion } from '../../registry/community/history.js'
import {
  type CommunityNameRow,
  communityAssignmentKey,
  communityNameKey,
  type LoadedRegistryRows,
  type RegistryRowKeys,
} from '../../registry/fold/rows.js'
import { communityRulesOfBody } from '../../registry/journal/storedRules.js'
import { NAME_MAX_BYTES } from '../../registry/primitives/nameRule.js'
import type { Network } from '../../registry/primitives/network.js'
import { type Queryable, query } from '../pg/rows.js'
import { partitionName } from './partitions.js'

/**
 * Loads the rules of communities, and the names below them that matter to the batch. Runs after the clusters are
 * loaded. Most batches have no communities.
 */
export async function loadCommunities(
  db: Queryable,
  slice: LoadedRegistryRows,
  keys: RegistryRowKeys,
): Promise<void> {
  if (keys.communities.size > 0) {
    slice.communities = await readCommunityRules(
      db,
      slice.network,
      slice.head.generation,
      keys.communities,
    )
    await readTakenNames(db, slice, [...keys.communityNames])
  }
  if (keys.assignments.size > 0) await readAssignedNames(db, slice, keys)
  if (slice.clusters.size > 0) await readCollidingNames(db, slice, keys)
}

/**
 * Rules of communities, oldest first: the rules in force at a time, and all later rules.
 * @param communities names, each with the time (ms) from which rules are needed
 */
export async function readCommunityRules(
  db: Queryable,
  network: Network,
  generation: number,
  communities: ReadonlyMap<string, number>,
): Promise<Map<string, RulesVersion[]>> {
  const versions = new Map<string, RulesVersion[]>(
    [...communities.keys()].map((name) => [name, []]),
  )
  const journal = `${partitionName('journal', network)} j WHERE j.network = $1 AND j.generation = $2`
  const rows = await query<{ name: string; atMs: number; body: Buffer }>(
    db,
    network,
    `SELECT k.name, j.at_ms, j.body
     FROM unnest($3::text[], $4::float8[]) AS k(name, since)
     CROSS JOIN LATERAL (
       SELECT c.seq FROM ${partitionName('communities', network)} c
       WHERE c.network = $1 AND c.name = k.name COLLATE "C" AND c.seq >= coalesce((
         SELECT b.seq FROM ${partitionName('communities', network)} b
         CROSS JOIN LATERAL (SELECT j.at_ms FROM ${journal} AND j.seq = b.seq) at
         WHERE b.network = $1 AND b.name = k.name COLLATE "C" AND at.at_ms <= k.since ORDER BY b.seq DESC LIMIT 1), 0)
     ) c
     CROSS JOIN LATERAL (SELECT j.at_ms, j.body FROM ${journal} AND j.seq = c.seq) j
     ORDER BY c.seq`,
    [generation, [...communities.keys()], [...communities.values()]],
  )
  for (const { name, atMs, body } of rows)
    versions.get(name)!.push({ atMs, rules: communityRulesOfBody(body) })
  return versions
}

type TakenName = Pick<CommunityNameRow, 'community' | 'name' | 'seq'>

async function addTakenNames(
  db: Queryable,
  slice: LoadedRegistryRows,
  text: string,
  values: readonly unknown[],
): Promise<void> {
  const rows = await query<TakenName>(db, slice.network, text, values)
  for (const { community, name, seq } of rows)
    slice.communityNames.set(communityNameKey(community, name), seq)
}

async function readTakenNames(
  db: Queryable,
  slice: LoadedRegistryRows,
  pairs: readonly string[],
): Promise<void> {
  if (pairs.length === 0) return
  const split = pairs.map((pair) => pair.split('/'))
  const text = `SELECT k.community, k.name, n.seq FROM unnest($2::text[], $3::text[]) AS k(community, name)
     CROSS JOIN LATERAL (
       SELECT n.seq FROM ${partitionName('community_names', slice.network)} n
       WHERE n.network = $1 AND n.community = k.community COLLATE "C" AND n.name = k.name COLLATE "C" LIMIT 1) n`
  await addTakenNames(db, slice, text, [
    split.map(([community]) => community),
    split.map(([, name]) => name),
  ])
}

async function readAssignedNames(
  db: Queryable,
  slice: LoadedRegistryRows,
  { assignments, claims }: RegistryRowKeys,
): Promise<void> {
  const below = `SELECT community, name, assigned, claim FROM ${partitionName('community_names', slice.network)}
    WHERE network = $1 AND community = ANY($2::text[])`
  const rows = await query<{
    community: string
    name: string
    assigned: number
    claim: Buffer | null
  }>(
    db,
    slice.network,
    `${below} AND assigned = ANY($3::int8[]) UNION ALL ${below} AND claim = ANY($4::bytea[])`,
    [
      [...assignments],
      [...slice.clusters.keys()],
      [...claims].map((key) => Buffer.from(key, 'latin1')),
    ],
  )
  for (const { community, name, assigned, claim } of rows)
    for (const by of [assigned, claim])
      if (by !== null) slice.assigned.set(communityAssignmentKey(community, by), name)
}

/**
 * Loads the names below the clusters' communities that wallet names could collide with: names that the batch requests,
 * and those with a number appended (`main-2`) that a private wallet may get when its bid makes it public. Each prefix
 * is read once, because the journal's head is locked meanwhile.
 */
async function readCollidingNames(
  db: Queryable,
  slice: LoadedRegistryRows,
  keys: RegistryRowKeys,
): Promise<void> {
  const owned = [...slice.clusters.values()].flatMap(({ names }) => names.map(({ name }) => name))
  if (owned.length === 0) return
  const wanted = wantedWalletNames(slice, keys)
  const below = `SELECT c.name AS community, n.name, n.seq FROM c CROSS JOIN unnest($3::text[]) AS w(name)
     CROSS JOIN LATERAL (
       SELECT n.name, n.seq FROM ${partitionName('community_names', slice.network)} n
       WHERE n.network = $1 AND n.community = c.name COLLATE "C"`
  const text = `WITH c AS (
       SELECT k.name FROM unnest($2::text[]) AS k(name) CROSS JOIN LATERAL (
         SELECT FROM ${partitionName('communities', slice.network)} c
         WHERE c.network = $1 AND c.name = k.name COLLATE "C" LIMIT 1) c)
     ${below} AND n.name = w.name COLLATE "C" LIMIT 1) n
     UNION ALL
     ${below.replace('$3', '$4')} AND n.name >= w.name COLLATE "C" AND n.name < w.name || '{' COLLATE "C") n`
  await addTakenNames(db, slice, text, [
    owned,
    wanted,
    keys.mayPublish ? numberedNamePrefixes(wanted) : [],
  ])
}

/** Wallet names that may become public: names that the batch requests, and names of its private wallets. */
function wantedWalletNames(
  { clusters }: LoadedRegistryRows,
  { wallets: requestedWallets, walletNames }: RegistryRowKeys,
): string[] {
  const wanted = new Set(walletNames)
  for (const { wallets } of clusters.values()) {
    for (const [key, entry] of wallets)
      if (entry.isPrivate && requestedWallets.has(key)) wanted.add(entry.name)
  }
  return [...wanted]
}

/** Bytes of `-` and the digits that `firstFreeName` may append to a name. */
const SUFFIX_BYTES = 5

/**
 * Prefixes with which the numbered forms of names begin: a long name is shortened to leave room for the number. No
 * prefix in the result begins with another prefix of the result.
 */
function numberedNamePrefixes(names: readonly string[]): string[] {
  const most = NAME_MAX_BYTES - SUFFIX_BYTES
  const all = names.map((name) => (name.length <= most ? `${name}-` : name.slice(0, most))).sort()
  let last: string
  return all.filter((beginning, i) => {
    if (i > 0 && beginning.startsWith(last)) return false
    last = beginning
    return true
  })
}
