import { expect, it } from 'vitest'
import { WRONG } from '../support/wrongRole.js'
import { useApi } from './support.js'

/** The role of this world's sessions. In the vitest project `settings` all settings of the role are wrong. */

const world = useApi()

it('is the role of the vitest project', async ({ task }) => {
  const isWrong = task.file.projectName === 'settings'
  const { rows } = await world.pool.query(
    'SELECT session_user AS role, current_schema() AS schema, count(*)::int AS heads FROM journal_heads',
  )
  const role = isWrong ? 'wrong' : 'postgres'
  expect(rows).toEqual([{ role, schema: isWrong ? 'Own tables' : 'public', heads: 2 }])
})

/** Settings that no session sets, because nothing depends on them. */
const NOT_STATED = ['default_transaction_deferrable', 'jit_above_cost', 'DateStyle', 'bytea_output']

it('has only wrong settings, and the sessions override them', async ({ task, skip }) => {
  if (task.file.projectName !== 'settings') skip('the role of this project has no settings')
  const { rows } = await world.pool.query<{ name: string; wrong: string; ours: string }>(
    `SELECT split_part(set, '=', 1) AS name, substr(set, strpos(set, '=') + 1) AS wrong,
       current_setting(split_part(set, '=', 1)) AS ours
     FROM pg_roles, unnest(rolconfig) AS set WHERE rolname = session_user`,
  )
  expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(WRONG).sort())
  const asTheRole = rows.filter(({ wrong, ours }) => wrong === ours).map(({ name }) => name)
  expect(asTheRole.sort()).toEqual(NOT_STATED.sort())
})
