import type pg from 'pg'
import { notifyNetwork } from '../db/pg/notify.js'
import { withConnection } from '../db/pg/pool.js'
import { JOB_KIND, JOB_STATE, WAITS_FOR_FUNDS } from '../registry/outbox.js'
import { NETWORKS } from '../registry/primitives/network.js'
import { assertWholeNumber } from './chains/actions.js'

export interface Bridge {
  /** Stops the delivery of messages until `release`. The status of their transactions then stays `bridging`. */
  hold(): Promise<void>
  /** Delays the delivery of each message that is confirmed from now on. The delay begins with its confirmation. */
  delay(ms: number): Promise<void>
  /** Ends `hold` and `delay`. The delivery of the waiting messages begins immediately. */
  release(): Promise<void>
}

const { verify, execute } = JOB_KIND
/** SQL condition of queued delivery jobs. */
const WAITING_JOBS_SQL = `kind IN (${verify}, ${execute}) AND state = ${JOB_STATE.queued}`
/** Delay of the delivery jobs of held messages, ms: over 30 years. */
const HOLD_DELAY_MS = 10 ** 12
/** Name of the trigger that delays each new delivery job, and of its function. */
const DELAY_TRIGGER_NAME = 'clusterd_testing_hold'
/**
 * Name of the trigger that keeps a job's delay, and of its function. Without it, the relayer ends a wait that is longer
 * than its longest back-off, as after a change of the clock.
 */
const KEEP_TRIGGER_NAME = `${DELAY_TRIGGER_NAME}_keep`

/**
 * Creates the controls of the delivery of messages between a local world's chains. Database triggers postpone the first
 * attempt of the relayer's new delivery jobs. The daemon does not know about the triggers, and does all other work.
 */
export function createBridgeControls(databaseUrl: string): Bridge {
  const inTransaction = (work: (client: pg.Client) => Promise<unknown>): Promise<void> =>
    withConnection({ url: databaseUrl, applicationName: 'clusterd testing' }, async (client) => {
      await client.query('BEGIN')
      await work(client)
      await client.query('COMMIT')
    })
  const dropTriggers = (client: pg.Client) =>
    client.query(
      `DROP TRIGGER IF EXISTS ${DELAY_TRIGGER_NAME} ON jobs; DROP TRIGGER IF EXISTS ${KEEP_TRIGGER_NAME} ON jobs`,
    )
  const delay = (ms: number) =>
    inTransaction(async (client) => {
      await dropTriggers(client)
      await client.query(`CREATE OR REPLACE FUNCTION ${DELAY_TRIGGER_NAME}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        NEW.next_ms := (extract(epoch FROM clock_timestamp()) * 1000)::int8 + ${Math.ceil(ms)}; RETURN NEW; END $$`)
      await client.query(`CREATE TRIGGER ${DELAY_TRIGGER_NAME} BEFORE INSERT ON jobs FOR EACH ROW
        WHEN (NEW.kind IN (${verify}, ${execute})) EXECUTE FUNCTION ${DELAY_TRIGGER_NAME}()`)
      await client.query(`CREATE OR REPLACE FUNCTION ${KEEP_TRIGGER_NAME}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        NEW.next_ms := greatest(NEW.next_ms, OLD.next_ms); RETURN NEW; END $$`)
      await client.query(`CREATE TRIGGER ${KEEP_TRIGGER_NAME} BEFORE UPDATE OF next_ms ON jobs FOR EACH ROW
        WHEN (OLD.kind IN (${verify}, ${execute}) AND OLD.state = ${JOB_STATE.queued} AND NEW.state = OLD.state
          AND OLD.reason IS DISTINCT FROM '${WAITS_FOR_FUNDS}') EXECUTE FUNCTION ${KEEP_TRIGGER_NAME}()`)
    })
  return {
    async delay(ms) {
      // an invalid value would make the trigger fail, and with it each of the daemon's inserts of a job
      assertWholeNumber('delay', Math.ceil(ms), 0)
      await delay(ms)
    },
    async hold() {
      await delay(HOLD_DELAY_MS)
      await inTransaction((client) =>
        client.query(
          `UPDATE jobs SET next_ms = next_ms + ${HOLD_DELAY_MS}, version = version + 1 WHERE ${WAITING_JOBS_SQL}`,
        ),
      )
    },
    release: () =>
      inTransaction(async (client) => {
        await dropTriggers(client)
        await client.query(
          `UPDATE jobs SET next_ms = 0, version = version + 1 WHERE ${WAITING_JOBS_SQL}`,
        )
        for (const network of NETWORKS) await notifyNetwork(client, network)
      }),
  }
}
