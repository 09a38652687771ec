import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import { type LogEntry, type LogOptions, LogReader } from '../../src/client/verify.js'
import { createTransparencyLogWorker } from '../../src/push/transparencyLog.js'
import { checkpointText } from '../../src/registry/transparencyLog/note.js'
import { logKeysOfSeeds, signCheckpoint } from '../../src/registry/transparencyLog/signer.js'
import { bid, freshName, randomAddress, startApi } from '../api/support.js'
import { swapped } from '../support/bundles.js'
import { readEpoch } from '../support/epoch.js'
import { useWorld } from '../support/useWorld.js'

const { signal } = new AbortController()
const keys = logKeysOfSeeds([Buffer.alloc(32, 7)])
const key = keys[0]!.publicKey.toString('base64')
const ORIGIN = 'names.example/mainnet/1'

const world = useWorld(async () => {
  const api = await startApi()
  await grow(api, 600)
  return api
})

async function grow(api: Pick<typeof world, 'append' | 'pool'>, count: number): Promise<void> {
  const from = randomAddress()
  const bids = Array.from({ length: count }, () => bid({ from, name: freshName() }))
  await api.append('mainnet', bids)
  const epoch = await readEpoch(api.pool, 'mainnet', 'index')
  const ctx = { pool: api.pool, network: 'mainnet', epoch } as const
  const worker = createTransparencyLogWorker(ctx, { domain: 'names.example', keys })
  while ((await worker.step(signal, () => {})) !== 'idle');
}

type Alter = (answer: Buffer, path: string) => Buffer | Response | Promise<Buffer | Response>

/** Reader of the log through a proxy that alters responses. */
function readerOf(alter: Alter = (answer) => answer, options: Partial<LogOptions> = {}) {
  const through: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok) return response
    const altered = await alter(
      Buffer.from(await response.arrayBuffer()),
      new URL(String(input)).pathname.replace('/v1/log/mainnet/', ''),
    )
    return altered instanceof Response ? altered : new Response(new Uint8Array(altered))
  }
  return new LogReader(new Client({ url: world.url, fetch: through, retries: 0 }), {
    key,
    ...options,
  })
}

async function all(entries: AsyncIterable<LogEntry>): Promise<LogEntry[]> {
  const found: LogEntry[] = []
  for await (const entry of entries) found.push(entry)
  return found
}

const inBundle =
  (alter: (bundle: Buffer) => Buffer): Alter =>
  (answer, path) =>
    path.includes('/tile/entries/001') ? alter(answer) : answer

