import { gzipSync } from 'node:zlib'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkpointText, parseCheckpoint, parseNote } from '../../src/registry/log/note.js'
import { logKeysOf, signedNote } from '../../src/registry/log/signer.js'
import { randomAddress } from '../api/support.js'
import { swapped } from '../support/bundles.js'
import { useServer } from '../support/database.js'
import { serveInTest } from '../support/httpServer.js'
import {
  createdBy,
  type Database,
  type Event,
  emptyDatabase,
  type Files,
  filesOf,
  key,
  keys,
  leavesOf,
  mirrorFrom,
  ORIGIN,
  serving,
  writtenRows,
} from './support.js'

const server = useServer()
const open: pg.Pool[] = []
afterAll(async () => {
  for (const pool of open) await pool.end()
})

let made = 0
async function database(): Promise<Database> {
  const fresh = await emptyDatabase(server.url, `mirror_${++made}`)
  open.push(fresh.pool)
  return fresh
}

const mallory = randomAddress()
const alice = randomAddress()
const cluster = (digit: string) => `0x${digit.repeat(64)}`

const registered = (from: string, of = cluster('1'), name = 'alice'): Event => [
  'REGISTER_NAME',
  { name, wei_amount: '1', cluster_id: of },
  from,
]
const moved = (from: string, to: string): Event => [
  'TRANSFER_NAME',
  { name: 'alice', to, from_cluster_id: from },
  mallory,
]

/** 602 entries: three bundles. */
const honest = (names = 599) =>
  leavesOf([
    ...createdBy(cluster('1'), mallory),
    ...Array.from({ length: names }, (_, i) => registered(mallory, cluster('1'), `name-${i}`)),
  ])

/** A log whose file at a path is another one. */
function altered(path: string, alter: (bytes: Buffer) => Buffer, of = honest()): typeof fetch {
  const log = filesOf(of)
  const files = new Map(log.files)
  const bytes = files.get(path)
  if (!bytes) throw new Error(`the log has no ${path}`)
  files.set(path, alter(Buffer.from(bytes)))
  return serving({ files })
}

const BUNDLE = '1/tile/entries/001'

const resigned = (change: object, by = keys) =>
  altered('checkpoint', (bytes) => {
    const head = parseCheckpoint(parseNote(bytes.toString())!.text)!
    return Buffer.from(signedNote({ ...head, ...change }, by)!)
  })

/** A file that one answer replaces. */
function answering(path: string, answer: () => Response): typeof fetch {
  const files = serving(filesOf(honest()))
  return async (input, init) => (String(input).endsWith(path) ? answer() : files(input, init))
}

const bomb = gzipSync(Buffer.alloc(50_000_000))
const unpacked = () =>
  new Response(
    new Blob([new Uint8Array(bomb)]).stream().pipeThrough(new DecompressionStream('gzip')),
  )

