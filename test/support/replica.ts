import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { type Postgres, startPostgres } from '../../src/testing/processes/postgres.js'

/**
 * Starts a standby that replays the log of a running primary: PostgreSQL's own streaming replication, over a copy taken
 * by its low-level backup functions (the embedded server brings no pg_basebackup).
 * @param dataDir the standby's, made here
 */
export async function startReplica(primary: Postgres, dataDir: string): Promise<Postgres> {
  const client = new pg.Client({ connectionString: primary.url })
  await client.connect()
  try {
    const { rows } = await client.query<{ dir: string }>(
      `SELECT current_setting('data_directory') AS dir`,
    )
    const { dir } = rows[0]!
    await client.query(`SELECT pg_backup_start('replica', true)`)
    execFileSync('cp', ['-a', dir, dataDir])
    const stopped = await client.query<{ labelfile: string }>(
      'SELECT labelfile FROM pg_backup_stop(false)',
    )
    const { uid, gid } = await stat(join(dataDir, 'PG_VERSION'))
    const files = { backup_label: stopped.rows[0]!.labelfile, 'standby.signal': '' }
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(dataDir, name), text)
      await chown(join(dataDir, name), uid, gid)
    }
    rmSync(join(dataDir, 'postmaster.pid'))
  } finally {
    await client.end()
  }
  return restartReplica(primary, dataDir)
}

/** Starts a standby again that was stopped, on the port that it had where that is given. */
const restartReplica = (primary: Postgres, dataDir: string, port?: number): Promise<Postgres> =>
  startPostgres({
    dataDir,
    ...(port !== undefined && { port }),
    settings: {
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres`,
      hot_standby: 'on',
    },
  })
