import type pg from 'pg'

/** Timeouts of a session, and how its statements are planned. */
export interface SessionLimits {
  /** Timeout of a statement, ms. Absent: none. */
  statementTimeoutMs?: number | undefined
  /** Timeout of the wait for a lock, ms. Absent: none. */
  lockTimeoutMs?: number | undefined
  /** Time after which the server ends a transaction whose client is silent, ms. Absent: none. */
  idleTransactionMs?: number | undefined
  /** True if plans use only indexes: the time of a table scan would reveal how many private rows a table has. */
  isByIndex?: boolean | undefined
}

/** Begins a transaction. Writers lock rows and read them again, which fails at higher isolation levels (40001). */
export const BEGIN_STATEMENT = 'BEGIN ISOLATION LEVEL READ COMMITTED'

const onOff = (isOn: boolean): string => (isOn ? 'on' : 'off')

/**
 * The settings that the code relies on, by name, except `application_name` and the settings of `PIN_SCHEMA_SQL`. Each
 * session sets all of them, so that settings of a role, a database, a server or a URL have no effect. A timeout of 0
 * means none.
 */
function settingsOf(limits: SessionLimits): Record<string, string> {
  const { statementTimeoutMs = 0, lockTimeoutMs = 0, idleTransactionMs = 0, isByIndex } = limits
  return {
    default_transaction_isolation: 'read committed',
    statement_timeout: String(statementTimeoutMs),
    lock_timeout: String(lockTimeoutMs),
    idle_in_transaction_session_timeout: String(idleTransactionMs),
    idle_session_timeout: '0',
    // JIT compilation takes 70 ms, longer than any of our statements needs for its expressions. Before PostgreSQL 18, a
    // scan with `enable_seqscan = off` that can't be avoided has a cost above the threshold of JIT.
    jit: 'off',
    enable_seqscan: onOff(!isByIndex),
    // in a table of a few pages, a bitmap of the primary key is estimated to be cheaper than the partial index of
    // public rows, and reads private rows (test/privacy/twins.test.ts). No index of ours needs bitmaps.
    enable_bitmapscan: onOff(!isByIndex),
    plan_cache_mode: isByIndex ? 'force_generic_plan' : 'auto',
    // 0 or less would round the times of rate-limit buckets, which are floating-point numbers
    extra_float_digits: '1',
    // the driver's text format of arrays and bytes relies on the next two settings
    array_nulls: 'on',
    standard_conforming_strings: 'on',
    TimeZone: 'UTC',
  }
}

/** Parameters of a URL that override the driver's configuration and would change our settings. */
const OVERRIDING_URL_PARAMETERS = [
  'options',
  'application_name',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
]

/** A URL without the parameters that would override ours, and the start-up options (`options`) that it had. */
function withoutOverridingParameters(text: string): { connectionString: string; options: string } {
  const url = new URL(text)
  const options = url.searchParams.get('options') ?? ''
  for (const name of OVERRIDING_URL_PARAMETERS) url.searchParams.delete(name)
  return { connectionString: url.href, options }
}

/**
 * Configuration of a session without start-up options, which a pooler refuses. A pool behind a pooler applies the
 * settings in each transaction instead (`transactionSettingsSql`).
 */
export function poolerSessionConfig(url: string, applicationName: string): pg.ClientConfig {
  const { connectionString } = withoutOverridingParameters(url)
  return { connectionString, application_name: applicationName }
}

/** Configuration of a direct session. The caller pins its schema (`pinSchema`) once it is connected. */
export function directSessionConfig(
  url: string,
  applicationName: string,
  limits: SessionLimits,
): pg.ClientConfig {
  const { connectionString, options } = withoutOverridingParameters(url)
  const stated = Object.entries(settingsOf(limits)).map(
    ([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`,
  )
  return {
    connectionString,
    application_name: applicationName,
    options: [options, ...stated].filter((option) => option !== '').join(' '),
  }
}

/**
 * SQL call that makes commits wait for the disk. Otherwise a crash of the server loses changes that were acknowledged,
 * and checkpoints of the log that were published. Keeps stricter settings, which also wait for standbys.
 */
const durableCommitsSql = (isLocal: boolean): string =>
  `set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), ${isLocal})`

/**
 * SQL: applies the settings until the end of the transaction, since behind a pooler the next transaction may use
 * another session.
 */
export function transactionSettingsSql(limits: SessionLimits): string {
  const calls = Object.entries(settingsOf(limits)).map(
    ([name, value]) => `set_config('${name}', '${value}', true)`,
  )
  return `SELECT ${[...calls, durableCommitsSql(true)].join(', ')}`
}

/**
 * Sets `search_path` to the schema of the tables: the schema whose `migrations` has the columns of ours (the views of
 * `registry_v1` allow one such schema in a database), or else the schema in which the role creates tables. Also sets
 * `transaction_timeout` to none where it exists (since PostgreSQL 17), and makes commits durable.
 */
const PIN_SCHEMA_SQL = `WITH found AS (
    SELECT n.oid, n.nspname FROM pg_class m JOIN pg_namespace n ON n.oid = m.relnamespace
    WHERE m.relname = 'migrations' AND 2 = (
      SELECT count(*) FROM pg_attribute a WHERE a.attrelid = m.oid AND a.attname IN ('checksum', 'applied_at')
    ) LIMIT 1
  )
  SELECT set_config('search_path', quote_ident(coalesce((SELECT nspname FROM found), current_schema(), 'public')), false)
      AS schema,
    coalesce((SELECT has_schema_privilege(oid, 'USAGE') FROM found), true) AS may_use,
    (SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'),
    ${durableCommitsSql(false)}`

const schemaOfSession = new WeakMap<object, string>()

/** The role may not use the schema of the tables. PostgreSQL itself would report missing tables. */
class ForbiddenSchemaError extends Error {
  override name = 'ForbiddenSchemaError'
  /** SQLSTATE of insufficient privileges. */
  readonly code = '42501'
}

/** Pins a session to the schema of the tables. @throws ForbiddenSchemaError where the role may not use it */
export async function pinSchema(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ schema: string; may_use: boolean }>(PIN_SCHEMA_SQL)
  const { schema, may_use: mayUse } = rows[0]!
  if (!mayUse) throw new ForbiddenSchemaError(`permission denied for schema ${schema}`)
  schemaOfSession.set(client, schema)
}

/**
 * Quoted name of the schema to which `pinSchema` set a session, also once its `search_path` begins with another one.
 */
export const liveSchemaName = (client: object): string => schemaOfSession.get(client) ?? 'public'