describe('an empty mirror writes nothing of a source with', () => {
  let fresh: Database
  beforeAll(async () => {
    fresh = await database()
  })

  it.each<[what: string, from: () => typeof fetch, why: string | RegExp]>([
    [
      'an entry that was altered by one byte',
      () => altered(BUNDLE, (bytes) => Buffer.from(bytes).fill(bytes[40]! ^ 1, 40, 41)),
      /is refused: it is not written as events are|do not make its checkpoint/,
    ],
    [
      'an altered entry behind many others',
      () =>
        altered(
          '1/tile/entries/026',
          (bytes) => Buffer.from(bytes.toString('latin1').replace('"1"', '"2"'), 'latin1'),
          honest(7_000),
        ),
      `The entries of ${ORIGIN} do not make its checkpoint.`,
    ],
    [
      'an entry of another price',
      () =>
        altered(BUNDLE, (bytes) =>
          Buffer.from(bytes.toString('latin1').replace('"1"', '"2"'), 'latin1'),
        ),
      `The entries of ${ORIGIN} do not make its checkpoint.`,
    ],
    ['a cut bundle', () => altered(BUNDLE, (bytes) => bytes.subarray(0, -3)), 'is no bundle'],
    [
      'a bundle with more behind it',
      () => altered(BUNDLE, (bytes) => Buffer.concat([bytes, Buffer.from([0, 1, 2])])),
      'is no bundle of 256 entries',
    ],
    ['entries in another order', () => altered(BUNDLE, swapped), 'do not make its checkpoint'],
    [
      'a packed bomb in place of a bundle',
      () => answering(BUNDLE, unpacked),
      'is longer than 2097152 bytes',
    ],
    [
      'a packed bomb in place of a checkpoint',
      () => answering('checkpoint', unpacked),
      'is longer than 65536 bytes',
    ],
    [
      'a bundle that is missing',
      () => answering(BUNDLE, () => Response.json({ error: 'not_found' }, { status: 404 })),
      /404|not_found/,
    ],
    [
      'a checkpoint of another key',
      () => resigned({}, logKeysOf([Buffer.alloc(32, 9)])),
      'signed by other keys than the one expected',
    ],
    [
      'a checkpoint of another network',
      () => resigned({ origin: 'names.example/testnet/1' }),
      'is of another log, names.example/testnet/1',
    ],
    [
      'a checkpoint of another service, with the same key',
      () => resigned({ origin: 'other.example/mainnet/1' }),
      'Entry 0 of other.example/mainnet/1 is refused: it is not the beginning',
    ],
    ['a checkpoint of another size', () => resigned({ size: 500 }), 'no 1/tile/entries/001.p/244'],
    [
      'a checkpoint of another root',
      () => resigned({ root: Buffer.alloc(32, 3) }),
      'do not make its checkpoint',
    ],
    [
      'a forged checkpoint',
      () => altered('checkpoint', (text) => Buffer.from(text.toString().replace('602', '601'))),
      'The signature of the checkpoint is wrong',
    ],
    [
      'an unsigned checkpoint',
      () => altered('checkpoint', () => Buffer.from(checkpointText(filesOf(honest()).head))),
      'is not a signed one',
    ],
    [
      'a page in place of a checkpoint',
      () => altered('checkpoint', () => Buffer.from('<!doctype html><title>Hello</title>')),
      'is not a signed one',
    ],
  ])('%s', async (_what, from, why) => {
    await expect(mirrorFrom(fresh, from())).rejects.toThrow(why)
    expect(await writtenRows(fresh.pool)).toBe(0)
  })

  it.each<[what: string, answer: () => Response]>([
    ['answers that do not end', () => new Response(new ReadableStream())],
    [
      'answers that come byte by byte',
      () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              await new Promise((resolve) => setTimeout(resolve, 20))
              controller.enqueue(new Uint8Array([1]))
            },
          }),
        ),
    ],
  ])('%s, for longer than our limit', async (_what, answer) => {
    for (const path of ['checkpoint', BUNDLE])
      await expect(
        mirrorFrom(fresh, answering(path, answer), { timeoutMs: 500 }),
      ).rejects.toMatchObject({ code: 'timeout' })
    expect(await writtenRows(fresh.pool)).toBe(0)
  })

  it('no answer, for longer than our limit', async () => {
    const silent = await serveInTest(() => {})
    await expect(mirrorFrom(fresh, silent, { timeoutMs: 500 })).rejects.toMatchObject({
      code: 'timeout',
    })
    expect(await writtenRows(fresh.pool)).toBe(0)
  })

  const bitcoin = 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l'
  const both = [...createdBy(cluster('1'), mallory), ...createdBy(cluster('2'), alice)]
  const nobody = `0x${'00'.repeat(20)}`
  const listed = Array.from(
    { length: 1_000 },
    (_, i): Event => [
      'ADD_WALLET',
      {
        name: `w-${i}`,
        address: randomAddress(),
        cluster_id: cluster('1'),
        is_verified: false,
        is_backed_up: false,
      },
      mallory,
    ],
  )
  const misfit = 'fits no state of the feed before it'

  it.each<[what: string, leaves: () => readonly string[], why: string]>([
    ['a name of nobody', () => leavesOf([...both, registered(nobody)]), misfit],
    ['a name in a cluster of others', () => leavesOf([...both, registered(alice)]), misfit],
    [
      'a bid of a wallet that can make none',
      () => leavesOf([...createdBy(cluster('1'), bitcoin), registered(bitcoin)]),
      misfit,
    ],
    [
      'a move of a name that was never registered',
      () => leavesOf([...both, moved(cluster('1'), cluster('2'))]),
      misfit,
    ],
    [
      'a move of a name that others hold',
      () => leavesOf([...both, registered(mallory), moved(cluster('2'), cluster('1'))]),
      misfit,
    ],
    [
      'a name that is registered twice',
      () => leavesOf([...both, registered(mallory), registered(mallory)]),
      'it has something twice',
    ],
    [
      'more wallets than a cluster takes',
      () => leavesOf([...createdBy(cluster('1'), mallory), ...listed]),
      misfit,
    ],
    [
      'events without their clusters',
      () => honest().filter((leaf) => !leaf.includes('CREATE_CLUSTER')),
      misfit,
    ],
    [
      'a leaf of a newer version',
      () => honest().with(7, honest()[7]!.replace('"v":1', '"v":2')),
      'Entry 8 of names.example/mainnet/1 is refused: version 2 of its form is unknown',
    ],
    [
      'an event of an unknown type',
      () => honest().with(7, honest()[7]!.replace('REGISTER_NAME', 'DROP_TABLE')),
      'is refused: its type "DROP_TABLE" is unknown',
    ],
    [
      'a leaf with a space behind',
      () => honest().with(7, `${honest()[7]} `),
      'Entry 8 of names.example/mainnet/1 is refused: it is not written as events are.',
    ],
    [
      'a leaf with a mark of the byte order',
      () => honest().with(7, `\ufeff${honest()[7]}`),
      'is refused: it is not written as events are.',
    ],
    ['a leaf of no JSON', () => honest().with(7, 'nothing'), 'not written as events are'],
  ])('%s, signed by its key', async (_what, leaves, why) => {
    const log = filesOf(leaves())
    await expect(mirrorFrom(fresh, serving(log))).rejects.toMatchObject({
      code: 'log_mismatch',
      message: expect.stringContaining(why),
    })
    expect(await writtenRows(fresh.pool)).toBe(0)
  })

  it('a beginning that names a log of the future', async () => {
    const previous = { origin: 'names.example/mainnet/9', size: 4, root: Buffer.alloc(32, 1) }
    const log = filesOf(honest(), { previous })
    await expect(mirrorFrom(fresh, serving(log))).rejects.toThrow(
      'Entry 0 of names.example/mainnet/1 is refused: it names names.example/mainnet/9',
    )
    expect(await writtenRows(fresh.pool)).toBe(0)
  })

  it('none of this, and then takes all in', async () => {
    await mirrorFrom(fresh, serving(filesOf(honest())))
    const { rows } = await fresh.pool.query('SELECT count(*)::int AS names FROM names')
    expect(rows).toEqual([{ names: 599 }])
  })
})

