import type { RequestListener } from 'node:http'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { witnessRoutes } from '../../src/api/v1/witness.js'
import { Client } from '../../src/client/index.js'
import { type LogOptions, LogReader } from '../../src/client/verify.js'
import { WITNESS_LIMIT_MS, Witness } from '../../src/push/witnesses.js'
import { parseWitnessKey } from '../../src/registry/transparencyLog/cosignature.js'
import { sha256InOneCall } from '../../src/registry/transparencyLog/hash.js'
import {
  COSIGNER_KEY_TYPE,
  parseCheckpoint,
  parseNote,
  signatureLine,
  verifierKey,
} from '../../src/registry/transparencyLog/note.js'
import { cosign, logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { bid, freshName, randomAddress, secondApi, useApi } from '../api/support.js'
import { startTestMirror } from '../support/daemon.js'
import { bodyOf, serveInTest } from '../support/httpServer.js'
import { emptyDatabase, key, mirrorFrom, writeLog } from './support.js'

const world = useApi()
const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends) await end()
})

const cosignerOf = (digit: number) => ({
  name: `w${digit}.example`,
  keys: logKeysOfSeeds([Buffer.alloc(32, 100 + digit)]),
})
const keyOf = (digit: number) =>
  verifierKey(
    sha256InOneCall,
    cosignerOf(digit).name,
    cosignerOf(digit).keys[0]!.publicKey,
    COSIGNER_KEY_TYPE,
  )
const settingsOf = (digit: number, url: string) => ({
  ...parseWitnessKey(sha256InOneCall, keyOf(digit))!,
  url: `${url}/v1/witness`,
})

/** A mirror of the world's log that signs, with its API. */
interface MirrorWitness {
  pool: pg.Pool
  url: string
  copy(): Promise<void>
  witness(): Witness
}

async function mirrorWitness(digit: number, name = `witness_${digit}`): Promise<MirrorWitness> {
  const database = await emptyDatabase(world.postgres.url, name)
  const cosigner = cosignerOf(digit)
  const copy = () => mirrorFrom(database, world.url, { cosigner })
  await copy()
  const routes = witnessRoutes({ key, cosigner })
  const api = await secondApi(database, { moreRoutes: routes })
  ends.push(api.stop, () => database.pool.end())
  return {
    pool: database.pool,
    url: api.url,
    copy,
    witness: () => new Witness(settingsOf(digit, api.url)),
  }
}

async function grow(count: number, witnesses: readonly Witness[] = []): Promise<void> {
  const from = randomAddress()
  const bids = Array.from({ length: count }, () => bid({ from, name: freshName() }))
  await world.append('mainnet', bids)
  await writeLog(world.pool, witnesses)
}

const checkpointOf = async (url: string) => (await fetch(`${url}/v1/log/mainnet/checkpoint`)).text()
const namesIn = (note: string) => parseNote(note)!.signatures.map(({ name }) => name)
const readerOf = (url: string, options: Partial<LogOptions> = {}) =>
  new LogReader(new Client({ url, retries: 0 }), { key, ...options })
const requiring = (required: number) => ({
  witnesses: { keys: [1, 2, 3].map(keyOf), required },
})

let mirrors: MirrorWitness[]
beforeAll(async () => {
  await grow(300)
  mirrors = []
  for (const digit of [1, 2, 3]) mirrors.push(await mirrorWitness(digit))
})

