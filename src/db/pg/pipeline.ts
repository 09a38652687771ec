import type { Socket } from 'node:net'
import type pg from 'pg'

/** Anything that runs a query: a pool, or a client in a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>

/** Pools and connections behind a pooler. */
export const pooled = new WeakSet<object>()

/** The driver's types lack it. */
export const socketOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

/** SQLSTATE of the statements after one that has failed. */
const IN_FAILED_TRANSACTION = '25P02'

/**
 * Sends statements of a transaction in one write and one round trip, and waits for all of their answers.
 * After a failure the server does none of the rest.
 * @param send queries before it waits for anything
 */
export async function pipelined<T extends readonly unknown[]>(
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
  if (pooled.has(client)) pooled.add(db)
  const socket = socketOf(client)
  // a COPY works only without
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