describe('a mirror that has copied a log', () => {
  const first = () => honest().slice(0, 300)
  let copy: Database
  let before: number
  beforeAll(async () => {
    copy = await database()
    await mirrorFrom(copy, serving(filesOf(first())))
    before = await writtenRows(copy.pool)
  })

  const other = () => first().with(200, first()[200]!.replace('"1"', '"7"'))
  /** Files of two logs: those of the second come first. */
  const both = (a: Files, b: Files) => serving({ files: new Map([...a.files, ...b.files]) })

  it.each<[what: string, from: () => typeof fetch, why: string]>([
    [
      'an older checkpoint',
      () => serving(filesOf(first().slice(0, -5))),
      'The checkpoint is older than the last one: 296 of 301 entries.',
    ],
    [
      'another history of the same length',
      () => serving(filesOf(other())),
      `The log ${ORIGIN} has forked`,
    ],
    [
      'another history that goes on',
      () => serving(filesOf([...other(), ...honest().slice(300)])),
      `The log ${ORIGIN} has forked`,
    ],
    [
      'a new generation that begins with another end',
      () =>
        both(
          filesOf(first()),
          filesOf(honest(), { origin: 'names.example/mainnet/2', previous: filesOf(other()).head }),
        ),
      'has forked',
    ],
    [
      'a new generation that begins with nothing',
      () => serving(filesOf(honest(), { origin: 'names.example/mainnet/2' })),
      `The log names.example/mainnet/2 does not begin where ${ORIGIN} ended.`,
    ],
    [
      'a new generation with entries that do not fit',
      () =>
        both(
          filesOf(first()),
          filesOf([...honest(), ...leavesOf([registered(alice)])], {
            origin: 'names.example/mainnet/2',
            previous: filesOf(first()).head,
          }),
        ),
      'is older than the one before it',
    ],
  ])('refuses %s, and serves what it has', async (_what, from, why) => {
    await expect(mirrorFrom(copy, from())).rejects.toMatchObject({
      code: 'log_mismatch',
      message: expect.stringContaining(why),
    })
    expect(await writtenRows(copy.pool)).toBe(before)
  })

  it('follows the true history after that, and a true generation', async () => {
    await mirrorFrom(copy, serving(filesOf(honest())))
    const old = filesOf(honest())
    const next = filesOf(leavesOf([...createdBy(cluster('3'), alice)]), {
      origin: 'names.example/mainnet/4',
      previous: old.head,
    })
    await mirrorFrom(copy, both(old, next))
    const { rows } = await copy.pool.query(
      'SELECT (SELECT count(*)::int FROM names) AS names, (SELECT count(*)::int FROM clusters) AS clusters, (SELECT count(*)::int FROM journal) AS entries',
    )
    expect(rows).toEqual([{ names: 0, clusters: 1, entries: 2 }])
    const logs = await copy.pool.query('SELECT generation, size::int FROM logs ORDER BY generation')
    expect(logs.rows).toEqual([
      { generation: 1, size: 602 },
      { generation: 4, size: 3 },
    ])
  })

  it('refuses the log that has ended', async () => {
    await expect(mirrorFrom(copy, serving(filesOf(honest())))).rejects.toThrow(
      `The checkpoint is of ${ORIGIN}, older than names.example/mainnet/4.`,
    )
  })
})

it('a mirror pins the key that it was given', async () => {
  const fresh = await database()
  const stranger = Buffer.alloc(32, 1).toString('base64')
  expect(stranger).not.toBe(key)
  await expect(mirrorFrom(fresh, serving(filesOf(honest())), { key: stranger })).rejects.toThrow(
    'signed by other keys',
  )
})
