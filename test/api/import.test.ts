import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importFeed } from '../../src/cli/import.js'
import { addJournalCommands } from '../../src/cli/journal/commands.js'
import { createPool } from '../../src/db/pg/pool.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { printed, runCli, runHere } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { serve } from '../support/httpServer.js'
import { memberOf } from './members.js'
import { mirrorOf, readFeed } from './mirror.js'
import { bid, freshName, randomAddress, START_MS, secondApi, useApi } from './support.js'
import { walk } from './walk.js'

const world = useApi()
const file = join(useFolder(), 'feed.jsonl.gz')
const open: pg.Pool[] = []
let lines: string[]
let checkpoint: string
afterAll(async () => {
  for (const pool of open) await pool.end()
})

const run = (database: string, ...args: string[]) => runCli(args, { DATABASE_URL: database })

/** Writes the feed of the world to the file. */
async function exported(): Promise<void> {
  rmSync(file, { force: true })
  const asked = ['journal', 'export', '--out', file, '--mainnet', '--json']
  const { stdout, stderr, code } = await runHere(addJournalCommands, asked, {
    DATABASE_URL: world.postgres.url,
  })
  expect([code, stderr]).toEqual([0, ''])
  checkpoint = JSON.parse(stdout).networks[0].checkpoint
  lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n')
}

async function emptyDatabase(name: string): Promise<{ url: string; pool: pg.Pool }> {
  const url = await createDatabase(world.postgres.url, name)
  const pool = createPool({ url, max: 2, applicationName: 'test', isByIndex: true })
  open.push(pool)
  return { url, pool }
}

/** Imports in this process. */
const importHere = (url: string, from: string) =>
  printed({ DATABASE_URL: url }, () => importFeed(from, {}))

/** Imports other lines than those of the file. */
async function importLines(url: string, given: readonly string[]): Promise<void> {
  writeFileSync(`${file}.altered`, gzipSync(given.map((line) => `${line}\n`).join('')))
  await importHere(url, `${file}.altered`)
}

beforeAll(async () => {
  await walk(world)
  await exported()
})

