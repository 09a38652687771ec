import { onConnection } from './pool.js'

const ANSWER_LIMIT_MS = 3_000

/**
 * Finds a pooler by the number of the server's process, which it makes up. Notifications and locks of a session are
 * nobody's behind it.
 * @throws Error with one sentence where the URL leads to a pooler
 */
export async function refusePooler(url: string): Promise<void> {
  await onConnection(
    { url, applicationName: 'clusterd probe', answerMs: ANSWER_LIMIT_MS, isProbe: true },
    async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      const { processID } = client as unknown as { processID: number }
      if (rows[0]!.pid !== processID)
        throw new Error(
          'A pooler stands before PostgreSQL: set DATABASE_DIRECT_URL to the server itself, for locks and notifications; DATABASE_URL may stay the pooler’s.',
        )
    },
  )
}
