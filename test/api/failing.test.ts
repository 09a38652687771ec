import { expect, it } from 'vitest'
import { FailedRequestCounter, failedRequestProblems } from '../../src/ops/failedRequests.js'
import { memberOf } from './members.js'
import { useApi } from './support.js'

const failed = new FailedRequestCounter()
const problemsNow = () => failedRequestProblems(failed.routes())
const world = useApi({ failed })

/** Makes the server refuse rows of a table, as with a full disk or a missing privilege. */
async function refuse(table: string, code: string, message: string): Promise<void> {
  await world.pool.query(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION USING ERRCODE = '${code}', MESSAGE = '${message}'; END $$;
    CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON ${table} EXECUTE FUNCTION refuse()`)
}
const allow = (table: string) => world.pool.query(`DROP TRIGGER refuse ON ${table}`)

it.each([
  ['53100', 'could not extend file', 'the disk of the database is full'],
  [
    '42501',
    'permission denied for table sessions',
    'the database role does not have a right: table sessions',
  ],
])(
  'failing sign-ins are reported as a problem with their cause: %s',
  async (code, message, why) => {
    await refuse('sessions', code, message)
    for (let i = 0; i < 3; i++)
      expect((await memberOf(world)).headers.authorization).toBe('Bearer undefined')
    await allow('sessions')
    const problems = problemsNow()
    expect(problems.map(({ alarm }) => alarm)).toEqual(['ClusterdErrors'])
    expect(problems[0]!.text).toMatch(
      new RegExp(`^\\d of \\d requests POST /v1/auth/token failed in the last minute.*: ${why}$`),
    )
  },
)

it('refused requests do not count as failures', async () => {
  for (let i = 0; i < 5; i++) expect((await world.post('/v1/names', 'no list')).status).toBe(400)
  for (let i = 0; i < 5; i++) expect((await world.get('/v1/clusters/name/nobody')).status).toBe(404)
  const text = problemsNow()
    .map((problem) => problem.text)
    .join()
  expect(text).not.toMatch(/\/v1\/(names|clusters)/)
})

it('a chain that does not answer makes statuses that need it fail, and no look-up', async () => {
  const status = () => world.get(`/v1/names/register/tx/0x${'5e'.repeat(32)}`)
  for (let i = 0; i < 3; i++) expect((await status()).status).toBe(503)
  expect(problemsNow().map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^3 of 3 requests GET \/v1\/names\/register\/tx\/:tx failed.*chain "1"/),
  )
})
