import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addJournalCommands } from '../../src/cli/journal/commands.js'
import { LogReader } from '../../src/client/verify.js'
import { lockMirrorHead } from '../../src/db/mirror/writer.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { createMirrorSourceClient } from '../../src/mirror/source.js'
import { readSerializedEvents } from '../../src/push/feedReader.js'
import { ENTRY_KIND } from '../../src/registry/journal/entry.js'
import { sha256InOneCall } from '../../src/registry/transparencyLog/hash.js'
import { memberOf } from '../api/members.js'
import { mirrorOf, readFeed } from '../api/mirror.js'
import {
  type ApiWorld,
  bid,
  freshName,
  randomAddress,
  START_MS,
  secondApi,
  useApi,
} from '../api/support.js'
import { walk } from '../api/walk.js'
import { runHere } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import {
  createdBy,
  type Database,
  emptyDatabase,
  filesOf,
  key,
  leavesOf,
  mirrorFrom,
  writeLog,
} from './support.js'

const world = useApi()
const folder = join(useFolder(), 'log')
const open: pg.Pool[] = []
afterAll(async () => {
  for (const pool of open) await pool.end()
})

async function database(name: string): Promise<Database> {
  const made = await emptyDatabase(world.postgres.url, name)
  open.push(made.pool)
  return made
}

const exportLog = () =>
  runHere(addJournalCommands, ['journal', 'export', '--out', folder, '--mainnet', '--json'], {
    DATABASE_URL: world.postgres.url,
  })

beforeAll(async () => {
  await walk(world)
  await writeLog(world.pool)
})

/** Compares the answers of two services about everything that the feed names. */
async function compare(mirror: Pick<ApiWorld, 'url'>): Promise<void> {
  const answers = async (path: string, body?: unknown) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const of = async (at: string) => {
      const response = await fetch(`${at}${path}`, init)
      const text = Buffer.from(await response.arrayBuffer()).toString('latin1')
      return {
        status: response.status,
        // the feed has no transaction of a bid and no evidence, so a mirror knows none
        text: text.replace(
          /"(nextPage|resume)":"[^"]*"|(?<="walletName":[^}]*),"tx":[^,}]*|,"evidence":"\w+"/g,
          '',
        ),
      }
    }
    const [own, theirs] = await Promise.all([of(mirror.url), of(world.url)])
    expect(own, path).toEqual(theirs)
    return own.status
  }
  const events = await readFeed(world)
  const { clusters, names, communityNames } = mirrorOf(events)
  const addresses = [
    ...new Set(events.flatMap(({ from, data }) => [from, 'address' in data ? data.address : from])),
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
  const size = events.length + 1
  for (const path of [
    '/v1/overview',
    '/v1/networks',
    `/v1/events?fromTimestamp=${START_MS + 90}`,
    '/v1/log/mainnet/checkpoint',
    '/v1/log/mainnet/1/checkpoint',
    `/v1/log/mainnet/1/tile/entries/000${size < 256 ? `.p/${size}` : ''}`,
    `/v1/log/mainnet/1/tile/0/000${size < 256 ? `.p/${size}` : ''}`,
    `/v1/events/m-1-${events.length}/proof`,
  ])
    expect(await answers(path), path).toBe(200)
}

describe('a mirror', () => {
  it('answers like its source, follows it, and refuses quotes', async () => {
    const { pool } = await database('copy')
    await mirrorFrom({ pool }, world.url)
    const mirror = await secondApi({ pool }, { chains: world.chains })
    await compare(mirror)
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
    await writeLog(world.pool)
    await mirrorFrom({ pool }, world.url)
    await compare(mirror)
    await mirror.stop()
  })

  it('files its entries under a kind of its own, and goes on where an earlier build filed them as moves', async () => {
    const { pool } = await database('earlier')
    await mirrorFrom({ pool }, world.url)
    const kinds = async () =>
      (await pool.query('SELECT DISTINCT kind FROM journal ORDER BY kind')).rows.map(
        ({ kind }) => kind,
      )
    expect(await kinds()).toEqual([ENTRY_KIND.bid, ENTRY_KIND.mirrored])
    await pool.query('UPDATE journal SET kind = $1 WHERE kind = $2', [
      ENTRY_KIND.move_names,
      ENTRY_KIND.mirrored,
    ])
    const member = await memberOf(world)
    await member.create()
    await writeLog(world.pool)
    await mirrorFrom({ pool }, world.url)
    expect(await kinds()).toEqual([ENTRY_KIND.bid, ENTRY_KIND.move_names, ENTRY_KIND.mirrored])
    const mirror = await secondApi({ pool }, { chains: world.chains })
    await compare(mirror)
    await mirror.stop()
  })

  it('with entries of a newer version says so to whoever reads them', async () => {
    const { pool } = await database('newer')
    await mirrorFrom({ pool }, world.url)
    await pool.query('UPDATE journal SET kind = 99 WHERE kind = $1', [ENTRY_KIND.mirrored])
    await expect(readSerializedEvents(pool, 'mainnet', { first: 1, limit: 1_000 })).rejects.toThrow(
      'this version of clusterd does not know kind 99 of a journal entry',
    )
  })

  it('of a mirror is the same again', async () => {
    const first = await database('first')
    await mirrorFrom(first, world.url)
    const between = await secondApi(first, { chains: [] })
    const second = await database('second')
    await mirrorFrom(second, between.url)
    const mirror = await secondApi(second, { chains: world.chains })
    await compare(mirror)
    await between.stop()
    await mirror.stop()
  })

  it('reads the folder of an export, which the next export updates', async () => {
    const exported = await exportLog()
    expect([exported.code, exported.stderr]).toEqual([0, ''])
    const { pool } = await database('folder')
    const from = createMirrorSourceClient({ url: folder, key })
    const head = await new LogReader(from, { key, sha256: sha256InOneCall }).checkpoint()
    const { networks } = JSON.parse(exported.stdout)
    expect(networks).toEqual([{ network: 'mainnet', origin: head.origin, size: head.size }])
    await mirrorFrom({ pool }, from)
    await world.append('mainnet', [bid({ from: randomAddress(), name: freshName() })])
    await writeLog(world.pool)
    expect((await exportLog()).code).toBe(0)
    await mirrorFrom({ pool }, from)
    const checkpoint = join(folder, 'mainnet', '1', 'checkpoint')
    const ofOthers = filesOf(leavesOf(createdBy(`0x${'3'.repeat(64)}`, randomAddress())))
    await writeFile(checkpoint, ofOthers.files.get('checkpoint')!)
    expect(await exportLog()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${checkpoint} is of another history than the log`),
    })
    const mirror = await secondApi({ pool }, { chains: world.chains })
    await compare(mirror)
    await mirror.stop()
  })

  it('is refused by a database with a journal of its own', async () => {
    const asked = inTransaction(world.pool, (client) => lockMirrorHead(client, 'mainnet'))
    await expect(asked).rejects.toThrow('has a journal of mainnet of its own')
  })
})
