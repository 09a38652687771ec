import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { BEGIN_STATEMENT } from './session.js'

const TRIES = 60
const PAUSE_MS = 500
/** SQLSTATEs of a lock timeout and of a deadlock. */
const TAKEN = ['55P03', '40P01']

/** Repeats work in a transaction after lock timeouts and deadlocks. */
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
      if (!TAKEN.includes((error as pg.DatabaseError).code ?? '')) throw error
      if (tries === TRIES)
        throw new Error(
          'somebody keeps the tables locked (another command, a dump, a VACUUM?): end it and try again.',
          {
            cause: error,
          },
        )
      // transactions that waited for the locks of this attempt run before the next attempt
      await sleep(PAUSE_MS)
    }
  }
}
