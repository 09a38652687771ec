import { withConnection } from '../../src/db/pg/pool.js'

/** Clocks that stand still, so that answers with times are the same at any time. */

/**
 * Stops the clock of a database for all its sessions. PostgreSQL finds its own functions by their ids: they are
 * renamed, and others take their names.
 * @param nowMs Unix ms
 */
export async function stopDatabaseClock(databaseUrl: string, nowMs: number): Promise<void> {
  const time = `'${new Date(nowMs).toISOString()}'::timestamptz`
  await withConnection({ url: databaseUrl, applicationName: 'test' }, async (client) => {
    for (const name of ['now', 'clock_timestamp']) {
      await client.query(`ALTER FUNCTION pg_catalog.${name}() RENAME TO running_${name}`)
      await client.query(
        `CREATE FUNCTION pg_catalog.${name}() RETURNS timestamptz LANGUAGE sql STABLE AS $$SELECT ${time}$$`,
      )
    }
  })
}

/** Stops the clock of this process (`Date` alone). @param nowMs Unix ms @returns function that lets it run again */
export function stopProcessClock(nowMs: number): () => void {
  const RunningDate = Date
  class StoppedDate extends RunningDate {
    constructor(given?: number | string | Date) {
      super(given ?? nowMs)
    }
    static override now(): number {
      return nowMs
    }
  }
  globalThis.Date = StoppedDate as DateConstructor
  return () => {
    globalThis.Date = RunningDate
  }
}
