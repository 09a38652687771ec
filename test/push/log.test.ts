import { execFile, execFileSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { LostLeadershipError } from '../../src/db/journal/head.js'
import { createTransparencyLogWorker } from '../../src/push/transparencyLog.js'
import { Witness } from '../../src/push/witnesses.js'
import { parseWitnessKey } from '../../src/registry/transparencyLog/cosignature.js'
import { sha256InOneCall, sha256TreeHasher } from '../../src/registry/transparencyLog/hash.js'
import {
  COSIGNER_KEY_TYPE,
  parseCheckpoint,
  parseNote,
  signatureLine,
  verifierKey,
} from '../../src/registry/transparencyLog/note.js'
import { cosign, logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { unpackBundle } from '../../src/registry/transparencyLog/tiles.js'
import { rootOfInclusionProof } from '../../src/registry/transparencyLog/tree.js'
import { bid, freshName, randomAddress, startApi } from '../api/support.js'
import { readEpoch } from '../support/epoch.js'
import { useFolder } from '../support/folder.js'
import { bodyOf, serveInTest } from '../support/httpServer.js'
import { isNoteSignedBy } from '../support/notes.js'
import { useWorld } from '../support/useWorld.js'

const { signal } = new AbortController()
const ORIGIN = 'names.example/mainnet/1'
const keys = logKeysOfSeeds([Buffer.alloc(32, 7)])
const renewed = logKeysOfSeeds([Buffer.alloc(32, 8), Buffer.alloc(32, 7)])

const world = useWorld(() => startApi())
const alice = randomAddress()

const grow = (count: number, from = () => alice) =>
  world.append(
    'mainnet',
    Array.from({ length: count }, () => bid({ from: from(), name: freshName() })),
  )

/** Runs the worker's steps until it is idle. */
async function catchUp(by = keys, witnesses: readonly Witness[] = []): Promise<void> {
  const epoch = await readEpoch(world.pool, 'mainnet', 'index')
  const worker = createTransparencyLogWorker(
    { pool: world.pool, network: 'mainnet', epoch },
    { domain: 'names.example', keys: by, witnesses },
  )
  while ((await worker.step(signal, () => {})) !== 'idle');
}

const fetchLog = (below: string) => fetch(`${world.url}/v1/log/mainnet/${below}`)

async function newestCheckpoint() {
  const response = await fetchLog('checkpoint')
  const note = await response.text()
  return { note, head: parseCheckpoint(parseNote(note)!.text)! }
}

async function entriesOf(size: number) {
  const entries: string[] = []
  for (let first = 0; first < size; first += 256) {
    const width = Math.min(256, size - first)
    const index = String(first / 256).padStart(3, '0')
    const response = await fetchLog(`1/tile/entries/${index}${width < 256 ? `.p/${width}` : ''}`)
    const bundle = new Uint8Array(await response.arrayBuffer())
    entries.push(...unpackBundle(bundle, width).map((entry) => Buffer.from(entry).toString()))
  }
  return entries
}

describe('the log of a feed', () => {
  it('does not exist before the first catch-up', async () => {
    await world.pool.query('UPDATE journal_heads SET caught_up = false')
    await catchUp()
    const response = await fetchLog('checkpoint')
    expect([response.status, await response.json()]).toMatchObject([404, { error: 'not_found' }])
    await world.pool.query('UPDATE journal_heads SET caught_up = true')
  })

  it('begins with its name, followed by an entry for each event', async () => {
    await grow(300)
    await grow(3, randomAddress)
    await catchUp()
    const { note, head } = await newestCheckpoint()
    const { body } = await world.get('/v1/events?limit=1000')
    expect(head).toMatchObject({ origin: ORIGIN, size: 1 + body.items.length })
    expect(isNoteSignedBy(note, ORIGIN, keys[0]!.publicKey)).toBe(true)
    const [begin, ...entries] = (await entriesOf(head.size)).map((entry) => JSON.parse(entry))
    expect(begin).toEqual({ v: 1, type: 'BEGIN', origin: ORIGIN, previous: null })
    expect(entries).toEqual(
      body.items.map(({ type, timestamp, from, data }: Record<string, unknown>) => ({
        v: 1,
        type,
        at: timestamp,
        from,
        data,
      })),
    )
  })

  it('has tiles that caches store, and checkpoints that they do not', async () => {
    const tile = await fetchLog('1/tile/0/000')
    expect(tile.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(tile.headers.get('content-type')).toBe('application/octet-stream')
    expect((await tile.arrayBuffer()).byteLength).toBe(8_192)
    const note = await fetchLog('1/checkpoint')
    expect(note.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(note.headers.get('cache-control')).toBe('public, max-age=1')
  })

  it.each([
    ['a tile beyond its size', '1/tile/0/009'],
    ['a partial tile that is wider than its size', '1/tile/2/000.p/9'],
    ['another generation', '2/tile/0/000'],
    ['a path that is not the canonical one', '1/tile/0/0'],
    ['a path that leads elsewhere', '1/tile/0/..%2f000'],
  ])('does not have %s', async (_case, below) => {
    const response = await fetchLog(below)
    const { error } = (await response.json()) as { error: string }
    expect([response.status, error]).toEqual([404, 'not_found'])
  })

  it('proves each event by its id', async () => {
    const { head } = await newestCheckpoint()
    for (const number of [1, 2, 255, 256, 300, head.size - 1]) {
      const { status, body } = await world.get(`/v1/events/m-1-${number}/proof`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ origin: ORIGIN, index: number, size: head.size })
      const hashes = body.hashes.map((hash: string) => Buffer.from(hash, 'base64'))
      const leaf = sha256TreeHasher.leaf(Buffer.from(body.leaf))
      const root = rootOfInclusionProof(
        sha256TreeHasher,
        leaf,
        { index: number, size: head.size },
        hashes,
      )
      expect(Buffer.from(root!)).toEqual(Buffer.from(head.root))
    }
    expect((await world.get(`/v1/events/m-1-${head.size}/proof`)).body.error).toBe('not_found')
    expect((await world.get('/v1/events/nothing/proof')).body.error).toBe('invalid_request')
  })

  it('is signed again when its keys change, by old and new keys', async () => {
    const before = await newestCheckpoint()
    await catchUp(renewed)
    const { note, head } = await newestCheckpoint()
    expect(head).toEqual(before.head)
    for (const { publicKey } of renewed) expect(isNoteSignedBy(note, ORIGIN, publicKey)).toBe(true)
    await catchUp()
    expect(await newestCheckpoint()).toEqual(before)
  })

  it('is written only by the leader', async () => {
    await grow(1)
    const worker = createTransparencyLogWorker(
      { pool: world.pool, network: 'mainnet', epoch: 77 },
      { domain: 'names.example', keys },
    )
    await expect(worker.step(signal, () => {})).rejects.toThrow(LostLeadershipError)
  })
})

const hasGo = (() => {
  try {
    return execFileSync('go', ['version']).length > 0
  } catch {
    return false
  }
})()
const folder = useFolder()

describe.skipIf(!hasGo)('Go’s checksum database', () => {
  const verifier = () => path.join(folder, 'verify')
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' }
  const run = promisify(execFile)

  beforeAll(async () => {
    const source = path.resolve('examples/verify/verify.go')
    await run('go', ['build', '-o', verifier(), source], { env: { ...env, GOCACHE: folder } })
  }, 120_000)

  const verify = (rest: string[] = [], { url = world.url, origin = ORIGIN } = {}) =>
    run(verifier(), [url, origin, keys[0]!.publicKey.toString('base64'), ...rest])

  it('verifies every entry, and that the log has only grown', async () => {
    const old = (await newestCheckpoint()).head
    await grow(700)
    await catchUp()
    const { head } = await newestCheckpoint()
    const { stdout } = await verify([String(old.size), Buffer.from(old.root).toString('base64')])
    expect(stdout).toBe(`${ORIGIN}: ${head.size} of ${head.size} entries proved\n`)
  })

  it('verifies the signature of a witness, and requires it', async () => {
    const cosigner = { name: 'w.example/1', keys: logKeysOfSeeds([Buffer.alloc(32, 3)]) }
    const publicKey = cosigner.keys[0]!.publicKey
    const witnessKey = verifierKey(sha256InOneCall, cosigner.name, publicKey, COSIGNER_KEY_TYPE)
    const url = await serveInTest(async (req, res) => {
      const body = await bodyOf(req)
      const { text } = parseNote(body.slice(body.indexOf('\n\n') + 2))!
      res.end(cosign(text, cosigner).map(signatureLine).join(''))
    })
    await grow(1)
    await catchUp()
    const key = keys[0]!.publicKey.toString('base64')
    const requiring = () => run(verifier(), ['-witness', witnessKey, world.url, ORIGIN, key])
    await expect(requiring()).rejects.toThrow('1 signatures count, and 2 are required')
    await catchUp(keys, [new Witness({ ...parseWitnessKey(sha256InOneCall, witnessKey)!, url })])
    expect((await requiring()).stdout).toMatch(/entries proved\n$/)
    // other readers don't mind it
    expect((await verify()).stdout).toMatch(/entries proved\n$/)
  })

  it('refuses another history', async () => {
    const other = Buffer.alloc(32, 1).toString('base64')
    await expect(verify(['9', other])).rejects.toThrow()
  })

  it.each<[lie: string, path: string, alter: (bytes: Buffer) => Buffer, why: string]>([
    [
      'an altered tile',
      'tile/0/000',
      (tile) => tile.fill(255 - tile[40]!, 40, 41),
      'invalid transparency proof',
    ],
    ['bundles without entries', 'entries/001', () => Buffer.alloc(0), 'bundle 1 has 0 entries'],
    [
      'a bundle with an entry less',
      'entries/001',
      (bundle) => bundle.subarray(2 + bundle.readUInt16BE(0)),
      'bundle 1 has 255 entries, not 256',
    ],
    ['a cut bundle', 'entries/001', (bundle) => bundle.subarray(0, -3), 'a bundle is cut'],
  ])('refuses %s', async (_lie, path, alter, why) => {
    const url = await serveInTest(async (req, res) => {
      const response = await fetch(`${world.url}${req.url}`)
      const bytes = Buffer.from(await response.arrayBuffer())
      res.writeHead(response.status).end(req.url!.includes(path) ? alter(bytes) : bytes)
    })
    await expect(verify([], { url })).rejects.toThrow(why)
  })

  it.each(['names.example/testnet/1', 'other.example/mainnet/1'])(
    'does not accept this log as %s',
    async (origin) => {
      await expect(verify([], { origin })).rejects.toThrow()
    },
  )
})

describe('a log whose database was altered', () => {
  const undo = async (altered: string, restored: string, act: () => Promise<void>) => {
    await world.pool.query(altered)
    await act().finally(() => world.pool.query(restored))
  }
  const flipped = (level: number) =>
    `UPDATE log_tiles SET hashes = set_bit(hashes, 3, 1 - get_bit(hashes, 3)) WHERE level = ${level}`

  it('is not signed further when its tiles do not give its root', async () => {
    await grow(5)
    await undo(flipped(1), flipped(1), async () => {
      await expect(catchUp()).rejects.toThrow(`the tiles of the log ${ORIGIN} do not make its root`)
    })
    await catchUp()
  })

  it('raises an alarm when its feed is a minute ahead', async () => {
    const epoch = await readEpoch(world.pool, 'mainnet', 'index')
    const ctx = { network: 'mainnet', pool: world.pool, epoch } as const
    const worker = createTransparencyLogWorker(ctx, { domain: 'names.example', keys })
    const step = () => worker.step(signal, () => {}).then(worker.check, () => {})
    await grow(2)
    let nowMs = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
    await undo(flipped(1), flipped(1), async () => {
      await step()
      expect(worker.alarms!()).toEqual([])
      nowMs += 61_000
      await step()
      expect(worker.alarms!()).toEqual([
        {
          alarm: 'ClusterdLogBehind',
          text: 'the signed log of mainnet is 2 entries behind',
          network: 'mainnet',
        },
      ])
    })
    await step()
    expect(worker.alarms!()).toEqual([])
    clock.mockRestore()
  })

  it('serves no bundle that contradicts its tile, and no proof that contradicts its root', async () => {
    await undo(flipped(0), flipped(0), async () => {
      expect((await fetchLog('1/tile/entries/000')).status).toBe(500)
      expect((await world.get('/v1/events/m-1-1/proof')).status).toBe(500)
    })
    expect((await fetchLog('1/tile/entries/000')).status).toBe(200)
  })
})

describe('a new generation', () => {
  it('begins with the last checkpoint of the previous one', async () => {
    const before = (await newestCheckpoint()).head
    await world.pool.query('UPDATE journal_heads SET feed_generation = 7 WHERE network = 0')
    expect((await fetchLog('checkpoint')).status).toBe(404)
    await catchUp()
    const { head } = await newestCheckpoint()
    expect(head.origin).toBe('names.example/mainnet/7')
    const bundle = await fetchLog(`7/tile/entries/000`)
    const [begin] = unpackBundle(new Uint8Array(await bundle.arrayBuffer()), 256)
    expect(JSON.parse(Buffer.from(begin!).toString())).toEqual({
      v: 1,
      type: 'BEGIN',
      origin: 'names.example/mainnet/7',
      previous: {
        origin: ORIGIN,
        size: before.size,
        root: Buffer.from(before.root).toString('base64'),
      },
    })
    const last = await fetchLog('1/checkpoint')
    expect(parseCheckpoint(parseNote(await last.text())!.text)).toEqual(before)
    expect((await fetchLog('1/tile/0/000')).status).toBe(200)
    expect((await fetchLog('1/tile/entries/000')).status).toBe(404)
    expect((await world.get('/v1/events/m-1-1/proof')).body.error).toBe('feed_restarted')
  })
})
