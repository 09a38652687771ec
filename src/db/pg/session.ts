import type pg from 'pg'

/**
 * The settings of a session that the code relies on. Each session states all of them, after those of its URL, so that
 * what a role, a database, a server or a URL sets changes nothing. A new reliance belongs into `settingsOf`.
 */
export interface SessionLimits {
  /** Time limit of a statement, ms; none where it is left out. */
  statementTimeoutMs?: number | undefined
  /** Time limit of waiting for a lock, ms; none where it is left out. */
  lockTimeoutMs?: number | undefined
  /** Time limit of the server for a client that is silent in a transaction, ms; none where it is left out. */
  idleTransactionMs?: number | undefined
  /** Says whether plans go by indexes alone: the time of a scan of a small table tells how many private rows it has. */
  isByIndex?: boolean | undefined
}

/** Begins a transaction. Writers lock rows and read them again, which other isolations answer with errors (40001). */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

const onOff = (isOn: boolean): string => (isOn ? 'on' : 'off')

/** Settings but `search_path` and `application_name`, by name. A time of 0 is none. */
function settingsOf(limits: SessionLimits): Record<string, string> {
  const { statementTimeoutMs = 0, lockTimeoutMs = 0, idleTransactionMs = 0, isByIndex } = limits
  return {
    default_transaction_isolation: 'read committed',
    statement_timeout: String(statementTimeoutMs),
    lock_timeout: String(lockTimeoutMs),
    idle_in_transaction_session_timeout: String(idleTransactionMs),
    idle_session_timeout: '0',
    // Compiling a statement takes 70 ms, and none runs that long for its expressions. Before PostgreSQL 18 a scan that
    // is to be avoided, and can't be, costs more than what compiling begins at.
    jit: 'off',
    enable_seqscan: onOff(!isByIndex),
    plan_cache_mode: isByIndex ? 'force_generic_plan' : 'auto',
    // digits of the times of limits, which a lower value rounds
    extra_float_digits: '1',
    // how the driver writes lists and bytes
    array_nulls: 'on',
    standard_conforming_strings: 'on',
    TimeZone: 'UTC',
  }
}

/** Parameters of a URL that the driver lets win over its configuration, and that would change what we state. */
const STATED_IN_URL = [
  'options',
  'application_name',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
]

/** A URL without what a session states itself, and the start-up options that it had. */
function withoutStated(text: string): { connectionString: string; options: string } {
  const url = new URL(text)
  const options = url.searchParams.get('options') ?? ''
  for (const name of STATED_IN_URL) url.searchParams.delete(name)
  return { connectionString: url.href, options }
}

/** Configuration of a session behind a pooler, which refuses start-up options: its transactions state the settings. */
export function pooledSession(url: string, applicationName: string): pg.ClientConfig {
  const { connectionString } = withoutStated(url)
  return { connectionString, application_name: applicationName }
}

/** Configuration of a session of the server itself. The caller pins its schema (`pinSchema`) once it is connected. */
export function directSession(
  url: string,
  applicationName: string,
  limits: SessionLimits,
): pg.ClientConfig {
  const { connectionString, options } = withoutStated(url)
  const stated = Object.entries(settingsOf(limits)).map(
    ([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`,
  )
  return {
    connectionString,
    application_name: applicationName,
    options: [options, ...stated].filter((option) => option !== '').join(' '),
  }
}

/** The settings as a statement that holds until the end of a transaction, which a pooler may give another session. */
export function localSettings(limits: SessionLimits): string {
  const calls = Object.entries(settingsOf(limits)).map(
    ([name, value]) => `set_config('${name}', '${value}', true)`,
  )
  return `SELECT ${calls.join(', ')}`
}

/**
 * The schema of the tables: the one that has both `migrations` and `journal_heads` (the views of `registry_v1` allow one
 * a database), else where a role makes tables. `transaction_timeout` is of PostgreSQL 17.
 */
const PIN = `WITH found AS (
    SELECT n.oid, n.nspname FROM pg_class h JOIN pg_namespace n ON n.oid = h.relnamespace
    WHERE h.relname = 'journal_heads' AND EXISTS (
      SELECT FROM pg_class m WHERE m.relname = 'migrations' AND m.relnamespace = h.relnamespace
    ) LIMIT 1
  )
  SELECT set_config('search_path', quote_ident(coalesce((SELECT nspname FROM found), current_schema(), 'public')), false)
      AS schema,
    coalesce((SELECT has_schema_privilege(oid, 'USAGE') FROM found), true) AS may_use,
    (SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout')`

const schemas = new WeakMap<object, string>()

/** The role may not use the schema of the tables, which PostgreSQL reports as tables that are missing. */
class ForbiddenSchemaError extends Error {
  override name = 'ForbiddenSchemaError'
  /** SQLSTATE of a right that is missing. */
  readonly code = '42501'
}

/** Pins a session to the schema of the tables. @throws ForbiddenSchemaError where the role may not use it */
export async function pinSchema(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ schema: string; may_use: boolean }>(PIN)
  const { schema, may_use: mayUse } = rows[0]!
  if (!mayUse) throw new ForbiddenSchemaError(`permission denied for schema ${schema}`)
  schemas.set(client, schema)
}

/** Schema of the live tables, quoted, for a session whose `search_path` begins with another. */
export const liveSchema = (client: object): string => schemas.get(client) ?? 'public'