describe('a log with three witnesses', () => {
  it('serves their signatures with its newest checkpoint, and a client requires them', async () => {
    const witnesses = mirrors.map((mirror) => mirror.witness())
    for (const count of [1, 300, 2]) {
      await grow(count, witnesses)
      expect(namesIn(await checkpointOf(world.url)).slice(1)).toEqual([
        'w1.example',
        'w2.example',
        'w3.example',
      ])
      const head = await readerOf(world.url, requiring(3)).checkpoint()
      expect(namesIn(head.note)).toHaveLength(4)
    }
    const before = await checkpointOf(world.url)
    await writeLog(world.pool, witnesses)
    expect(await checkpointOf(world.url)).toBe(before)
  })

  it('hands them on to mirrors, which add their own', async () => {
    const database = await emptyDatabase(world.postgres.url, 'another')
    ends.push(() => database.pool.end())
    await mirrorFrom(database, world.url)
    const api = await secondApi(database, {})
    ends.push(api.stop)
    expect(await checkpointOf(api.url)).toBe(await checkpointOf(world.url))
    await readerOf(api.url, requiring(3)).checkpoint()
    const [first] = mirrors
    await first!.copy()
    const copied = namesIn(await checkpointOf(first!.url))
    expect(copied.toSorted()).toEqual(namesIn(await checkpointOf(world.url)).toSorted())
  })

  const garbage = (digit: number, text: string) =>
    cosign(text, { ...cosignerOf(digit), keys: logKeysOfSeeds([Buffer.alloc(32, 9)]) })
  /** A witness that signs what `of` makes of the checkpoint's text. */
  const signing =
    (of: (text: string) => string): RequestListener =>
    async (req, res) => {
      const body = await bodyOf(req)
      const { text } = parseNote(body.slice(body.indexOf('\n\n') + 2))!
      res.end(of(text))
    }
  const linesOf = (signatures: ReturnType<typeof cosign>) => signatures.map(signatureLine).join('')

  it.each<[what: string, answer: RequestListener]>([
    ['never answers', () => {}],
    ['answers without an end', (_req, res) => void res.writeHead(200).write('— w3.example AAAA')],
    [
      'answers without measure',
      (_req, res) => {
        const more = () => {
          while (res.writable && res.write('x'.repeat(65_536)));
        }
        res.on('drain', more)
        more()
      },
    ],
    ['is away', (req) => void req.socket.destroy()],
    ['fails', (_req, res) => void res.writeHead(500).end('{}')],
    ['leads elsewhere', (_req, res) => void res.writeHead(307, { location: '/' }).end()],
    ['has another size each time', (_req, res) => void res.writeHead(409).end('3\n')],
    ['has signed more than there is', (_req, res) => void res.writeHead(409).end('99999999\n')],
    ['names no size', (_req, res) => void res.writeHead(409).end('-1\n')],
    ['answers nothing', (_req, res) => void res.end()],
    ['answers a page', (_req, res) => void res.end('<!doctype html>\n')],
    ['signs by another key', signing((text) => linesOf(garbage(3, text)))],
    [
      'signs for another log',
      signing((text) => linesOf(cosign(text.replace('mainnet', 'testnet'), cosignerOf(3)))),
    ],
    [
      'signs another tree',
      signing((text) => linesOf(cosign(text.replace(/\n\d+\n/, '\n7\n'), cosignerOf(3)))),
    ],
    ['signs as another witness', signing((text) => linesOf(cosign(text, cosignerOf(1))))],
  ])('publishes in time without one that %s', async (_what, answer) => {
    const url = await serveInTest(answer)
    const bad = new Witness(settingsOf(3, url))
    const witnesses = [...mirrors.slice(0, 2).map((mirror) => mirror.witness()), bad]
    const startedMs = performance.now()
    await grow(1, witnesses)
    expect(performance.now() - startedMs).toBeLessThan(WITNESS_LIMIT_MS + 2_000)
    expect(bad.failing?.why).toMatch(/./)
    expect(namesIn(await checkpointOf(world.url)).slice(1)).toEqual(['w1.example', 'w2.example'])
    await readerOf(world.url, requiring(2)).checkpoint()
    await expect(readerOf(world.url, requiring(3)).checkpoint()).rejects.toMatchObject({
      code: 'log_mismatch',
      message: 'Of 3 witnesses, 2 have signed the checkpoint, and 3 must have.',
    })
  })

  it('does not wait again for one that was late, until its pause is over', async () => {
    let asked = 0
    const url = await serveInTest(() => {
      asked += 1
    })
    const late = new Witness(settingsOf(3, url))
    await grow(1, [late])
    const startedMs = performance.now()
    await grow(1, [late])
    expect(performance.now() - startedMs).toBeLessThan(WITNESS_LIMIT_MS)
    expect(asked).toBe(1)
  })

  it('gets the signature of one that comes back, though nothing happens', async () => {
    let isAway = true
    const [, , third] = mirrors
    const url = await serveInTest(async (req, res) => {
      if (isAway) return void req.socket.destroy()
      const init = { method: 'POST', body: await bodyOf(req) }
      const response = await fetch(`${third!.url}${req.url}`, init)
      res.writeHead(response.status).end(await response.text())
    })
    const witnesses = [mirrors[0]!.witness(), new Witness(settingsOf(3, url))]
    await grow(1, witnesses)
    const before = await checkpointOf(world.url)
    expect(namesIn(before)).toHaveLength(2)
    isAway = false
    const signed = async () => {
      await writeLog(world.pool, witnesses)
      return checkpointOf(world.url)
    }
    await expect.poll(signed, { timeout: 5_000, interval: 200 }).not.toBe(before)
    expect(namesIn(await checkpointOf(world.url)).slice(1)).toEqual(['w1.example', 'w3.example'])
    expect((await checkpointOf(world.url)).startsWith(before)).toBe(true)
  })
})

