import type pg from 'pg'
import { shareEncryptionKeyId } from '../../api/clusters/keyShares.js'
import type { Config } from '../../config/index.js'
import { countWalletSharesByEncryptionKey } from '../../db/auth/shares.js'
import { readServerVersion } from '../../db/deployment/deployment.js'
import { compareSchema } from '../../db/pg/migrate.js'
import { countFreeConnections, withConnection } from '../../db/pg/pool.js'
import { assertNoPooler } from '../../db/pg/pooler.js'
import { MAX_CLOCK_SKEW_MS } from '../../db/pg/unavailable.js'
import {
  type DoctorCheckResult,
  type DoctorFinding,
  failureResult,
  okResult,
  runDoctorCheck,
  warningResult,
} from '../../ops/finding.js'
import { databaseErrorAdvice } from '../database.js'

/** Oldest supported PostgreSQL, as `server_version_num`. */
const MIN_SERVER_VERSION = 140_000
/** Time limit of a query. It is shorter than the time limit of a check, so that the check's result names the cause. */
const QUERY_TIMEOUT_MS = 10_000
const CONNECTION_OPTIONS = {
  applicationName: 'clusterd doctor',
  answerMs: QUERY_TIMEOUT_MS,
} as const
/** Connections of a daemon in addition to DATABASE_POOL: 8 for writes, 4 for leases, 1 for notifications. */
const CONNECTIONS_OUTSIDE_POOL = 13

/**
 * Checks the database: its version and clock, a direct connection without a pooler, the migrations, the key shares and
 * the free connections. Where the database can not be used, only this is reported.
 */
export async function checkDatabase(config: Config): Promise<DoctorFinding[]> {
  const { databaseUrl, databaseDirectUrl, databasePool } = config
  // `isProbe` allows a pooler, which DATABASE_URL may name
  const asking =
    <T>(url: string, ask: (client: pg.Client) => Promise<T>) =>
    (): Promise<T> =>
      withConnection({ ...CONNECTION_OPTIONS, url, isProbe: true }, ask)
  const explained = (ask: () => Promise<DoctorCheckResult>) => () =>
    ask().catch((error: unknown) => {
      const fault = databaseErrorAdvice(error, databaseUrl)
      if (fault === null) throw error
      return failureResult('can not be used', fault)
    })
  const reached = await runDoctorCheck(
    'database',
    'Start PostgreSQL, or correct DATABASE_URL.',
    explained(
      asking(databaseUrl, async (client) => {
        const { version, number, nowMs } = await readServerVersion(client)
        if (number < MIN_SERVER_VERSION)
          return failureResult(`PostgreSQL ${version}`, 'Upgrade it: 14 is the oldest that serves.')
        const skewMs = Math.abs(Date.now() - nowMs)
        return skewMs > MAX_CLOCK_SKEW_MS
          ? failureResult(
              `its clock is ${Math.round(skewMs / 1_000)} s off this machine's`,
              'Set both by NTP: no entry is written.',
            )
          : okResult(`PostgreSQL ${version}`)
      }),
    ),
  )
  if (reached.level === 'bad') return [reached]
  return [
    reached,
    await runDoctorCheck(
      'direct connection',
      'Set DATABASE_DIRECT_URL to the server itself.',
      async () => {
        await assertNoPooler(databaseDirectUrl)
        return okResult('locks and notifications work')
      },
    ),
    ...(await checkSchema(config)),
    await runDoctorCheck(
      'connections',
      'Raise max_connections.',
      asking(databaseDirectUrl, async (client) => {
        const needed = databasePool + CONNECTIONS_OUTSIDE_POOL
        const free = await countFreeConnections(client)
        return free >= needed
          ? okResult(`${free} free`)
          : warningResult(
              `${free} free, a daemon may open ${needed}`,
              'Raise max_connections, or lower DATABASE_POOL.',
            )
      }),
    ),
  ]
}

/** Checks the migrations. If all are applied, so that the table of key shares exists, checks the key shares too. */
async function checkSchema({ databaseDirectUrl: url, migrates, shareKeys }: Config) {
  const migrations = await runDoctorCheck(
    'migrations',
    'Run `clusterd migrate` as the owner of the tables.',
    async () => {
      const { missing, newer } = await compareSchema(url)
      const [first, ...others] = missing
      if (first !== undefined)
        return warningResult(
          `${first}${others.length > 0 ? ` and ${others.length} more` : ''} missing`,
          migrates ? 'A start applies them; or run `clusterd migrate`.' : 'Run `clusterd migrate`.',
        )
      return okResult(
        newer.length === 0
          ? 'all applied'
          : `the database is newer than this version: ${newer.join(', ')}`,
      )
    },
  )
  if (migrations.level !== 'ok') return [migrations]
  const shares = await runDoctorCheck('wallet shares', 'Run `clusterd migrate`.', () =>
    withConnection({ ...CONNECTION_OPTIONS, url }, async (client) =>
      keySharesFinding(await countWalletSharesByEncryptionKey(client), shareKeys),
    ),
  )
  return [migrations, shares]
}

/**
 * Checks that SHARE_KEY has the key of each encrypted key share, and that each share is encrypted with the first key.
 * @param keys keys of SHARE_KEY, the first encrypts new shares
 */
export function keySharesFinding(
  shares: Awaited<ReturnType<typeof countWalletSharesByEncryptionKey>>,
  keys: readonly Uint8Array[],
): DoctorCheckResult {
  const ids = keys.map((key) => shareEncryptionKeyId(key).toString('hex'))
  const idOf = (keyId: Buffer | null) => keyId?.toString('hex') ?? null
  const lost = shares.filter(({ keyId }) => keyId !== null && !ids.includes(idOf(keyId)!))
  const earlier = shares.filter(({ keyId }) => keyId === null || ids.indexOf(idOf(keyId)!) > 0)
  const count = (some: typeof shares) => some.reduce((sum, each) => sum + each.count, 0)
  if (lost.length > 0)
    return failureResult(
      `SHARE_KEY has not the keys ${lost.map(({ keyId }) => idOf(keyId)).join(', ')}, under which ${count(lost)} are kept`,
      'Add the earlier keys behind a comma.',
    )
  if (earlier.length > 0 && keys.length > 1)
    return warningResult(
      `${count(earlier)} are kept under earlier keys`,
      'Run `clusterd keys reseal`, then take the earlier keys out of SHARE_KEY.',
    )
  if (earlier.length > 0)
    return warningResult(
      `${count(earlier)} are from before keys had ids: nothing says whether SHARE_KEY opens them`,
      'Run `clusterd keys reseal`: it opens each, and gives it the id of its key.',
    )
  return okResult(`${count(shares)} under keys of SHARE_KEY`)
}
