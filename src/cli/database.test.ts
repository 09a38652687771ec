import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../db/pg/migrate.js'
import { withConnection } from '../db/pg/pool.js'
import { type Postgres, startPostgres } from '../testing/processes/postgres.js'
import { waitForCondition } from '../testing/processes/processes.js'
import { databaseErrorAdvice } from './database.js'

/** Advice for an unusable database, from real errors of a server. */

let server: Postgres
let certificate: string
const asked = (url: URL, text = 'SELECT 1') =>
  withConnection({ url: url.href, applicationName: 'clusterd test' }, (client) =>
    client.query(text),
  ).then(
    () => null,
    (error: unknown) => databaseErrorAdvice(error, url.href),
  )
/** The server's URL with a changed parameter, role or database. */
function urlWith(change: (url: URL) => void): URL {
  const url = new URL(server.url)
  change(url)
  return url
}
const withParameters = (parameters: Record<string, string>) =>
  urlWith((url) => {
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  })

beforeAll(async () => {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'clusterd-tls-')), 'pg')
  server = await startPostgres({ dataDir })
  await migrate(server.url)
})
afterAll(() => server.stop())

it('a server without TLS: how to enable TLS, or connect without it', async () => {
  expect(await asked(withParameters({ sslmode: 'verify-full' }))).toMatch(/has no TLS.*ssl = on/)
})

describe('a role without rights', () => {
  it.each([
    ['on the tables', 'SELECT * FROM names'],
    ['on the schema', 'SELECT * FROM names'],
  ])('%s: which privilege is missing', async (where, text) => {
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query('DROP ROLE IF EXISTS bare; CREATE ROLE bare LOGIN')
    if (where === 'on the schema') await admin.query('REVOKE ALL ON SCHEMA public FROM PUBLIC')
    await admin.end()
    const fault = await asked(
      urlWith((url) => {
        url.username = 'bare'
      }),
      text,
    )
    expect(fault).toMatch(/"bare" may not do this \(permission denied for .*grant.*USAGE/)
  })
})

describe('a self-signed server', () => {
  beforeAll(async () => {
    const { rows } = await withConnection(
      { url: server.url, applicationName: 'clusterd test' },
      (client) => client.query('SHOW data_directory'),
    )
    const folder: string = rows[0].data_directory
    certificate = join(folder, 'server.crt')
    const key = join(folder, 'server.key')
    const subject = [
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=IP:127.0.0.1,DNS:localhost',
    ]
    const args = ['req', '-new', '-x509', '-nodes', '-newkey', 'rsa:2048', '-days', '2', ...subject]
    execFileSync('openssl', [...args, '-keyout', key, '-out', certificate], { stdio: 'pipe' })
    const { uid, gid } = statSync(folder)
    for (const file of [key, certificate]) chownSync(file, uid, gid)
    chmodSync(key, 0o600)
    await withConnection({ url: server.url, applicationName: 'clusterd test' }, async (client) => {
      await client.query('ALTER SYSTEM SET ssl = on')
      await client.query('SELECT pg_reload_conf()')
    })
    const isEncrypted = async () => (await asked(withParameters({ sslmode: 'no-verify' }))) === null
    expect(await waitForCondition(isEncrypted, 10_000)).toBe(true)
  })

  it.each(['verify-full', 'require'])(
    'with sslmode=%s: which certificate to configure',
    async (sslmode) => {
      const fault = await asked(withParameters({ sslmode }))
      expect(fault).toMatch(/certificate of PostgreSQL at .* is not trusted \(\w*SELF_SIGNED\w*\)/)
      expect(fault).toContain('sslrootcert=')
      expect(fault).toContain('sslmode=no-verify')
    },
  )

  it('can be used when its certificate is configured', async () => {
    const parameters = { sslmode: 'verify-full', sslrootcert: certificate }
    expect(await asked(withParameters(parameters))).toBeNull()
  })
})
