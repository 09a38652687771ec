import pg from 'pg'

const CONNECT_TIMEOUT_MS = 10_000

/**
 * Runs work on a new connection. In a file of its own, so that the published types of `clusterd/testing` do not refer
 * to `pg`.
 */
export async function withPostgresClient(
  url: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // ignored: the running statement rejects with the error too
  client.on('error', () => {})
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
