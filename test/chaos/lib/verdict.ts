import type pg from 'pg'
import { hubAbi } from '../../../src/chains/evm/contracts/index.js'
import { replayJournal } from '../../../src/db/journal/replay.js'
import type { EventItem, StatusAnswer } from '../../../src/testing/index.js'
import { operatorAccount } from '../../../src/testing/world.js'
import { alarmBreaches } from './alarms.js'
import { purchaseBreaches } from './community.js'
import type { Ledger } from './ledger.js'
import { purseBreaches } from './purses.js'
import { ownersThatDiffer, readTruth, type Truth } from './truth.js'
import { askApi, type FeedReader, readFeed, type StatusWatcher } from './watchers.js'
import type { ChaosChain, ChaosWorld } from './world.js'

const AT_ONCE = 8

/** Result of the checks after a run has settled. */
export interface Verdict {
  /** Broken invariants, one sentence each. Empty if there are none. */
  breaches: string[]
  bids: number
  names: number
  messages: number
  payments: number
  purchases: number
  entries: number
  events: number
  statuses: Record<string, number>
}

/**
 * Checks the invariants of docs/build/architecture.md against the chains, the database and the metrics.
 * @param watched statuses seen during the run; null after a rewind, when another generation has begun
 */
export async function judge(
  world: ChaosWorld,
  pool: pg.Pool,
  ledger: Ledger,
  watched: { statuses: StatusWatcher; feed: FeedReader; secrets: ReadonlySet<string> } | null,
): Promise<Verdict> {
  const truth = await readTruth(world, ledger)
  const breaches = [...(watched?.statuses.breaches ?? [])]
  const { live, rebuilt, entries } = await replayJournal(pool, 'mainnet')
  if (live !== rebuilt) breaches.push(`state hash ${live}, rebuilt from the journal ${rebuilt}`)
  breaches.push(
    ...(await ownersThatDiffer(world, truth.winners)),
    ...(await winnersThatDiffer(pool, truth)),
  )
  breaches.push(
    ...messageBreaches(truth),
    ...paymentBreaches(truth, watched !== null),
    ...(await deliveryBreaches(world, pool)),
    ...(await moneyBreaches(world)),
  )
  breaches.push(...(await alarmBreaches(world)))
  await watched?.feed.finish()
  const events = await readFeed(world.apis)
  if (watched)
    breaches.push(
      ...feedBreaches(watched.feed.items, events),
      ...secretBreaches(events, watched.secrets),
    )
  const seen = watched?.statuses.terminal ?? new Map<string, string>()
  const { statuses, reported, wrong } = await statusBreaches(world, ledger, truth, seen)
  breaches.push(
    ...wrong,
    ...purchaseBreaches(truth.purchases, (tx) => reported.get(tx), watched !== null),
  )
  return {
    breaches,
    bids: truth.bids.length,
    names: truth.winners.size,
    messages: truth.sent.length,
    payments: truth.solana?.payments.length ?? 0,
    purchases: truth.purchases.length,
    entries,
    events: events.length,
    statuses,
  }
}

/** Names whose winner in the database differs from that of the hub's logs. */
async function winnersThatDiffer(pool: pg.Pool, { winners }: Truth): Promise<string[]> {
  const { rows } = await pool.query<{ name: string; body: Buffer }>(
    `SELECT n.name, j.body FROM names n JOIN journal j USING (network, seq) JOIN journal_heads h USING (network, generation)
     WHERE n.network = 0 AND n.outcome = 1`,
  )
  const ours = new Map(rows.map(({ name, body }) => [name, `0x${body.toString('hex', 32, 64)}`]))
  const wrong = [...winners].filter(([name, from]) => ours.get(name) !== from)
  return [
    ...wrong.map(
      ([name, from]) =>
        `${name} belongs to ${ours.get(name) ?? 'nobody'} in the database, to ${from} by the logs`,
    ),
    ...[...ours.keys()]
      .filter((name) => !winners.has(name))
      .map((name) => `${name} is in the database and in no log`),
  ]
}

function messageBreaches({ sent: bridged, received, solana }: Truth): string[] {
  const paid = (solana?.payments ?? [])
    .filter(({ isHonoured }) => isHonoured)
    .map(({ messageId }) => messageId)
  const sent = [...bridged, ...paid]
  return [
    ...sent
      .filter((guid) => !received.has(guid))
      .map((guid) => `message ${guid} was never executed`),
    ...[...received]
      .filter(([, count]) => count > 1)
      .map(([guid, count]) => `message ${guid} was executed ${count} times`),
    ...[...received.keys()]
      .filter((guid) => !sent.includes(guid))
      .map((guid) => `message ${guid} was executed and never sent`),
  ]
}

/**
 * Checks that each payment's money was kept or refunded, once, as the hub decided.
 * @param isFirst true if there was no rewind: a refund before a rewind stays a refund, whatever the hub decides later
 */
function paymentBreaches({ solana, outcomeOfMessage }: Truth, isFirst: boolean): string[] {
  if (!solana) return []
  const breaches = solana.payments.flatMap(
    ({ signature, messageId, isHonoured, settled, refunded }) => {
      if (settled + refunded !== 1)
        return [`payment ${signature} was settled ${settled} and refunded ${refunded} times`]
      const isWon = isHonoured && outcomeOfMessage(messageId) === 'finalized'
      return isFirst && isWon !== (settled === 1)
        ? [`payment ${signature} won: ${isWon}, settled: ${settled === 1}`]
        : []
    },
  )
  return [...breaches, ...solana.moneyBreaches]
}

