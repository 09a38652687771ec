import { expiredRowsWorker } from '../db/deployment/retention.js'
import { rankingWorker } from '../db/registry/ranking.js'
import type { LeaderContext } from '../ops/context.js'
import type { Worker } from '../ops/worker.js'
import { sqlFeedCopyWorker } from '../push/sql.js'

/**
 * Creates the workers that maintain a network's tables while this process leads its indexing or its mirror.
 * @param isSqlServed true if the views of schema `registry_v1` are maintained
 */
export function maintenanceWorkers(ctx: LeaderContext, isSqlServed: boolean): Worker[] {
  const workers = [expiredRowsWorker(ctx, isSqlServed), rankingWorker(ctx)]
  return isSqlServed ? [...workers, sqlFeedCopyWorker(ctx)] : workers
}
