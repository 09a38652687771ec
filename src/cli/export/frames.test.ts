import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEY_BYTES, readKeyFile } from './cipher.js'
import { BrokenExportError, ExportWriter, type ReadFrame, readFrames } from './frames.js'

const dir = mkdtempSync(join(tmpdir(), 'clusterd-frames-'))
const key = randomBytes(KEY_BYTES)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const CONTENTS = [Buffer.alloc(0), randomBytes(300), Buffer.alloc(2_000, 'wallet')]

async function write(file: string, withKey: Buffer | null): Promise<number[]> {
  const ends: number[] = []
  const writer = await ExportWriter.open(file, withKey, null)
  for (const [i, bytes] of CONTENTS.entries()) {
    await writer.write({ fields: { i }, bytes })
    ends.push(statSync(file).size)
  }
  await writer.end({ last: true })
  await writer.close()
  return ends
}

async function read(file: string, withKey: Buffer | null) {
  const frames: ReadFrame<unknown>[] = []
  for await (const frame of readFrames(file, withKey)) frames.push(frame)
  return frames
}

describe.each([
  ['sealed', key],
  ['in the clear', null],
])('a file %s', (name, withKey) => {
  const file = join(dir, `whole-${name}`)
  const other = join(dir, `changed-${name}`)
  let whole: Buffer
  let ends: number[]
  beforeAll(async () => {
    ends = await write(file, withKey)
    whole = readFileSync(file)
  })
  const refuses = async (bytes: Uint8Array) => {
    writeFileSync(other, bytes)
    await expect(read(other, withKey)).rejects.toThrow(BrokenExportError)
  }

  it('gives back what was written, for its owner alone', async () => {
    const frames = await read(file, withKey)
    expect(frames.map(({ fields }) => fields)).toEqual([{ i: 0 }, { i: 1 }, { i: 2 }, { last: true }])
    expect(frames.map(({ bytes }) => bytes)).toEqual([...CONTENTS, Buffer.alloc(0)])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(whole.includes('walletwallet')).toBe(false)
  })

  it('is refused with any byte changed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(whole)
        changed[at]! ^= flip
        return refuses(changed)
      }),
      { numRuns: 150 },
    )
  })

  it('is refused when it is cut anywhere, or goes on', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), (length) => refuses(whole.subarray(0, length))),
      { numRuns: 100, examples: [...ends.map((end): [number] => [end]), [0]] },
    )
    await refuses(Buffer.concat([whole, Buffer.alloc(1)]))
  })

  it('is refused with frames left out, repeated or swapped', async () => {
    const [first, second, third] = ends as [number, number, number]
    const [head, b, c, end] = [[0, first], [first, second], [second, third], [third]].map(([from, to]) =>
      whole.subarray(from, to),
    ) as [Buffer, Buffer, Buffer, Buffer]
    for (const parts of [
      [head, c, end],
      [head, b, b, c, end],
      [head, c, b, end],
      [head, b, end],
      [b, c, end],
    ])
      await refuses(Buffer.concat(parts))
  })

  it('goes on behind its last whole frame', async () => {
    writeFileSync(other, whole)
    truncateSync(other, ends[1]! + 7)
    const found: { end: number; checksum: Buffer }[] = []
    await expect(async () => {
      for await (const frame of readFrames(other, withKey)) found.push(frame)
    }).rejects.toThrow(/is cut behind byte/)
    const writer = await ExportWriter.open(other, withKey, found.at(-1)!)
    await writer.write({ fields: { i: 2 }, bytes: CONTENTS[2]! })
    const { checksum, bytes } = await writer.end({ last: true })
    await writer.close()
    const frames = await read(other, withKey)
    expect(frames.map((frame) => frame.bytes)).toEqual([...CONTENTS, Buffer.alloc(0)])
    expect([bytes, checksum]).toEqual([statSync(other).size, frames.at(-1)!.checksum])
  })
})

it('a small frame that unpacks to more than any piece is refused', async () => {
  const file = join(dir, 'bomb')
  const writer = await ExportWriter.open(file, null, null)
  await writer.write({ fields: {}, bytes: Buffer.alloc(65 << 20) })
  await writer.end({})
  await writer.close()
  expect(statSync(file).size).toBeLessThan(1 << 20)
  await expect(read(file, null)).rejects.toThrow(BrokenExportError)
})

describe('the key of a file', () => {
  it('has to be the one that it was written under', async () => {
    const sealed = join(dir, 'whole-sealed')
    await expect(read(sealed, null)).rejects.toThrow('is encrypted: name the file with its key, --key-file.')
    await expect(read(sealed, randomBytes(KEY_BYTES))).rejects.toThrow('does not open with this key')
    await expect(read(join(dir, 'whole-in the clear'), key)).rejects.toThrow('is not encrypted: leave out --key-file')
  })

  it('is 32 bytes in hex', () => {
    const file = join(dir, 'key')
    writeFileSync(file, `0x${key.toString('hex')}\n`)
    expect(readKeyFile(file)).toEqual(key)
    for (const text of ['', 'secret', key.toString('hex').slice(2)]) {
      writeFileSync(file, text)
      expect(() => readKeyFile(file)).toThrow('holds no key, 32 bytes in hex: name the file that does')
    }
    expect(() => readKeyFile(join(dir, 'none'))).toThrow('does not exist: for a new export make it with')
  })
})