describe('an import of an export', () => {
  it('answers as the original does, goes on from where it stands, and sells nothing', async () => {
    const { url, pool } = await emptyDatabase('copy')
    const told = (added: number) =>
      `mainnet: ${added} of ${lines.length} events of feed 1 are new, checkpoint ${checkpoint}\n`
    expect(await run(url, 'import', file, '--checkpoint', checkpoint)).toContain(told(lines.length))
    const replica = await secondApi({ pool }, { chains: world.chains })
    const answers = async (path: string, body?: unknown) => {
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const of = async (at: string) => {
        const response = await fetch(`${at}${path}`, init)
        return {
          status: response.status,
          text: (await response.text()).replace(/"(nextPage|resume)":"[^"]*"/g, ''),
        }
      }
      const [own, theirs] = await Promise.all([of(replica.url), of(world.url)])
      expect(own, path).toEqual(theirs)
      return own.status
    }
    const compare = async () => {
      const events = await readFeed(world)
      const { clusters, names, communityNames } = mirrorOf(events)
      const addresses = [
        ...new Set(
          events.flatMap(({ from, data }) => [from, 'address' in data ? data.address : from]),
        ),
      ]
      const all = [...names.keys(), ...communityNames.keys()]
      for (const order of ['oldest', 'newest'])
        for (const path of ['/v1/events', '/v0.1/events'])
          await answers(`${path}?limit=1000&orderBy=${order}`)
      for (const id of clusters.keys()) expect(await answers(`/v1/clusters/id/${id}`), id).toBe(200)
      for (const name of names.keys())
        for (const path of ['/v1/clusters/name/', '/v0.1/cluster/', '/v0.1/address/'])
          await answers(`${path}${name}`)
      for (const address of addresses) {
        const paths = [
          '/v1/names/owner/address/',
          '/v1/clusters/address/',
          '/v0.1/name/',
          '/v0.1/cluster/address/',
        ]
        for (const path of paths) await answers(`${path}${address}`)
        await answers(`/v1/events?limit=1000&from=${address}`)
      }
      await answers('/v1/names/address', addresses)
      await answers(
        '/v1/names',
        all.map((name) => ({ name })),
      )
      for (const path of [
        '/v1/overview',
        '/v1/networks',
        `/v1/events?fromTimestamp=${START_MS + 90}`,
      ])
        await answers(path)
      const { count, hash } = (await (
        await fetch(`${replica.url}/v1/events/checkpoint`)
      ).json()) as {
        count: number
        hash: string
      }
      expect([count, hash]).toEqual([events.length, checkpoint])
    }
    await compare()
    const name = [...mirrorOf(await readFeed(world)).names.keys()][0]!
    for (const path of [
      `/v1/communities/${name}`,
      '/v1/keys',
      `/v1/refunds/0x${'12'.repeat(20)}`,
      `/v1/names/register/tx/0x${'12'.repeat(32)}`,
    ])
      for (const chains of [world.chains, []]) {
        const at = await secondApi({ pool }, { chains })
        expect((await fetch(`${at.url}${path}`)).status, path).toBe(503)
        await at.stop()
      }

    const member = await memberOf(world)
    await member.create()
    await world.append('mainnet', [
      bid({ from: member.address, name: freshName(), atMs: START_MS + 500 }),
    ])
    const before = lines.length
    await exported()
    expect(await run(url, 'import', file)).toContain(told(lines.length - before))
    await compare()
    expect(await run(url, 'import', file)).toContain(told(0))
    await expect(importLines(url, lines.slice(0, before))).rejects.toThrow(
      'that were imported before',
    )
    const other = lines.with(3, lines[3]!.replace(/"from":"0x.{4}/, '"from":"0xabcd'))
    await expect(importLines(url, other)).rejects.toThrow(
      `line ${lines.length}: the events up to this are not those`,
    )
    await replica.stop()
  })

  it('that fails says why, and leaves the database as it was; the next one takes all in', async () => {
    const { url, pool } = await emptyDatabase('refused')
    const changed = (at: number, change: (line: string) => string) =>
      lines.map((line, i) => (i === at ? change(line) : line))
    const noEvent = 'line 8: this is no event of the feed.'
    const gap = 'line 1: event 2 comes after event 0.'
    const dropped = (line: string) => line.replace('CREATE_CLUSTER', 'DROP_TABLE')
    const refused: [what: string, given: readonly string[], why: string][] = [
      ['a space behind', changed(7, (line) => `${line} `), noEvent],
      ['an id alone', changed(7, () => '{"id":"m-1-8"}'), noEvent],
      [
        'another generation',
        changed(7, (line) => line.replace('"m-1-8"', '"m-2-8"')),
        'line 8: the feed of mainnet began anew',
      ],
      ['a line less', lines.toSpliced(7, 1), 'line 8: event 9 comes after event 7.'],
      ['another type', changed(0, dropped), 'line 1: this is no event'],
      ['a long line', changed(7, () => `"${'x'.repeat(100_000)}"`), 'line 8 is too long'],
      ['no clusters', lines.filter((line) => !line.includes('CREATE_CLUSTER')), gap],
    ]
    for (const [what, given, why] of refused)
      await expect(importLines(url, given), what).rejects.toThrow(why)
    const wrong = `0x${'12'.repeat(32)}`
    await expect(run(url, 'import', file, '--checkpoint', wrong)).rejects.toThrow(
      'not the checkpoint expected',
    )
    writeFileSync(`${file}.cut`, readFileSync(file).subarray(0, -100))
    await expect(importHere(url, `${file}.cut`)).rejects.toThrow('unexpected end of file')
    const { rows } = await pool.query(
      'SELECT (SELECT count(*) FROM journal) + (SELECT count(*) FROM names) AS rows',
    )
    expect(Number(rows[0].rows)).toBe(0)
    const server = await serve(({ url: path }, res) =>
      path === '/feed.jsonl.gz' ? res.end(readFileSync(file)) : res.writeHead(404).end(),
    )
    await expect(importHere(url, `${server.url}/none`)).rejects.toThrow('answers with status 404')
    expect(await run(url, 'import', `${server.url}/feed.jsonl.gz`)).toContain(
      `${lines.length} of ${lines.length} events`,
    )
    await server.stop()
  })

  it('refuses events that no service tells', async () => {
    const { url } = await emptyDatabase('forged')
    const mallory = randomAddress()
    const alice = randomAddress()
    const zero = `0x${'00'.repeat(20)}`
    const cluster = (digit: string) => `0x${digit.repeat(64)}`
    const event = (type: string, data: object, from: string = mallory) => ({ type, from, data })
    const made = (of: string, wallet: string) => [
      event('CREATE_CLUSTER', { cluster_id: of }, wallet),
      event(
        'ADD_WALLET',
        { name: 'main', address: wallet, cluster_id: of, is_verified: true, is_backed_up: false },
        wallet,
      ),
    ]
    const registered = (from: string, of = cluster('1')) =>
      event('REGISTER_NAME', { name: 'alice', wei_amount: '1', cluster_id: of }, from)
    const moved = (from: string, to: string) =>
      event('TRANSFER_NAME', { name: 'alice', to, from_cluster_id: from })
    const both = [...made(cluster('1'), mallory), ...made(cluster('2'), alice)]
    const bitcoin = 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l'
    const listed = Array.from({ length: 1_000 }, (_, i) =>
      event('ADD_WALLET', {
        name: `w-${i}`,
        address: randomAddress(),
        cluster_id: cluster('1'),
        is_verified: false,
        is_backed_up: false,
      }),
    )
    const forged: Record<string, readonly ReturnType<typeof event>[]> = {
      'a name of nobody': [...both, registered(zero)],
      'a name in a cluster of others': [...both, registered(alice)],
      'a bid of a wallet that can make none': [...made(cluster('1'), bitcoin), registered(bitcoin)],
      'a name that was never registered moves': [...both, moved(cluster('1'), cluster('2'))],
      'a name moves that others hold': [
        ...both,
        registered(mallory),
        moved(cluster('2'), cluster('1')),
      ],
      'a name is registered twice': [...both, registered(mallory), registered(mallory)],
      'more wallets than a cluster takes': [...made(cluster('1'), mallory), ...listed],
    }
    for (const [what, events] of Object.entries(forged)) {
      const told = events.map(({ type, from, data }, i) =>
        JSON.stringify({
          id: `m-1-${i + 1}`,
          type,
          from,
          data,
          isTestnet: false,
          timestamp: START_MS + i,
        }),
      )
      const why = what.includes('twice')
        ? 'the file has something twice: Key'
        : 'fits no state of the feed before it'
      await expect(importLines(url, told), what).rejects.toThrow(why)
    }
  }, 60_000)

  it('is refused by a database with a journal of its own', async () => {
    await expect(importHere(world.postgres.url, file)).rejects.toThrow(
      'a journal of mainnet of its own',
    )
  })

  it.each([
    ['after its head', (res: ServerResponse) => void res.flushHeaders()],
    [
      'after its first bytes',
      (res: ServerResponse) => void res.write(readFileSync(file).subarray(0, 40)),
    ],
    ['before it answers', () => {}],
  ])('is ended by a server that falls silent %s, and writes nothing', async (_, answer) => {
    const { url, pool } = await emptyDatabase(`silent${open.length}`)
    const server = createServer((_req, res) => answer(res)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed`
    const asked = printed({ DATABASE_URL: url }, () => importFeed(from, { silentMs: 500 }))
    await expect(asked).rejects.toThrow(`${from} was silent for 0.5 s.`)
    expect((await pool.query('SELECT 1 FROM journal')).rowCount).toBe(0)
    server.closeAllConnections()
    server.close()
  })
})
