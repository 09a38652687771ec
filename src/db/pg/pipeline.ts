import type { Socket } from 'node:net'
import pg from 'pg'

/** Anything that runs a query: a pool, a client in a transaction, or a pipeline, which waits for no answer. */
export type Queryable = Pick<pg.Pool, 'query'>

/** Pools, connections and pipelines behind a pooler. */
export const pooled = new WeakSet<object>()

/** What queries and connections of the driver have beyond its types. */
interface Query extends pg.Query {
  name?: string
  text: string
  handleRowDescription(message: unknown): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
  handleError(error: Error, connection: Connection): void
  handleReadyForQuery(connection: Connection): void
}
interface Connection {
  stream: Socket
  submittedNamedStatements: Record<string, string>
  sync(): void
}

/** Sends the rows of a COPY, as messages of their own. */
type SendRows = (stream: Socket) => void

/**
 * Statements that are sent together and answered together, in one round trip
 * (documentation: Message Flow, "Pipelining"). After a failure the server does none of the rest.
 */
class Pipeline implements pg.Submittable {
  readonly #queries: Query[] = []
  readonly #rows = new Map<Query, SendRows>()
  #answered = 0
  #fault: Error | undefined

  query(config: string | pg.QueryConfig, sendRows?: SendRows): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      const settle = (error: Error | undefined, result: unknown): void => {
        this.#fault ??= error
        if (error) reject(error)
        else resolve(result as pg.QueryResult)
      }
      const named = typeof config === 'string' ? { text: config } : config
      const query = new pg.Query({ queryMode: 'extended', ...named } as pg.QueryConfig, settle) as Query
      this.#queries.push(query)
      if (sendRows) this.#rows.set(query, sendRows)
    })
  }

  get isEmpty(): boolean {
    return this.#queries.length === 0
  }

  /** Of the statement whose answer comes next: the driver remembers what the server has parsed. */
  get name(): string | undefined {
    return this.#queries[this.#answered]?.name
  }

  get text(): string | undefined {
    return this.#queries[this.#answered]?.text
  }

  submit(driver: unknown): void {
    const connection = driver as Connection
    const unsynced = Object.create(connection, { sync: { value: () => {} } })
    connection.stream.cork()
    try {
      for (const query of this.#queries) {
        const refusal = query.submit(unsynced) as Error | null | undefined
        if (refusal) throw refusal
        this.#rows.get(query)?.(connection.stream)
      }
    } catch (error) {
      this.#fault = error as Error
    }
    connection.sync()
    // the others would be done without the one that can't be sent
    if (this.#fault) connection.stream.destroy(this.#fault)
    else connection.stream.uncork()
  }

  handleRowDescription(message: unknown): void {
    this.#queries[this.#answered]!.handleRowDescription(message)
  }

  handleDataRow(message: unknown): void {
    this.#queries[this.#answered]!.handleDataRow(message)
  }

  handleCopyInResponse(): void {}

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.#queries[this.#answered++]!.handleCommandComplete(message, connection)
  }

  handleError(error: Error, connection: Connection): void {
    for (const query of this.#queries.slice(this.#answered + 1)) {
      // the server has not read it
      if (query.name) delete connection.submittedNamedStatements[query.name]
    }
    for (const query of this.#queries) query.handleError(error, connection)
  }

  handleReadyForQuery(connection: Connection): void {
    for (const query of this.#queries) query.handleReadyForQuery(connection)
  }
}

/**
 * Sends statements together and waits for their answers.
 * @param send queries before it waits for anything
 */
export function pipelined<T extends readonly unknown[]>(
  client: pg.ClientBase,
  send: (db: Queryable) => readonly [...{ [Key in keyof T]: Promise<T[Key]> }],
): Promise<T> {
  const pipeline = new Pipeline()
  if (pooled.has(client)) pooled.add(pipeline)
  const answers = Promise.all(send(pipeline as unknown as Queryable))
  if (!pipeline.isEmpty) client.query(pipeline)
  return answers as unknown as Promise<T>
}

/** Adds a COPY with its rows to a pipeline. */
export const addRows = (db: Queryable, text: string, sendRows: SendRows): Promise<unknown> =>
  (db as unknown as Pipeline).query(text, sendRows)
