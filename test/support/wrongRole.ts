import pg from 'pg'

/** Wrong values of every setting that a session states, and of some that change how values are written. */
export const WRONG: Readonly<Record<string, string>> = {
  search_path: 'elsewhere',
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  statement_timeout: '1ms',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '1ms',
  idle_session_timeout: '1ms',
  synchronous_commit: 'off',
  jit: 'on',
  jit_above_cost: '0',
  enable_seqscan: 'on',
  enable_bitmapscan: 'on',
  plan_cache_mode: 'force_custom_plan',
  application_name: 'wrong',
  extra_float_digits: '-15',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  TimeZone: 'Pacific/Auckland',
  DateStyle: 'SQL, DMY',
  bytea_output: 'escape',
}

/** Parameters of a URL that contradict the code as well. */
const URL_PARAMETERS: Readonly<Record<string, string>> = {
  options: '-c enable_seqscan=on -c plan_cache_mode=auto -c search_path=elsewhere -c jit=on',
  application_name: 'wrong',
  statement_timeout: '1',
  lock_timeout: '1',
  idle_in_transaction_session_timeout: '1',
  query_timeout: '1',
}

/**
 * Makes a role whose settings are all wrong, moves the tables out of `public`, and puts tables of the same names where
 * the role's `search_path` leads.
 * @param url of a superuser of a migrated database @returns the URL of that role, whose parameters are wrong too
 */
export async function asWrongRole(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('CREATE ROLE wrong LOGIN SUPERUSER')
    for (const [name, value] of Object.entries(WRONG))
      await client.query(`ALTER ROLE wrong SET ${name} = '${value}'`)
    await client.query('ALTER SCHEMA public RENAME TO "Own tables"')
    await client.query('CREATE SCHEMA public; CREATE SCHEMA elsewhere')
    for (const schema of ['public', 'elsewhere'])
      await client.query(
        `CREATE TABLE ${schema}.names (x int); CREATE TABLE ${schema}.migrations (x int)`,
      )
  } finally {
    await client.end()
  }
  const wrong = new URL(url)
  wrong.username = 'wrong'
  for (const [name, value] of Object.entries(URL_PARAMETERS)) wrong.searchParams.set(name, value)
  return wrong.href
}
