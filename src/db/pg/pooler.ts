import { withConnection } from './pool.js'

const ANSWER_LIMIT_MS = 3_000

/**
 * Detects a pooler: the process id that it gives to clients is not that of the server's process. Notifications and
 * session locks do not work through a pooler.
 * @throws Error where the URL leads to a pooler
 */
export async function assertNoPooler(url: string): Promise<void> {
  await withConnection(
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
