import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { witnessRoutes } from '../../src/api/v1/witness.js'
import { Client } from '../../src/client/index.js'
import { LogReader } from '../../src/client/verify.js'
import { sha256InOneCall, sha256TreeHasher } from '../../src/registry/transparencyLog/hash.js'
import {
  COSIGNER_KEY_TYPE,
  parseNote,
  toBase64,
  verifierKey,
} from '../../src/registry/transparencyLog/note.js'
import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import {
  parseTilePath,
  rangeHashFromTiles,
  tileKey,
} from '../../src/registry/transparencyLog/tiles.js'
import { consistencyProofRanges } from '../../src/registry/transparencyLog/tree.js'
import { secondApi } from '../api/support.js'
import { honest } from './liars.js'
import {
  type Database,
  type Files,
  filesOf,
  key,
  mirrorFrom,
  mirrorOf,
  ORIGIN,
  serving,
  useEmptyDatabases,
} from './support.js'

/** `add-checkpoint` of C2SP tlog-witness, against a mirror that has copied 201 entries of a log. */

const database = useEmptyDatabases()
const cosigner = { name: 'w.example', keys: logKeysOfSeeds([Buffer.alloc(32, 104)]) }
const witnessKey = verifierKey(
  sha256InOneCall,
  cosigner.name,
  cosigner.keys[0]!.publicKey,
  COSIGNER_KEY_TYPE,
)
const COPIED = 201
const of = (size: number, leaves = honest()) => filesOf(leaves.slice(0, size - 1))
/** Another history from entry 150 on. */
const forged = () => honest().with(149, honest()[149]!.replace('"1"', '"7"'))

let copy: Database
let api: Awaited<ReturnType<typeof secondApi>>
const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends) await end()
})
const serve = async () => {
  api = await secondApi(copy, { moreRoutes: witnessRoutes({ key, cosigner }) })
  ends.push(api.stop)
}
const begin = async () => {
  copy = await database()
  await mirrorFrom(copy, serving(of(COPIED)), { cosigner })
  await serve()
}
beforeAll(begin)
beforeEach(() => copy.pool.query('DELETE FROM cosigned'))

const noteOf = ({ files }: Files) => Buffer.from(files.get('checkpoint')!).toString()

