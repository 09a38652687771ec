import type { Socket } from 'node:net'
import type pg from 'pg'

/** Anything that runs a query: a pool, a single connection, or the sender that `inPipeline` passes on. */
export type Queryable = Pick<pg.Pool, 'query'>

/** Pools, connections and senders that go through a pooler such as PgBouncer. Their statements are sent unnamed. */
export const connectionsThroughPooler = new WeakSet<object>()

/** Socket of a connection, which the driver's types do not declare. */
export const socketOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

/** SQLSTATE of a statement that is skipped because an earlier statement of its transaction failed. */
const IN_FAILED_TRANSACTION = '25P02'

/**
 * Sends statements of a transaction in one write, for one round trip, and waits for all answers. After a failure the
 * server skips the remaining statements.
 * @param send issues all queries before it awaits anything, and returns their promises
 * @throws the error of the first statement that failed
 */
export async function inPipeline<T extends readonly unknown[]>(
  client: pg.ClientBase,
  send: (db: Queryable) => readonly [...{ [Key in keyof T]: Promise<T[Key]> }],
): Promise<T> {
  let fault: Error | undefined
  const query = (config: pg.QueryConfig) =>
    client.query(config).catch((error: Error) => {
      fault ??= error
      throw error
    })
  const db = { query } as Queryable
  if (connectionsThroughPooler.has(client)) connectionsThroughPooler.add(db)
  const socket = socketOf(client)
  // the driver is in pipeline mode only during this call, because COPY does not work in that mode
  const driver = client as pg.ClientBase & { pipeline: boolean }
  driver.pipeline = true
  socket.cork()
  process.nextTick(() => socket.uncork())
  try {
    const answers = send(db)
    await Promise.allSettled(answers)
    return (await Promise.all(answers)) as unknown as T
  } catch (error) {
    throw (error as pg.DatabaseError).code === IN_FAILED_TRANSACTION ? fault : error
  } finally {
    driver.pipeline = false
  }
}
