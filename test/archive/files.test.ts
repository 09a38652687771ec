import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ArchiveFile, type ArchiveIndex, ArchiveWriter, BrokenArchiveError } from '../../src/db/journal/archive/file.js'
import { type ArchiveWorld, startArchiveWorld } from './world.js'

let world: ArchiveWorld
let path: string
const scratch = mkdtempSync(join(tmpdir(), 'clusterd-damaged-'))
const other = join(scratch, 'other')
beforeAll(async () => {
  world = await startArchiveWorld()
  await world.write()
  path = join(world.dir, readdirSync(world.dir).sort()[1]!)
})
afterAll(async () => {
  await world.stop()
  rmSync(scratch, { recursive: true })
})

/** Reads each piece of a file. */
const readAll = (of: string): Promise<ArchiveIndex> =>
  ArchiveFile.with(of, async (file) => {
    const { index } = await file.index()
    for (const piece of [...index.blocks, ...index.actors]) await file.read(piece)
    return index
  })

describe('a file', () => {
  it('is read by its owner alone, and has blocks, actors and bounds', async () => {
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const index = await readAll(path)
    expect(index).toMatchObject({ network: 'mainnet', generation: 1, first: 40, last: 79 })
    expect(index.blocks.map(({ seq }) => seq)).toEqual([40, 56, 72])
    expect(index.actors.length).toBe(1)
    expect(index.migrations.length).toBeGreaterThan(5)
  })

  it('is refused with any byte changed, and whole nowhere cut', async () => {
    const whole = readFileSync(path)
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const changed = Buffer.from(whole)
        changed[at]! ^= flip
        writeFileSync(other, changed)
        await expect(readAll(other)).rejects.toThrow(BrokenArchiveError)
      }),
      { numRuns: 300, examples: [0, 25, whole.length - 44, whole.length - 36, whole.length - 1].map((at) => [at, 1]) },
    )
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), async (length) => {
        copyFileSync(path, other)
        truncateSync(other, length)
        await expect(readAll(other)).rejects.toThrow(BrokenArchiveError)
      }),
      { numRuns: 50 },
    )
  })

  it('that unpacks to more than its index says is refused', async () => {
    const writer = await ArchiveWriter.open(other)
    const piece = await writer.add(Buffer.alloc(1 << 20))
    await writer.end({ blocks: [], actors: [] } as unknown as ArchiveIndex)
    await writer.close()
    await expect(ArchiveFile.with(other, (file) => file.read({ ...piece, plain: 1_000 }))).rejects.toThrow(
      BrokenArchiveError,
    )
  })
})

describe('what a damaged file has', () => {
  const damage = (at: number) => {
    const bytes = readFileSync(path)
    bytes[at]! ^= 1
    writeFileSync(path, bytes)
  }

  it('is not dropped from the table, nor counted, until the file is right again', async () => {
    const half = Math.floor(statSync(path).size / 2)
    damage(half)
    await expect(world.drop()).rejects.toThrow('is not the file that was written')
    damage(half)
    const { rows } = await world.pool.query('SELECT seq_first::int FROM archives WHERE dropped_ms IS NOT NULL')
    expect(rows).toEqual([{ seq_first: 1 }])
    expect((await world.drop()).length).toBeGreaterThan(1)
  })

  it('is not restored, and the rest stays as it is', async () => {
    damage(100)
    await expect(world.restore()).rejects.toThrow('is not the file that was written')
    damage(100)
    const newest = 'WHERE name = (SELECT max(name) FROM migrations)'
    await world.pool.query(`UPDATE migrations SET name = name || '+' ${newest}`)
    await expect(world.restore()).rejects.toThrow('is of a newer version')
    await world.pool.query(`UPDATE migrations SET name = left(name, -1) ${newest}`)
    expect((await world.restore()).map(({ seqFirst }) => seqFirst)).toEqual([40, 1])
  })
})

it('a file that is there already counts where it has what the table has, and is never written over', async () => {
  await world.pool.query('DELETE FROM archives')
  const before = statSync(path).mtimeMs
  copyFileSync(path, join(world.dir, readdirSync(world.dir).sort()[0]!))
  await expect(world.write()).rejects.toThrow('has other entries than its name says')
  rmSync(join(world.dir, readdirSync(world.dir).sort()[0]!))
  expect((await world.write()).length).toBeGreaterThan(3)
  expect(statSync(path).mtimeMs).toBe(before)
})

it('a file that is lost before its drop is written again; nothing is dropped behind what was never written', async () => {
  rmSync(path)
  await expect(world.drop()).rejects.toThrow("can't be read (ENOENT)")
  expect((await world.write()).map(({ seqFirst }) => seqFirst)).toEqual([40])
  await readAll(path)
  await world.restore()
  await world.pool.query('DELETE FROM archives WHERE seq_first = 40')
  await expect(world.drop()).rejects.toThrow('entries of mainnet before 80 have no file')
  expect((await world.write()).map(({ seqFirst }) => seqFirst)).toEqual([40])
  expect(await world.drop()).not.toEqual([])
  expect(await world.write()).toEqual([])
  await world.restore()
})

it('entries that change after they were written are not dropped', async () => {
  await world.pool.query(`UPDATE journal SET effects = '\\x00' WHERE network = 0 AND seq = 45`)
  await expect(world.drop()).rejects.toThrow('has not what journal_mainnet_1 has')
})

it('blocks of long entries are shorter, so that each can be read', async () => {
  await world.restore()
  rmSync(path)
  await world.pool.query(`UPDATE journal SET effects = decode(repeat('00', 5000000), 'hex')
    WHERE network = 0 AND seq BETWEEN 40 AND 55`)
  await world.write()
  const { blocks } = await readAll(path)
  expect(blocks.map(({ seq }) => seq)).toEqual([40, 42, 44, 46, 48, 50, 52, 54, 70])
  expect(Math.max(...blocks.map(({ plain }) => plain))).toBeLessThan(16 << 20)
})
