import { createExpiredRowsWorker } from '../db/deployment/retention.js'
import { createRankingWorker } from '../db/registry/ranking.js'
import type { LeaderContext } from '../ops/context.js'
import type { Worker } from '../ops/worker.js'
import { createSqlFeedCopyWorker } from '../push/sql.js'

/**
 * Creates the workers that maintain a network's tables while this process leads its indexing or its mirror.
 * @param isSqlServed true if the views of schema `registry_v1` are maintained
 */
export function createMaintenanceWorkers(ctx: LeaderContext, isSqlServed: boolean): Worker[] {
  const workers = [createExpiredRowsWorker(ctx, isSqlServed), createRankingWorker(ctx)]
  return isSqlServed ? [...workers, createSqlFeedCopyWorker(ctx)] : workers
}