/** Checks that no event contains a private address of a member. */
const secretBreaches = (events: readonly EventItem[], secrets: ReadonlySet<string>): string[] => {
  const text = JSON.stringify(events)
  return [...secrets]
    .filter((secret) => text.includes(secret))
    .map((secret) => `private ${secret} is in the feed`)
}

async function deliveryBreaches({ chains }: ChaosWorld, pool: pg.Pool): Promise<string[]> {
  const breaches: string[] = []
  const open = await pool.query<{ id: string; state: number; reason: string | null }>(
    'SELECT id::text, state, reason FROM jobs WHERE state <> 4',
  )
  breaches.push(
    ...open.rows.map(
      ({ id, state, reason }) => `delivery ${id} ended in state ${state} (${reason})`,
    ),
  )
  const unsettled = await pool.query('SELECT 1 FROM messages WHERE NOT settled OR NOT confirmed')
  if (unsettled.rowCount) breaches.push(`${unsettled.rowCount} messages are not settled`)
  const unpaid = await pool.query<{ n: number }>(
    `SELECT ((SELECT count(*) FROM payments WHERE kind = 1 AND state < 2)
           + (SELECT count(*) FROM jobs WHERE kind IN (6, 7) AND state <> 4))::int AS n`,
  )
  if (unpaid.rows[0]!.n > 0)
    breaches.push(`${unpaid.rows[0]!.n} payments or payouts on Solana have not ended`)
  const unjudged = await pool.query('SELECT 1 FROM payments WHERE kind = 2 AND state < 2')
  if (unjudged.rowCount)
    breaches.push(`${unjudged.rowCount} payments for names below the community are not judged`)
  return [
    ...breaches,
    ...(await nonceBreaches(chains, pool)),
    ...(await purseBreaches(chains, pool)),
  ]
}

/** Checks that the relayer's nonce counts equal the chains' counts. */
async function nonceBreaches(chains: readonly ChaosChain[], pool: pg.Pool): Promise<string[]> {
  const { address } = operatorAccount('relayer')
  const { rows } = await pool.query<{ label: string; next_nonce: number }>(
    `SELECT c.label, s.next_nonce FROM relay_signers s JOIN chains c USING (network, chain) WHERE s.network = 0 AND s.signer = $1`,
    [Buffer.from(address.slice(2), 'hex')],
  )
  const wrong = rows.map(async ({ label, next_nonce }) => {
    const used = await chains
      .find((chain) => chain.label === label)!
      .reader.getTransactionCount({ address })
    return used === next_nonce
      ? []
      : [`the relayer's next nonce on ${label} is ${next_nonce}, the chain's ${used}`]
  })
  return (await Promise.all(wrong)).flat()
}

async function moneyBreaches({ hub }: ChaosWorld): Promise<string[]> {
  const read = (functionName: 'kept' | 'owed') =>
    hub.reader.readContract({ address: hub.contract, abi: hubAbi, functionName })
  const [balance, kept, owed] = await Promise.all([
    hub.reader.getBalance({ address: hub.contract }),
    read('kept'),
    read('owed'),
  ])
  return balance >= kept + owed
    ? []
    : [`the hub holds ${balance} wei, kept ${kept} and owed ${owed}`]
}

function feedBreaches(slow: readonly EventItem[], all: readonly EventItem[]): string[] {
  const differs = Array.from({ length: Math.max(slow.length, all.length) }, (_, i) => i).find(
    (i) => JSON.stringify(slow[i]) !== JSON.stringify(all[i]),
  )
  if (differs === undefined) return []
  return [
    `the feed's item ${differs} was ${JSON.stringify(slow[differs])} during the run and is ${JSON.stringify(all[differs])} (${slow.length} items then, ${all.length} now)`,
  ]
}

async function statusBreaches(
  { apis }: ChaosWorld,
  { txs }: Ledger,
  truth: Truth,
  terminal: ReadonlyMap<string, string>,
): Promise<{ statuses: Record<string, number>; reported: Map<string, string>; wrong: string[] }> {
  const statuses: Record<string, number> = {}
  const reported = new Map<string, string>()
  const wrong: string[] = []
  for (let i = 0; i < txs.length; i += AT_ONCE) {
    await Promise.all(
      txs.slice(i, i + AT_ONCE).map(async (tx) => {
        const answer = await askApi<StatusAnswer>(apis, `/v1/names/register/tx/${tx.hash}`)
        const status = answer?.status ?? 'no answer'
        statuses[status] = (statuses[status] ?? 0) + 1
        reported.set(tx.hash, status)
        const expected = truth.statusOf(tx)
        const where = `${tx.kind} ${tx.hash} on ${tx.label}`
        if (!expected.includes(status))
          wrong.push(`${where} is ${JSON.stringify(answer)}, expected ${expected.join(' or ')}`)
        const before = terminal.get(tx.hash)
        if (before !== undefined && before !== status)
          wrong.push(`${where} was ${before}, is ${status}`)
      }),
    )
  }
  return { statuses, reported, wrong }
}