describe('a reader of the log', () => {
  it('gets every entry, and each event by its id', async () => {
    const reader = readerOf()
    const head = await reader.checkpoint()
    const entries = await all(reader.entries(head))
    expect(entries.map(({ index }) => index)).toEqual([...Array(head.size).keys()])
    const { body } = await world.get('/v1/events?limit=1000')
    expect(JSON.parse(entries[1]!.text).data).toEqual(body.items[0].data)
    expect(await reader.event('m-1-300')).toEqual(entries[300])
  })

  it('continues from a stored checkpoint', async () => {
    const last = await readerOf().checkpoint()
    await grow(world, 5)
    const head = await readerOf(undefined, { last }).checkpoint()
    // the first bid of a wallet also creates its cluster
    expect(head.size).toBe(last.size + 7)
  })

  const headNow = async () => await readerOf().checkpoint()

  it.each<[string, Alter, string]>([
    [
      'an altered byte',
      inBundle((bundle) =>
        Buffer.from(bundle.toString('latin1').replace('"from":"0x', '"from":"0y'), 'latin1'),
      ),
      'entries of bundle 1 were altered',
    ],
    ['entries in another order', inBundle(swapped), 'entries of bundle 1 were altered'],
    [
      'a missing entry',
      inBundle((bundle) => bundle.subarray(2 + bundle.readUInt16BE(0))),
      'a bundle of 256 entries has',
    ],
    ['a cut bundle', inBundle((bundle) => bundle.subarray(0, -3)), 'a bundle of 256 entries has'],
    [
      'a bundle with more behind it',
      inBundle((bundle) => Buffer.concat([bundle, bundle])),
      'a bundle of 256 entries has',
    ],
    [
      'an entry twice',
      inBundle((bundle) => Buffer.concat([bundle.subarray(0, 2 + bundle.readUInt16BE(0)), bundle])),
      'a bundle of 256 entries has',
    ],
  ])('refuses a bundle with %s', async (_case, alter, message) => {
    const head = await headNow()
    await expect(all(readerOf(alter).entries(head))).rejects.toMatchObject({
      code: 'log_mismatch',
      message: expect.stringContaining(message),
    })
  })

  it('reads no more of a compressed bundle than 256 entries may have', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const head = await headNow()
    const reader = readerOf((answer, path) => {
      if (!path.includes('entries')) return answer
      const packed = new Blob([new Uint8Array(bomb)]).stream()
      return new Response(packed.pipeThrough(new DecompressionStream('gzip')))
    })
    await expect(all(reader.entries(head))).rejects.toThrow('is longer than 2097152 bytes')
  })

  it('stops at its time limit when a response does not end', async () => {
    const head = await headNow()
    const endless = () => new Response(new ReadableStream())
    const reader = readerOf((answer, path) => (path.includes('entries') ? endless() : answer))
    await expect(all(reader.entries(head, { signal: AbortSignal.timeout(300) }))).rejects.toThrow(
      /time/i,
    )
  })

  it('refuses an event whose tile was altered', async () => {
    const alter: Alter = (answer, path) =>
      path.includes('tile/0/') ? Buffer.from(answer).fill(255 - answer[40]!, 40, 41) : answer
    await expect(readerOf(alter).event('m-1-5')).rejects.toThrow(
      `The log ${ORIGIN}: the tiles at its end do not make its root.`,
    )
  })

  const noteOf =
    (head: { origin?: string; size?: number; root?: Uint8Array }, by = keys): Alter =>
    async (answer, path) => {
      if (!path.endsWith('checkpoint')) return answer
      return Buffer.from(signCheckpoint({ ...(await headNow()), ...head }, by)!)
    }

  it.each<[string, Alter, string]>([
    ['another key', noteOf({}, logKeysOfSeeds([Buffer.alloc(32, 9)])), 'signed by other keys'],
    [
      'another network',
      noteOf({ origin: 'names.example/testnet/1' }),
      'of another log, names.example/testnet/1',
    ],
    ['no network', noteOf({ origin: 'names.example' }), 'of another log, names.example'],
    [
      'a forged size',
      async (answer, path) =>
        path === 'checkpoint'
          ? Buffer.from(answer.toString().replace(/\n\d+\n/, '\n9999\n'))
          : answer,
      'The signature of the checkpoint is wrong',
    ],
    [
      'no signature',
      async () => Buffer.from(checkpointText(await headNow())),
      'is not a signed one',
    ],
  ])('refuses a checkpoint with %s', async (_case, alter, message) => {
    await expect(readerOf(alter).checkpoint()).rejects.toMatchObject({
      code: 'log_mismatch',
      message: expect.stringContaining(message),
    })
  })

  it('names an older checkpoint, and a fork', async () => {
    const last = await headNow()
    const older = readerOf(noteOf({ size: last.size - 1 }), { last })
    await expect(older.checkpoint()).rejects.toThrow(
      `The checkpoint is older than the last one: ${last.size - 1} of ${last.size} entries.`,
    )
    const forked = readerOf(noteOf({ root: Buffer.alloc(32, 3) }), { last })
    await expect(forked.checkpoint()).rejects.toThrow(`The log ${ORIGIN} has forked`)
    await grow(world, 3)
    const rewritten = readerOf(undefined, { last: { ...last, root: Buffer.alloc(32, 3) } })
    await expect(rewritten.checkpoint()).rejects.toThrow(`The log ${ORIGIN} has forked`)
  })

  it.each(['t-1-1', 'm-1-0', 'm-01-1', 'm-1-1x', '1'])(
    'proves nothing for the id %s on the mainnet',
    async (id) => {
      await expect(readerOf().event(id)).rejects.toMatchObject({ code: 'invalid_request' })
    },
  )

  it('refuses the log of another domain that the key signs, where one is named', async () => {
    expect((await readerOf(undefined, { domain: 'names.example' }).checkpoint()).origin).toBe(
      ORIGIN,
    )
    await expect(readerOf(undefined, { domain: 'names.example.org' }).checkpoint()).rejects.toThrow(
      `The checkpoint is of another log, ${ORIGIN}.`,
    )
  })

  it('drops signatures of unknown keys', async () => {
    const stranger = '— stranger.example AAAAAAAA\n'
    const more: Alter = (answer, path) =>
      path.endsWith('checkpoint') ? Buffer.concat([answer, Buffer.from(stranger)]) : answer
    expect((await readerOf(more).checkpoint()).note).toBe((await headNow()).note)
  })

  it('compares concurrent checkpoints one after the other', async () => {
    const reader = readerOf()
    const older = (await headNow()).note
    await grow(world, 3)
    const [newer, refused] = await Promise.allSettled([reader.checkpoint(), reader.take(older)])
    expect(newer.status).toBe('fulfilled')
    expect(refused).toMatchObject({ reason: { code: 'log_mismatch' } })
    expect(reader.last!.size).toBe((await headNow()).size)
  })

  it('continues from a checkpoint that was kept as JSON', async () => {
    const reader = readerOf()
    expect(reader.last).toBe(null)
    await reader.checkpoint()
    const last = JSON.parse(JSON.stringify(reader.last))
    expect(last).toEqual(reader.last)
    expect((await readerOf(undefined, { last }).event('m-1-1')).index).toBe(1)
    await grow(world, 3)
    const continued = readerOf(undefined, { last })
    const { size } = await continued.checkpoint()
    expect(size).toBeGreaterThan(last.size)
    expect(await all(continued.entries(continued.last!))).toHaveLength(size)
    const forged = { ...last, root: Buffer.alloc(32, 3).toString('base64') }
    await expect(readerOf(undefined, { last: forged }).checkpoint()).rejects.toThrow('has forked')
  })

  it('refuses by a TypeError a `last` that is no checkpoint any more', async () => {
    const head = await headNow()
    const lost = [
      JSON.parse(JSON.stringify(head)),
      JSON.parse(JSON.stringify({ ...head, root: Buffer.from(head.root) })),
      { ...head, root: head.root.slice(1) },
      { ...head, root: 'AAAA' },
      { ...head, root: [...head.root] },
      { ...head, size: '1' },
      { ...head, size: -1 },
      { size: head.size, root: head.root },
      {},
      'names.example/mainnet/1',
      '',
    ]
    for (const last of lost)
      expect(() => readerOf(undefined, { last }), JSON.stringify(last)).toThrow(TypeError)
  })

  it.each([
    ['\u202e', '\\u{202e}'],
    ['\u009b31m', '\\u{9b}31m'],
    ['\u2066', '\\u{2066}'],
    ['\u200b', '\\u{200b}'],
    ['\u{e0041}', '\\u{e0041}'],
  ])(
    'shows the name of another log without characters that change the text',
    async (raw, shown) => {
      const origin = `evil${raw}/mainnet/1`
      const note = signCheckpoint({ origin, size: 1, root: Buffer.alloc(32) }, keys)!
      await expect(readerOf().take(note)).rejects.toThrow(
        `The checkpoint is of another log, evil${shown}/mainnet/1.`,
      )
    },
  )

  it('refuses a key that is not 32 bytes', () => {
    expect(() => readerOf(undefined, { key: 'names' })).toThrow(
      'The key of a log is 32 bytes in base64',
    )
  })

  it('accepts a new generation only if it begins where the last one ended', async () => {
    const last = await headNow()
    await world.pool.query('UPDATE journal_heads SET feed_generation = 4 WHERE network = 0')
    await grow(world, 2)
    const head = await readerOf(undefined, { last }).checkpoint()
    expect(head.origin).toBe('names.example/mainnet/4')
    const further = { ...last, size: last.size + 1 }
    await expect(readerOf(undefined, { last: further }).checkpoint()).rejects.toThrow(
      `The log names.example/mainnet/4 begins behind entry ${last.size} of ${ORIGIN}, of which ${further.size} were known`,
    )
    const other = { ...last, origin: 'names.example/mainnet/2' }
    await expect(readerOf(undefined, { last: other }).checkpoint()).rejects.toThrow(
      'The log names.example/mainnet/4 does not begin where names.example/mainnet/2 ended: it is another log.',
    )
    await expect(readerOf(noteOf(last), { last: head }).checkpoint()).rejects.toThrow(
      `The checkpoint is of ${ORIGIN}, older than names.example/mainnet/4.`,
    )
  })
})