/** Consistency proof from an older size, of the log's own tiles. */
function proofOf({ files, head }: Files, old: number): string[] {
  const tiles = new Map(
    [...files].flatMap(([path, bytes]) => {
      const tile = parseTilePath(path.replace(/^\d+\//, ''))
      return tile?.level == null ? [] : [[tileKey({ ...tile, level: tile.level }), bytes] as const]
    }),
  )
  return consistencyProofRanges(old, head.size).map((range) =>
    toBase64(rangeHashFromTiles(sha256TreeHasher, range, tiles)),
  )
}

const post = (body: string | Uint8Array) =>
  fetch(`${api.url}/v1/witness/add-checkpoint`, { method: 'POST', body: body as string })
const bodyFor = (log: Files, old: number, proof = old > 0 ? proofOf(log, old) : []) =>
  [`old ${old}`, ...proof, '', noteOf(log)].join('\n')
const submit = async (...of: Parameters<typeof bodyFor>) => (await post(bodyFor(...of))).status

describe('a witness', () => {
  it('names the size that it has signed, and signs a checkpoint that continues it', async () => {
    const log = of(400)
    const unknown = await post(bodyFor(log, 0))
    expect([unknown.status, unknown.headers.get('content-type'), await unknown.text()]).toEqual([
      409,
      'text/x.tlog.size',
      `${COPIED}\n`,
    ])
    const signed = await post(bodyFor(log, COPIED))
    expect([signed.status, signed.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const lines = await signed.text()
    expect(lines).toMatch(/^— w\.example [A-Za-z0-9+/]{102}==\n$/)
    // a client of the log that requires this witness takes the checkpoint
    const files = new Map(log.files).set('checkpoint', Buffer.from(noteOf(log) + lines))
    const client = new Client({ url: 'http://log.invalid', fetch: serving({ files }) })
    const witnesses = { keys: [witnessKey], required: 1 }
    await new LogReader(client, { key, witnesses }).checkpoint()
    // the same again, from its size
    expect(await submit(log, 400, [])).toBe(200)
    expect(await submit(log, COPIED)).toBe(409)
  })

  it.each<[what: string, status: number, body: () => string | Uint8Array]>([
    ['another log', 404, () => bodyFor(filesOf([], { origin: 'o.example/mainnet/1' }), 0)],
    [
      'another generation',
      404,
      () => bodyFor(filesOf([], { origin: 'names.example/mainnet/2' }), 0),
    ],
    [
      'another key',
      403,
      () => bodyFor(filesOf([], { by: logKeysOfSeeds([Buffer.alloc(32, 9)]) }), 0),
    ],
    ['an altered root', 403, () => bodyFor(of(400), COPIED).replace(/\n400\n../, '\n400\nAA')],
    ['an altered size', 403, () => bodyFor(of(400), COPIED).replace('\n400\n', '\n401\n')],
    ['an old size that is larger', 400, () => bodyFor(of(400), 401, [])],
    ['a size that is not the signed one', 409, () => bodyFor(of(400), 200)],
    ['an older checkpoint', 409, () => bodyFor(of(100), 50)],
    ['a proof without a hash', 422, () => bodyFor(of(400), COPIED, [])],
    [
      'a proof that is too short',
      422,
      () => bodyFor(of(400), COPIED, proofOf(of(400), COPIED).slice(1)),
    ],
    ['a proof of another size', 422, () => bodyFor(of(400), COPIED, proofOf(of(400), 200))],
    ['a fork that goes on', 422, () => bodyFor(of(400, forged()), COPIED)],
    ['a fork of the same size', 422, () => bodyFor(of(COPIED, forged()), COPIED, [])],
    ['a zero before the size', 400, () => bodyFor(of(400), COPIED).replace('old ', 'old 0')],
    ['no old size', 400, () => noteOf(of(400))],
    [
      'a hash of 31 bytes',
      400,
      () => bodyFor(of(400), COPIED, [Buffer.alloc(31).toString('base64')]),
    ],
    ['a hash that is not canonical', 400, () => bodyFor(of(400), COPIED, [`${'A'.repeat(42)}B=`])],
    ['64 hashes', 400, () => bodyFor(of(400), COPIED, Array(64).fill(`${'A'.repeat(43)}=`))],
    ['an unsigned checkpoint', 400, () => `old 0\n\n${ORIGIN}\n400\n${'A'.repeat(43)}=\n`],
    ['JSON', 400, () => '{"old":0}'],
    ['nothing', 400, () => ''],
    ['bytes that are no text', 400, () => Buffer.alloc(100, 255)],
    ['more than 64 KiB', 413, () => `${bodyFor(of(400), COPIED)}${'x'.repeat(70_000)}`],
  ])('refuses %s: %i', async (_what, status, body) => {
    const response = await post(body())
    expect(response.status).toBe(status)
    const text = await response.text()
    if (status === 409) expect(text).toBe(`${COPIED}\n`)
    else expect(JSON.parse(text)).toMatchObject({ status, message: expect.stringMatching(/\.$/) })
    // nothing was signed
    expect(await submit(of(400), COPIED)).toBe(200)
  })

  it('signs one of two histories that arrive at once', async () => {
    // both continue the signed checkpoint
    const later = honest().with(249, honest()[249]!.replace('"1"', '"7"'))
    const sent = Array.from({ length: 12 }, (_, i) => of(400, i % 2 ? honest() : later))
    const answers = await Promise.all(
      sent.map(async (log) => (await post(bodyFor(log, COPIED))).status),
    )
    expect(answers.filter((status) => status === 200)).toHaveLength(1)
    expect(new Set(answers)).toEqual(new Set([200, 409]))
  })

  it('remembers what it has signed when its process and its copy begin anew', async () => {
    expect(await submit(of(400), COPIED)).toBe(200)
    await api.stop()
    await serve()
    const later = honest().with(249, honest()[249]!.replace('"1"', '"7"'))
    expect(await submit(of(450, later), COPIED)).toBe(409)
    expect(await submit(of(450, later), 400)).toBe(422)
    expect(await submit(of(450), 400)).toBe(200)
  })

  it('shows two people with two histories that they differ', async () => {
    const later = honest().with(249, honest()[249]!.replace('"1"', '"7"'))
    const hers = of(400)
    const his = of(420, later)
    expect(await submit(hers, COPIED)).toBe(200)
    const log = sha256InOneCall(Buffer.from(ORIGIN)).toString('hex')
    const seen = await (await fetch(`${api.url}/v1/witness/${log}/checkpoint`)).text()
    expect(parseNote(seen)!.text).toBe(parseNote(noteOf(hers))!.text)
    const readerOf = (shown: Files) =>
      new LogReader(new Client({ url: 'http://log.invalid', fetch: serving(shown) }), { key })
    // each compares what the witness has signed with what the service shows
    const compare = async (shown: Files) => {
      const reader = readerOf(shown)
      await reader.take(seen)
      return reader.checkpoint()
    }
    await compare(hers)
    await expect(compare(his)).rejects.toThrow('has forked')
  })

  it('says that it is busy while its log is being copied', async () => {
    const client = await copy.pool.connect()
    await client.query('BEGIN')
    await client.query('SELECT FROM journal_heads FOR UPDATE')
    const startedMs = performance.now()
    const busy = await post(bodyFor(of(400), COPIED))
    const { message } = (await busy.json()) as { message: string }
    expect([busy.status, message]).toEqual([503, 'This witness copies the log now: ask again.'])
    expect(performance.now() - startedMs).toBeLessThan(2_500)
    // strangers who submit what the log has published leave connections, and most needs no lock
    const submitted = Array.from({ length: 12 }, () => submit(of(400), COPIED))
    await setTimeout(200)
    const manyMs = performance.now()
    expect((await fetch(`${api.url}/v1/log/mainnet/checkpoint`)).status).toBe(200)
    expect(await submit(of(COPIED), COPIED, [])).toBe(200)
    expect(await submit(of(400), 200)).toBe(409)
    expect(await submit(of(400), COPIED, [])).toBe(422)
    expect(performance.now() - manyMs).toBeLessThan(800)
    await client.query('ROLLBACK')
    client.release()
    const statuses = await Promise.all(submitted)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(await submit(of(400), 400, [])).toBe(200)
  })

  it('copies only what continues it, and goes on from its copy', async () => {
    expect(await submit(of(400), COPIED)).toBe(200)
    const later = honest().with(249, honest()[249]!.replace('"1"', '"7"'))
    // the source has not published it yet
    await mirrorFrom(copy, serving(of(COPIED)), { cosigner })
    await expect(mirrorFrom(copy, serving(of(450, later)), { cosigner })).rejects.toMatchObject({
      code: 'log_mismatch',
      message: expect.stringContaining(`The log ${ORIGIN} has forked`),
    })
    await mirrorFrom(copy, serving(of(420)), { cosigner })
    expect(await submit(of(450), 400)).toBe(409)
    expect(await submit(of(450), 420)).toBe(200)
  })

  it('copies a checkpoint that is older than what it has signed, and signs no older one', async () => {
    await begin()
    expect(await submit(of(400), COPIED)).toBe(200)
    // the source has published part of it
    await mirrorFrom(copy, serving(of(300)), { cosigner })
    const copied = async () =>
      parseNote(await (await fetch(`${api.url}/v1/log/mainnet/checkpoint`)).text())!
    const part = await copied()
    expect(part.text).toBe(parseNote(noteOf(of(300)))!.text)
    expect(part.signatures.map(({ name }) => name)).toEqual([ORIGIN])
    // it remembers what it has signed
    expect(await submit(of(450), 300)).toBe(409)
    const later = honest().with(349, honest()[349]!.replace('"1"', '"7"'))
    await expect(mirrorFrom(copy, serving(of(450, later)), { cosigner })).rejects.toMatchObject({
      code: 'log_mismatch',
    })
    await mirrorFrom(copy, serving(of(400)), { cosigner })
    const whole = await copied()
    expect(whole.signatures.map(({ name }) => name)).toEqual([ORIGIN, cosigner.name])
  })

  it('is idle while its log is quiet', async () => {
    const now = performance.now.bind(performance)
    await begin()
    const worker = await mirrorOf(copy, serving(of(COPIED)), { cosigner })
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000)
    const step = await worker.step(new AbortController().signal, () => {})
    clock.mockRestore()
    expect(step).toBe('idle')
  })
})
