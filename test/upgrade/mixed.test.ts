import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import { compareSchema } from '../../src/db/pg/migrate.js'
import { withConnection } from '../../src/db/pg/pool.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { until } from '../../src/testing/until.js'
import { memberOf } from '../api/members.js'
import { apiOf } from '../e2e/sharedApi.js'
import { runCli } from '../support/cli.js'
import { type ClusterdProcess, startClusterd } from '../support/clusterdProcess.js'
import { queryOn } from '../support/database.js'
import { useFolder } from '../support/folder.js'
import { serve } from '../support/httpServer.js'
import { buildCommit } from '../support/oldBuild.js'
import { useWorld } from '../support/useWorld.js'
import { freshName, registerOn } from '../support/world.js'
import { Asker } from './answers.js'
import { changesOfRunning, show } from './compare.js'
import { isAddedRequest } from './differences.js'
import { type Build, readJson, readRecorded } from './recorded.js'
import { restore, waitUntilCurrent } from './restored.js'

/** Processes of the recorded build and of this one, side by side on the migrated database. */

const DEADLINE = { timeout: 60_000, interval: 200 }
const { commit } = readJson<Build>('build.json')
const isKnown = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`]).status === 0
if (!isKnown) console.warn(`no mixed versions are tried: the history does not have ${commit}`)

describe.skipIf(!isKnown)('processes of two builds', () => {
  const hook = useWorld(() => serve((_, response) => void response.end('{}')))
  const folder = useFolder()
  const old = useWorld(() => restore(folder, `${hook.url}/hook`))
  const start = async (program?: string, env = old.env) => {
    const one = await startClusterd(env, program === undefined ? {} : { program })
    await one.ready()
    return Object.assign(one, { stop: () => one.end() })
  }
  const build = () => buildCommit(commit, 'mixed')
  const earlier: ClusterdProcess = useWorld(() => start(build().program))
  const replay = () => runCli(['journal', 'replay'], { DATABASE_URL: old.databaseUrl })
  const EQUAL = /^mainnet: \d+ entries of generation \d+, equal/m

  it('migrate while the earlier one works, beside a long reader, after a kill, and two at once', async () => {
    const before = await compareSchema(old.databaseUrl)
    expect(before.missing.length).toBeGreaterThan(1)
    const { command, args } = await programCommand('cli')
    const env = { ...process.env, DATABASE_URL: old.databaseUrl }
    const waiting = async () =>
      await queryOn<{ pid: number }>(
        old.databaseUrl,
        `SELECT pid FROM pg_stat_activity WHERE application_name = 'clusterd migrate' AND wait_event_type = 'Lock'`,
      )
    await withConnection({ url: old.databaseUrl, applicationName: 'test' }, async (reader) => {
      // the last migration alters this table
      await reader.query('BEGIN; SELECT count(*) FROM wallets')
      const killed = spawn(command, [...args, 'migrate'], { env, stdio: 'ignore' })
      await expect.poll(waiting, DEADLINE).toHaveLength(1)
      killed.kill('SIGKILL')
      await once(killed, 'exit')
      const [look] = await Promise.all([
        fetch(`${earlier.api}/v1/clusters/name/alice`),
        expect.poll(waiting, DEADLINE).toEqual([]),
      ])
      expect(look.status).toBe(200)
      await reader.query('COMMIT')
    })
    const after = await compareSchema(old.databaseUrl)
    expect(after.missing).toEqual(before.missing.slice(-after.missing.length))
    expect(after.missing.length).toBeGreaterThan(0)
    const both = await Promise.all([1, 2].map(() => runCli(['migrate'], env)))
    const applied = both.flatMap((text) =>
      [...text.matchAll(/^applied (.*)$/gm)].map(([, one]) => one),
    )
    expect(applied.sort()).toEqual(after.missing)
    await expect.poll(() => earlier.isReady(), DEADLINE).toBe(true)
    expect(await earlier.end()).toBe(0)
    await earlier.start()
    await earlier.ready()
  })

  it('the earlier one starts on the migrated database, and answers as before', async () => {
    const { answers, scene } = old.deployment
    await waitUntilCurrent(earlier.api)
    const asker = new Asker(earlier.api, scene.sessions)
    const settled = answers.filter(
      (request) => request.stage === 'settled' && !isAddedRequest(request),
    )
    const changes = []
    for (const request of settled)
      changes.push(...changesOfRunning(request, await asker.ask(request)))
    asker.close()
    expect(changes.map(show)).toEqual([])
  })

  it('each shows what the other has written, and the later one goes on alone', async () => {
    const later = await start()
    const apis = [earlier.api, later.api]
    const account = privateKeyToAccount(old.world.accounts.evm[6]!.privateKey)
    const address = account.address.toLowerCase()
    const register = async () => {
      const at = { ...old.world, api: later.api }
      const name = freshName()
      const tx = await registerOn('1', account, [{ name }], at)
      await until.status(at, tx, 'finalized', { deadlineMs: DEADLINE.timeout })
      return name
    }
    const ownerOf = async (api: string, name: string) => {
      const { body } = await apiOf({ api }).post('/v1/names', [{ name }])
      return (body as { address: string }[])[0]?.address
    }
    try {
      const name = await register()
      const owners = () => Promise.all(apis.map((api) => ownerOf(api, name)))
      await expect.poll(owners, DEADLINE).toEqual([address, address])

      // a wallet signs in at one, and the other knows its key and its cluster
      for (const [here, there] of [apis, apis.toReversed()]) {
        const member = await memberOf(apiOf({ api: here! }))
        const id = await member.create()
        const request = { headers: member.headers }
        const seen = async () =>
          (await apiOf({ api: there! }).request(`/v1/clusters/id/${id}`, request)).status
        await expect.poll(seen, DEADLINE).toBe(200)
      }

      // page tokens and API keys of one serve at the other
      const page = (api: string, query = '') => apiOf({ api }).get(`/v1/events?limit=20${query}`)
      for (const [here, there] of [apis, apis.toReversed()]) {
        const { nextPage } = (await page(here!)).body as { nextPage: string }
        const expected = await page(here!, `&nextPage=${nextPage}`)
        expect(expected.status).toBe(200)
        expect((await page(there!, `&nextPage=${nextPage}`)).body).toEqual(expected.body)
        const { headers, call } = await memberOf(apiOf({ api: here! }))
        const { id } = (await call('POST', '/v1/keys', { name: 'site' })).body as { id: string }
        const listed = (await apiOf({ api: there! }).request('/v1/keys', { headers })).body
        expect(listed).toMatchObject([{ id, name: 'site' }])
      }

      await earlier.end()
      await register()
      // the log of the feed has the events of both
      const fieldOf = async (path: string) =>
        (await apiOf({ api: later.api }).get(path)).body as Answers
      const leaves = async () => (await fieldOf('/v1/proof')).log.size
      const { counts } = await fieldOf('/v1/overview')
      await expect.poll(leaves, DEADLINE).toBe(counts.events + 1)
    } finally {
      await later.end()
    }
    expect(await replay()).toMatch(EQUAL)
  })

  it('the earlier one goes on beside an entry that it does not know, and its replay stops', async () => {
    if (!(await earlier.isReady())) await earlier.start()
    await earlier.ready()
    const later = await start()
    const owner = privateKeyToAccount(generatePrivateKey())
    const member = privateKeyToAccount(generatePrivateKey())
    const ours = new Client({ url: later.api })
    const theirs = new Client({ url: later.api })
    // the client of the earlier build, with the service of this one
    const file = pathToFileURL(join(build().folder, 'dist-old/client/index.js')).href
    const { Client: EarlierClient } = (await import(file)) as { Client: typeof Client }
    const before = new EarlierClient({ url: later.api })
    try {
      await before.signIn(owner)
      const id = await before.createCluster()
      await before.addWallets([{ address: member.address, name: 'one' }])
      await ours.signIn(owner)
      await theirs.signMembership(member, id)
      const kinds = await queryOn<{ kind: number }>(
        old.databaseUrl,
        'SELECT kind FROM journal WHERE network = 0 ORDER BY seq DESC LIMIT 1',
      )
      expect(kinds).toEqual([{ kind: 27 }])

      // the earlier one changes the wallet that has signed, and answers about it
      const atEarlier = new EarlierClient({ url: earlier.api })
      atEarlier.token = before.token
      const walletsOf = async (client: Client) =>
        (await client.cluster(id))!.wallets.map(({ name, isVerified }) => [name, isVerified])
      await atEarlier.renameWallets([{ address: member.address, name: 'two' }])
      for (const client of [atEarlier, before, ours])
        expect(await walletsOf(client)).toContainEqual(['two', true])
      await atEarlier.removeWallets([member.address])
      await atEarlier.addWallets([{ address: member.address, name: 'three' }])
      expect(await walletsOf(ours)).toContainEqual(['three', false])
      const events = []
      for await (const event of atEarlier.events({ follow: false })) events.push(event.id)
      const same = []
      for await (const event of before.events({ follow: false })) same.push(event.id)
      expect(events).toEqual(same)

      expect(await replay()).toMatch(EQUAL)
      const env = { ...old.env, PATH: process.env.PATH }
      const stopped = promisify(execFile)(
        process.execPath,
        [build().program, 'journal', 'replay'],
        {
          env,
        },
      )
      await expect(stopped).rejects.toThrow(
        'journal entry kind 27 is unknown: was the journal written by a newer version?',
      )
    } finally {
      await later.end()
    }
  })

  it('the way back is the backup: the earlier build reads the chains again from there', async () => {
    const account = privateKeyToAccount(old.world.accounts.evm[6]!.privateKey)
    const owned = async (api: string) =>
      (await apiOf({ api }).get(`/v1/names/owner/address/${account.address.toLowerCase()}`))
        .body as {
        name: string
      }[]
    const later = await start()
    const at = { ...old.world, api: later.api }
    let names: string[] = []
    try {
      const tx = await registerOn('1', account, [{ name: freshName() }], at)
      await until.status(at, tx, 'finalized', { deadlineMs: DEADLINE.timeout })
      names = (await owned(later.api)).map(({ name }) => name).sort()
    } finally {
      await later.end()
    }
    expect(names).not.toEqual([])
    const databaseUrl = await createDatabase(old.databaseUrl, 'back')
    await withConnection({ url: databaseUrl, applicationName: 'test' }, async (client) => {
      await client.query(readRecorded('database.sql').toString('utf8'))
      await client.query('UPDATE public.webhooks SET url = $1', [`${hook.url}/hook`])
    })
    const env = { ...old.env, DATABASE_URL: databaseUrl }
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, [build().program, ...args], {
        env: { ...env, PATH: process.env.PATH },
      })
    await run('journal', 'restored', '--yes')
    const back = await start(build().program, env)
    try {
      await waitUntilCurrent(back.api)
      const known = async () => (await owned(back.api)).map(({ name }) => name).sort()
      await expect.poll(known, DEADLINE).toEqual(names)
      expect((await run('journal', 'replay')).stdout).toMatch(EQUAL)
    } finally {
      await back.end()
    }
  })
})

interface Answers {
  log: { size: number }
  counts: { events: number }
}
