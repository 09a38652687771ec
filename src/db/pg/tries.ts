import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { BEGIN_STATEMENT } from './session.js'

const MAX_TRIES = 60
const RETRY_PAUSE_MS = 500
/** SQLSTATEs of a lock timeout and of a deadlock. */
const LOCK_FAILURE_CODES = ['55P03', '40P01']

/**
 * Runs work in a transaction. Repeats it after lock timeouts and deadlocks, up to `MAX_TRIES` attempts in all.
 * @throws Error after the last attempt; any other error of `work` immediately
 */
export async function inTransactionWithRetries<T>(
  client: pg.ClientBase,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query(BEGIN_STATEMENT)
      const done = await work()
      await client.query('COMMIT')
      return done
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      if (!LOCK_FAILURE_CODES.includes((error as pg.DatabaseError).code ?? '')) throw error
      if (tries === MAX_TRIES)
        throw new Error(
          'somebody keeps the tables locked (another command, a dump, a VACUUM?): end it and try again.',
          {
            cause: error,
          },
        )
      // transactions that waited for the locks of this attempt run before the next attempt
      await sleep(RETRY_PAUSE_MS)
    }
  }
}
