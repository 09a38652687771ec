import type { Config } from '../config/index.js'
import { compareSchema, migrate, SchemaBehindError } from '../db/pg/migrate.js'
import { assertNoPooler } from '../db/pg/pooler.js'
import { isDatabaseUnavailable } from '../db/pg/unavailable.js'
import { armFailpoint } from '../ops/failpoint.js'
import type { Logger } from '../ops/logger/logger.js'
import { createThrottle, errorKind } from '../ops/throttle.js'
import { pauseUntilSignal } from '../ops/waiting.js'
import type { Daemon } from './daemon.js'
import type { DaemonChainFamily } from './families/family.js'

/** How long a start waits for its database or for missing migrations. */
const DATABASE_PATIENCE_MS = 10 * 60_000
/** Pause between two attempts of a start. */
const DATABASE_PAUSE_MS = 1_000
/** Time for which an error of the same kind is not reported again, ms. */
const REPORT_EVERY_MS = 60_000

/**
 * Starts the daemon: migrations, chains, indexers, API, operator's port. Waits for a database that does not answer, and
 * for missing migrations that this process may not apply.
 * @param signal ends the wait
 * @param families chain families to open; default: all
 * @throws Error with one sentence when the database or a chain can't be used (ChainMismatchError, WrongChainError)
 */
export async function startDaemon(
  config: Config,
  log: Logger,
  signal: AbortSignal = new AbortController().signal,
  families?: readonly DaemonChainFamily[],
): Promise<Daemon> {
  armFailpoint(config.failpoint)
  const isNews = createThrottle(REPORT_EVERY_MS)
  const report = (err: Error): void => {
    if (!isNews(errorKind(err))) return
    if (err instanceof SchemaBehindError) log.warn(`the start waits: ${err.message}`)
    else log.error({ err }, 'the database does not answer: the start waits for it')
  }
  const endMs = performance.now() + DATABASE_PATIENCE_MS
  for (;;) {
    try {
      return await tryStart(config, log, families)
    } catch (error) {
      const isWaitedFor = error instanceof SchemaBehindError || isDatabaseUnavailable(error)
      if (!isWaitedFor || signal.aborted || performance.now() > endMs) throw error
      report(error as Error)
      await pauseUntilSignal(DATABASE_PAUSE_MS, signal)
    }
  }
}

async function tryStart(
  config: Config,
  log: Logger,
  families: readonly DaemonChainFamily[] | undefined,
): Promise<Daemon> {
  const url = config.databaseDirectUrl
  // a connection pooler refuses the settings that this process's other connections use, with an error that does not
  // mention the pooler
  await assertNoPooler(url)
  const { missing, newer } = await compareSchema(url)
  if (missing.length > 0 && !config.migrates) throw new SchemaBehindError(missing)
  if (newer.length > 0) log.warn({ migrations: newer }, 'the database is newer than this version')
  if (missing.length > 0) {
    const applied = await migrate(url)
    if (applied.length > 0) log.info({ migrations: applied }, 'migrated the database')
  }
  const { Daemon } = await import('./daemon.js')
  const daemon = new Daemon(config, log, families)
  try {
    await daemon.start()
    return daemon
  } catch (error) {
    await daemon.close()
    throw error
  }
}
