import type pg from 'pg'
import { LogReader } from '../client/transparencyLog.js'
import { whileLeading } from '../db/leaders/lead.js'
import { markMirrorBegun } from '../db/mirror/mirrors.js'
import { lockMirrorHead } from '../db/mirror/writer.js'
import type { Listener } from '../db/pg/notify.js'
import { inTransaction } from '../db/pg/pool.js'
import type { NetworkIndexRun } from '../indexer/run.js'
import type { ProblemWithAlarm } from '../ops/alarms.js'
import type { LeaderContext, NetworkContext } from '../ops/context.js'
import { runWorkers, type Worker } from '../ops/worker.js'
import type { LogPlace } from '../registry/primitives/network.js'
import { sha256InOneCall } from '../registry/transparencyLog/hash.js'
import { createEvidenceMirrorWorker } from './evidence.js'
import { MirrorHealth } from './health.js'
import { createMirrorSourceClient, type MirrorSource } from './source.js'
import { createMirrorWorker } from './worker.js'

/**
 * A running mirror of a network, which copies another service's log. Like an indexer, the process competes for the
 * network's lead, and only the leader writes.
 */
export interface NetworkMirrorRun extends NetworkIndexRun {
  /** The reason why nothing is mirrored. Null where there is no problem, and where another process leads. */
  problem(): ProblemWithAlarm | null
}

export interface MirrorSettings {
  source: MirrorSource
  /** Creates the workers that maintain the network's tables, for one term of leadership. */
  maintenance(ctx: LeaderContext): Worker[]
  /** True if the source has to have a log of the network. */
  isExpected: boolean
  /** True if the database has mirrored nothing yet, so that it is unknown whether the source has the network. */
  isNew: boolean
}

/**
 * Mirrors a network's log while this process leads the network.
 * @throws Error for a network that has its own journal; TypeError for a bad URL or key
 */
export async function runMirror(
  ctx: NetworkContext,
  { source, maintenance, isExpected, isNew }: MirrorSettings,
  at: { leases: pg.Pool; listener: Listener },
): Promise<NetworkMirrorRun> {
  const { network, log, loops, signal, pool } = ctx
  const client = createMirrorSourceClient(source)
  const { key, domain, accept, cosigner } = source
  const openReader = (place: LogPlace = network) =>
    new LogReader(client, {
      key,
      domain,
      network: place,
      sha256: sha256InOneCall,
      accept: accept?.replace(`/${network}/`, `/${place}/`),
    })
  // throws for a bad key before anything is written
  openReader()
  await inTransaction(pool, async (db) => {
    await lockMirrorHead(db, network)
    if (isExpected || isNew) await markMirrorBegun(db, network)
  })
  let leads = false
  const healthOf = (place: LogPlace) =>
    new MirrorHealth(`the mirror of ${place}, from ${source.url}`)
  const healths = [healthOf(network), healthOf(`${network}/evidence`)] as const
  const withHealth = (worker: Worker, { succeeded, failed }: MirrorHealth): Worker => ({
    ...worker,
    check: succeeded,
    onFailure: failed,
  })
  const onError = (err: Error) => log.warn({ network, err }, 'the mirror stopped; trying again')
  const lead = { ...at, network, role: 'index', signal, loops, log, onError } as const
  const done = whileLeading(lead, async (epoch, stopped) => {
    log.info({ network, source: source.url, epoch }, 'mirroring')
    const leader = { ...ctx, epoch, signal: stopped }
    const reader = openReader()
    leads = true
    try {
      await runWorkers(
        [
          withHealth(
            createMirrorWorker({ network, pool, epoch, reader, isExpected, cosigner }),
            healths[0],
          ),
          withHealth(
            createEvidenceMirrorWorker({
              network,
              pool,
              epoch,
              reader: openReader(`${network}/evidence`),
            }),
            healths[1],
          ),
          ...maintenance(leader),
        ],
        leader,
      )
    } finally {
      leads = false
    }
  })
  const problem = () => (leads ? (healths[0].problem() ?? healths[1].problem()) : null)
  return { network, states: () => (leads ? [] : null), done, problem }
}
