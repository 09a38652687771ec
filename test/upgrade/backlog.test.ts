import { execFile, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import { withConnection } from '../../src/db/pg/pool.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { until } from '../../src/testing/until.js'
import { apiOf } from '../e2e/sharedApi.js'
import { startBalancer } from '../support/balancer.js'
import { runCli } from '../support/cli.js'
import { type ClusterdProcess, startClusterd } from '../support/clusterdProcess.js'
import { queryOn } from '../support/database.js'
import { useFolder } from '../support/folder.js'
import { bodyOf, serve } from '../support/httpServer.js'
import { LOCAL_LOG_KEY } from '../support/logKey.js'
import { buildCommit } from '../support/oldBuild.js'
import { useWorld } from '../support/useWorld.js'
import { freshName, registerOn } from '../support/world.js'
import { type Build, readJson, readRecorded } from './recorded.js'
import { restore, waitUntilCurrent } from './restored.js'

/** What is under way at an upgrade goes on: messages to webhooks, and a mirror before, beside and behind its source. */

const DEADLINE = { timeout: 60_000, interval: 200 }
const { commit } = readJson<Build>('build.json')
const isKnown = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`]).status === 0
if (!isKnown) console.warn(`no upgrade is tried: the history does not have ${commit}`)

/** A message to a receiver of webhooks. */
interface Message {
  headers: IncomingHttpHeaders
  body: string
}
interface FeedItem {
  id: string
}

describe.skipIf(!isKnown)('at an upgrade', () => {
  const messages: Record<string, Message[]> = {}
  /** Status of each receiver's answer by its number, from 1 on; null for none. After the upgrade all take everything. */
  const answers: Record<string, (number: number) => number | null> = {
    '/half': (number) => (number === 1 ? 200 : null),
    '/fails': () => 503,
    '/gone': () => 410,
  }
  const hook = useWorld(() =>
    serve(async (request, response) => {
      messages[request.url!] ??= []
      const got = messages[request.url!]!
      got.push({ headers: request.headers, body: await bodyOf(request) })
      const status = (answers[request.url!] ?? (() => 200))(got.length)
      if (status !== null) response.writeHead(status).end('{}')
    }),
  )
  const folder = useFolder()
  const old = useWorld(() => restore(folder, `${hook.url}/done`))
  let program: string
  beforeAll(() => {
    program = buildCommit(commit, 'backlog').program
  })
  const sources: ClusterdProcess[] = []
  const balancer = useWorld(() => startBalancer(() => sources))
  const runEarlier = async (...args: string[]) => {
    const env = { ...old.env, PATH: process.env.PATH }
    return (await promisify(execFile)(process.execPath, [program, ...args], { env })).stdout
  }
  const runNow = (...args: string[]) => runCli(args, old.env)

  async function startSource(of?: string): Promise<ClusterdProcess> {
    const one = await startClusterd(old.env, of === undefined ? {} : { program: of })
    sources.splice(0, 1, one)
    await one.ready()
    await waitUntilCurrent(one.api)
    return one
  }
  afterAll(() => sources[0]?.end())
  let upgraded: Promise<unknown> | undefined
  /** Migrates the database and starts this build on it, once. */
  const upgrade = () => {
    upgraded ??= runNow('migrate').then(() => startSource())
    return upgraded
  }

  const feedOf = async (api: string): Promise<FeedItem[]> =>
    ((await apiOf({ api }).get('/v1/events?limit=1000')).body as { items: FeedItem[] }).items

  const account = () => privateKeyToAccount(old.world.accounts.evm[6]!.privateKey)
  async function register(): Promise<void> {
    const at = { ...old.world, api: sources[0]!.api }
    const tx = await registerOn('1', account(), [{ name: freshName() }], at)
    await until.status(at, tx, 'finalized', { deadlineMs: DEADLINE.timeout })
  }

  it('messages that wait, failed or got no answer are delivered in order, and nothing is left out', async () => {
    const keys: Record<string, string> = {}
    const ids: Record<string, number> = {}
    const add = async (path: string) => {
      const added = await runEarlier(
        ...['webhooks', 'add', `${hook.url}${path}`, '--since', 'start', '--json'],
      )
      const { id, key } = JSON.parse(added) as { id: number; key: string }
      keys[path] = key
      ids[path] = id
    }
    for (const path of ['/half', '/fails', '/gone']) await add(path)
    const earlier = await startSource(program)
    const count = (path: string) => messages[path]?.length ?? 0
    await expect
      .poll(() => [count('/half'), count('/fails') > 1, count('/gone')], DEADLINE)
      .toEqual([2, true, 1])
    await earlier.end('SIGKILL')
    // nobody has sent anything to this receiver
    await add('/waits')
    const before = structuredClone(messages)
    for (const path of Object.keys(answers)) delete answers[path]

    await upgrade()
    await register()
    const feed = async () => (await feedOf(sources[0]!.api)).map(({ id }) => id)
    const itemsOf = (got: readonly Message[]) =>
      got.flatMap(({ body }) => (JSON.parse(body) as { items: FeedItem[] }).items)
    const newestOf = (path: string) => itemsOf(messages[path] ?? []).at(-1)?.id
    const goesOn = ['/half', '/fails', '/waits', '/done']
    await expect
      .poll(async () => {
        const newest = (await feed()).at(-1)
        return goesOn.filter((path) => newestOf(path) !== newest)
      }, DEADLINE)
      .toEqual([])

    // a parked webhook keeps its place, and waits for the operator
    expect(count('/gone')).toBe(1)
    const listed = JSON.parse(await runNow('webhooks', 'list', '--json')) as object[]
    expect(listed).toContainEqual(expect.objectContaining({ id: ids['/gone'], state: 'parked' }))
    await runNow('webhooks', 'replay', String(ids['/gone']))
    await expect.poll(async () => newestOf('/gone') === (await feed()).at(-1), DEADLINE).toBe(true)

    const events = await feedOf(sources[0]!.api)
    for (const path of ['/half', '/fails', '/gone', '/waits']) {
      const old = before[path] ?? []
      const later = messages[path]!.slice(old.length)
      // the receiver took what it answered with 200, and gets everything behind that, once
      const taken = path === '/half' ? old.slice(0, 1) : []
      expect(itemsOf([...taken, ...later]), path).toEqual(events)
      for (const { headers, body } of later) {
        const secret = Buffer.from(keys[path]!.slice('whsec_'.length), 'base64')
        const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
        const signature = createHmac('sha256', secret).update(signed).digest('base64')
        expect(headers['webhook-signature'], path).toBe(`v1,${signature}`)
      }
    }
    // the attempt of this build has the id of those of the earlier one, since it has the same events
    for (const path of ['/fails', '/gone']) {
      const ids = messages[path]!.slice(0, before[path]!.length + 1).map(
        ({ headers }) => headers['webhook-id'],
      )
      expect(new Set(ids).size, path).toBe(1)
    }
    // what was delivered before the upgrade is not sent again
    expect(itemsOf(messages['/done']!).map(({ id }) => id)).not.toContain(events[0]!.id)
  })

  it('a mirror of the earlier build follows the new source, and goes on as a mirror of this one', async () => {
    await upgrade()
    const databaseUrl = await createDatabase(old.databaseUrl, 'mirror')
    await withConnection({ url: databaseUrl, applicationName: 'test' }, async (client) => {
      await client.query(readRecorded('mirror.sql').toString('utf8'))
    })
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      CLUSTERD_CHAINS: '/nowhere/chains.json',
      LOG_FORMAT: 'json',
      LIMITS: 'off',
      DRAIN_SECONDS: '0',
    }
    const startMirror = async (of?: string) => {
      const one = await startClusterd(env, {
        command: 'mirror',
        args: [balancer.api, '--key', LOCAL_LOG_KEY],
        ...(of !== undefined && { program: of }),
      })
      await one.ready()
      return one
    }
    const source = () => sources[0]!.api
    const untilSame = async (api: string) => {
      await expect
        .poll(async () => (await feedOf(api)).length === (await feedOf(source())).length, DEADLINE)
        .toBe(true)
      expect(await feedOf(api)).toEqual(await feedOf(source()))
    }
    const kinds = async () => {
      const rows = await queryOn<{ kind: number }>(databaseUrl, 'SELECT DISTINCT kind FROM journal')
      return rows.map(({ kind }) => kind)
    }

    const earlier = await startMirror(program)
    const processes = [earlier]
    try {
      // its entries are filed as the earlier build files them, and its source is of this build
      await untilSame(earlier.api)
      await register()
      await untilSame(earlier.api)

      // the first entry of a new kind at the source is not in the feed, and stops no mirror
      const owner = privateKeyToAccount(generatePrivateKey())
      const member = privateKeyToAccount(generatePrivateKey())
      const client = new Client({ url: source() })
      await client.signIn(owner)
      const id = await client.createCluster()
      await client.addWallets([{ address: member.address, name: 'one' }])
      await new Client({ url: source() }).signMembership(member, id)
      await untilSame(earlier.api)
      expect(await kinds()).not.toContain(26)

      const reader = await startClusterd(
        { ...old.env, DATABASE_URL: databaseUrl, ROLES: 'api' },
        { program },
      )
      processes.push(reader)
      await reader.ready()
      await untilSame(reader.api)
      await earlier.end()
      const now = await startMirror()
      processes.push(now)
      await untilSame(now.api)
      expect(await feedOf(reader.api)).toEqual(await feedOf(now.api))
      await register()
      await client.renameWallets([{ address: member.address, name: 'two' }])
      await untilSame(now.api)
      expect(await kinds()).toContain(26)
      // from here on the earlier process has to be replaced: it answers nothing in place of what it can't read
      expect((await apiOf({ api: reader.api }).get('/v1/events?limit=1000')).status).toBe(500)
      await expect
        .poll(() => reader.log(), DEADLINE)
        .toContain('journal entry kind 26 is unknown: was the journal written by a newer version?')
      await compare(now.api)
    } finally {
      for (const one of processes) await one.end()
    }
  })

  /** Compares the answers of the mirror and of its source, without what only a source knows. */
  async function compare(api: string): Promise<void> {
    const { addresses, clusterId } = old.deployment.scene
    const paths = Object.values(addresses).flatMap((address) => [
      `/v1/names/owner/address/${address}`,
      `/v1/clusters/address/${address}`,
      `/v0.1/name/${address}`,
      `/v1/events?limit=1000&from=${address}`,
    ])
    paths.push(
      `/v1/clusters/id/${clusterId}`,
      '/v1/clusters/name/alice',
      '/v0.1/events?limit=1000',
      '/v1/events?limit=1000&testnet=true',
      '/v1/log/mainnet/checkpoint',
      '/v1/log/testnet/checkpoint',
    )
    const answerOf = async (at: string, path: string) => {
      const response = await fetch(`${at}${path}`)
      const text = await response.text()
      return {
        status: response.status,
        // page tokens are encrypted; the feed has neither a bid's transaction, nor evidence, nor prices below communities
        text: text
          .replace(
            /"(nextPage|resume)":"[^"]*"|(?<="walletName":[^}]*),"tx":[^,}]*|,"evidence":"\w+"/g,
            '',
          )
          .replace(/(?<="name":"[^"/]+\/[^"]+","owner":"\w+"),"totalWeiAmount":"\d+"/g, ''),
      }
    }
    for (const path of paths)
      expect(await answerOf(api, path), path).toEqual(await answerOf(sources[0]!.api, path))
    const evidence = '/v1/log/mainnet/evidence/checkpoint'
    const signed = await answerOf(sources[0]!.api, evidence)
    expect(signed.status).toBe(200)
    await expect.poll(() => answerOf(api, evidence), DEADLINE).toEqual(signed)
  }
})