describe('a client', () => {
  it.each<[what: string, witnesses: LogOptions['witnesses'], why: string]>([
    ['no key', { keys: ['w1.example'], required: 1 }, 'A witness’s key is like'],
    ['the key of a log', { keys: [key], required: 1 }, 'A witness’s key is like'],
    ['a key twice', { keys: [keyOf(1), keyOf(1)], required: 1 }, 'Of 1 different keys'],
    ['more than there are', { keys: [keyOf(1)], required: 2 }, '2 can not be required'],
    ['none', { keys: [keyOf(1)], required: 0 }, '0 can not be required'],
    ['half a witness', { keys: [keyOf(1)], required: 0.5 }, '0.5 can not be required'],
  ])('refuses to require %s', (_what, witnesses, why) => {
    expect(() => readerOf(world.url, { witnesses })).toThrow(why)
  })
})

/** A `clusterd mirror --witness` in this process. */
it('clusterd mirror --witness signs, and serves what it has signed', async () => {
  const { url } = await emptyDatabase(world.postgres.url, 'daemon')
  const env = { LOG_KEY: `0x${'68'.repeat(32)}`, MIRROR_WITNESS: 'w4.example' }
  expect(Buffer.alloc(32, 104).toString('hex')).toBe('68'.repeat(32))
  const mirror = await startTestMirror(url, { url: world.url, key }, env)
  const newest = async () => parseCheckpoint(parseNote(await checkpointOf(world.url))!.text)
  const copied = () => checkpointOf(mirror.api).then((note) => parseNote(note)?.text)
  const sourced = async () => parseNote(await checkpointOf(world.url))!.text
  await expect.poll(copied, { timeout: 30_000 }).toBe(await sourced())
  expect(namesIn(await checkpointOf(mirror.api))).toContain('w4.example')

  await grow(3, [new Witness(settingsOf(4, mirror.api))])
  const witnesses = { keys: [keyOf(4)], required: 1 }
  await readerOf(world.url, { witnesses }).checkpoint()
  const log = sha256InOneCall(Buffer.from((await newest())!.origin)).toString('hex')
  const signed = await fetch(`${mirror.api}/v1/witness/${log}/checkpoint`)
  expect(parseNote(await signed.text())!.text).toBe(await sourced())
  expect((await fetch(`${mirror.api}/v1/witness/${'0'.repeat(64)}/checkpoint`)).status).toBe(404)
  // the mirror goes on copying what it has signed
  await expect.poll(copied, { timeout: 30_000 }).toBe(await sourced())
  expect((await mirror.status()).problems).toEqual([])
  await mirror.stop()
})
