import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Worker } from '../../src/ops/worker.js'
import { checkpointText } from '../../src/registry/transparencyLog/note.js'
import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { randomAddress } from '../api/support.js'
import { swapped } from '../support/bundles.js'
import { serveInTest } from '../support/httpServer.js'
import {
  alice,
  altered,
  answering,
  BUNDLE,
  cluster,
  honest,
  mallory,
  moved,
  registered,
  resigned,
  unpacked,
} from './liars.js'
import {
  createdBy,
  type Database,
  type Event,
  filesOf,
  leavesOf,
  mirrorFrom,
  mirrorOf,
  ORIGIN,
  serving,
  useEmptyDatabases,
  writtenRows,
} from './support.js'

const database = useEmptyDatabases()

describe('an empty mirror copies nothing from a source with', () => {
  let fresh: Database
  beforeAll(async () => {
    fresh = await database()
  })

  it.each<[what: string, from: () => typeof fetch, why: string | RegExp]>([
    [
      'an entry that was altered by one byte',
      () => altered(BUNDLE, (bytes) => Buffer.from(bytes).fill(bytes[40]! ^ 1, 40, 41)),
      'entries of bundle 1 were altered',
    ],
    [
      'an altered entry behind many others',
      () =>
        altered(
          '1/tile/entries/026',
          (bytes) => Buffer.from(bytes.toString('latin1').replace('"1"', '"2"'), 'latin1'),
          honest(7_000),
        ),
      `The log ${ORIGIN}: entries of bundle 26 were altered.`,
    ],
    [
      'an entry of another price',
      () =>
        altered(BUNDLE, (bytes) =>
          Buffer.from(bytes.toString('latin1').replace('"1"', '"2"'), 'latin1'),
        ),
      `The log ${ORIGIN}: entries of bundle 1 were altered.`,
    ],
    ['a cut bundle', () => altered(BUNDLE, (bytes) => bytes.subarray(0, -3)), 'a bundle of 256'],
    [
      'a bundle with more behind it',
      () => altered(BUNDLE, (bytes) => Buffer.concat([bytes, Buffer.from([0, 1, 2])])),
      'a bundle of 256 entries has 256, and 3 bytes more',
    ],
    [
      'entries in another order',
      () => altered(BUNDLE, swapped),
      'entries of bundle 1 were altered',
    ],
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
      () => resigned({}, logKeysOfSeeds([Buffer.alloc(32, 9)])),
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
    ['a checkpoint of another size', () => resigned({ size: 500 }), 'no 1/tile/0/001.p/244'],
    [
      'a checkpoint of another root',
      () => resigned({ root: Buffer.alloc(32, 3) }),
      'the tiles at its end do not make its root',
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

  it.each<[what: string, previous: string]>([
    ['a letter that no text has', 'names.example\ud800/mainnet/0'],
    ['a control character', 'names.example\u0000/mainnet/1'],
    ['no name of a log', 'names.example'],
  ])('a beginning whose log before has %s', async (_what, origin) => {
    const previous = { origin, size: 4, root: Buffer.alloc(32, 1) }
    const log = filesOf(honest(), { origin: 'names.example/mainnet/2', previous })
    await expect(mirrorFrom(fresh, serving(log))).rejects.toMatchObject({ code: 'log_mismatch' })
    expect(await writtenRows(fresh.pool)).toBe(0)
  })

  it('an error that reports a refused log', async () => {
    const body = { error: 'log_mismatch', message: `x\n${'y'.repeat(9_000)}` }
    const from = answering('checkpoint', () => Response.json(body, { status: 400 }))
    await expect(mirrorFrom(fresh, from)).rejects.toMatchObject({
      code: 'unexpected',
      message: expect.stringMatching(/^x y{1,500}$/),
    })
  })

  it.each([404, 503])(
    'an error of %s that unpacks to more than there is memory',
    async (status) => {
      let bytes = 0
      const from = answering('checkpoint', () => {
        const endless = new ReadableStream({
          pull(controller) {
            bytes += 65_536
            controller.enqueue(new Uint8Array(65_536))
          },
        })
        return new Response(endless, { status })
      })
      await mirrorFrom(fresh, from, { timeoutMs: 500 }).catch(() => {})
      expect(bytes).toBeLessThan(4_000_000)
      expect(await writtenRows(fresh.pool)).toBe(0)
    },
  )

  it('no log, which it reports after the first minute where one is expected', async () => {
    const message = 'No key signs the log of this service: its operator sets LOG_KEY.'
    const none = () => Response.json({ error: 'not_found', message }, { status: 404 })
    const from = answering('checkpoint', none)
    const expected = await mirrorOf(fresh, from)
    const optional = await mirrorOf(fresh, from, { isExpected: false })
    const step = (worker: Worker) => worker.step(new AbortController().signal, () => {})
    expect(await step(expected)).toBe('idle')
    const startedMs = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => startedMs + 61_000)
    await expect(step(expected)).rejects.toThrow(message)
    expect(await step(optional)).toBe('idle')
    clock.mockRestore()
  })

  it('none of this, and then copies everything', async () => {
    await mirrorFrom(fresh, serving(filesOf(honest())))
    const { rows } = await fresh.pool.query('SELECT count(*)::int AS names FROM names')
    expect(rows).toEqual([{ names: 599 }])
  })
})
