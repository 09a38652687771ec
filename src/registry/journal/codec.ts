import { ByteSink } from '../primitives/byteSink.js'
import { bigIntToWord, wordToBigInt } from '../primitives/bytes.js'

/**
 * Binary form of a value, declared once for both directions: big-endian integers, and length-prefixed variable parts.
 * Readers throw RangeError for bytes that no writer makes.
 */
export interface Codec<T> {
  write(out: ByteSink, value: T): void
  read(from: ByteSource): T
}

/** Bytes with the position of the next byte to read. */
interface ByteSource {
  bytes: Buffer
  at: number
}

/** Reads the next bytes. @throws RangeError where fewer are left */
function takeBytes(from: ByteSource, length: number): Buffer {
  const start = from.at
  from.at += length
  if (from.at > from.bytes.length)
    throw new RangeError(`0x${from.bytes.toString('hex')} is cut short`)
  return from.bytes.subarray(start, from.at)
}

const isAtEnd = ({ bytes, at }: ByteSource): boolean => at === bytes.length

const u8: Codec<number> = {
  write: (out, value) => out.byte(value),
  read: (from) => takeBytes(from, 1)[0]!,
}

/** Codec of a safe integer from 0 on, in eight bytes. */
export const u64: Codec<number> = {
  write: (out, value) => out.int64(value),
  read(from) {
    const value = Number(takeBytes(from, 8).readBigUInt64BE())
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no safe integer`)
    return value
  },
}

/** Codec of an unsigned integer of 256 bits, in 32 bytes. */
export const u256: Codec<bigint> = {
  write: (out, value) => out.bytes(bigIntToWord(value)),
  read: (from) => wordToBigInt(takeBytes(from, 32)),
}

/** Codec of a byte string of up to 255 bytes. */
export const bytesCodec: Codec<Buffer> = {
  write(out, value) {
    out.byte(value.length)
    out.bytes(value)
  },
  read: (from) => takeBytes(from, u8.read(from)),
}

/** Codec of an ASCII text of up to 255 characters (names). */
export const asciiCodec: Codec<string> = {
  write(out, value) {
    out.byte(value.length)
    out.latin1(value)
  },
  read: (from) => bytesCodec.read(from).toString('latin1'),
}

/** Codec of a value that is one of several constants, stored as its code. Codes are never renumbered. */
export function constantCodec<T extends string | boolean>(
  codes: readonly (readonly [T, number])[],
): Codec<T> {
  const codeOf = new Map(codes)
  const valueByCode = new Map(codes.map(([value, code]) => [code, value]))
  return {
    write: (out, value) => out.byte(codeOf.get(value)!),
    read(from) {
      const code = u8.read(from)
      const value = valueByCode.get(code)
      if (value === undefined)
        throw new RangeError(`code ${code} is unknown: was the journal written by a newer version?`)
      return value
    },
  }
}

export const booleanCodec: Codec<boolean> = constantCodec<boolean>([
  [false, 0],
  [true, 1],
])

/** Codec of a value that may be null: a flag, then the value if there is one. */
export const nullableCodec = <T>(codec: Codec<T>): Codec<T | null> => ({
  write(out, value) {
    booleanCodec.write(out, value !== null)
    if (value !== null) codec.write(out, value)
  },
  read: (from) => (booleanCodec.read(from) ? codec.read(from) : null),
})

/** Codec of a list: values up to the end of the bytes, without a count. */
export const listCodec = <T>(codec: Codec<T>): Codec<readonly T[]> => ({
  write(out, values) {
    for (const value of values) codec.write(out, value)
  },
  read(from) {
    const values: T[] = []
    while (!isAtEnd(from)) values.push(codec.read(from))
    return values
  },
})

/** Type of the values of a codec. */
export type CodecValue<C> = C extends Codec<infer T> ? T : never

type FieldCodecs = Readonly<Record<string, Codec<unknown>>>
type ValueOf<F extends FieldCodecs> = { -readonly [Key in keyof F]: CodecValue<F[Key]> }

/** Codec of an object: the values of its fields one after another, in the order of `fields`. */
export function objectCodec<F extends FieldCodecs>(fields: F): Codec<ValueOf<F>> {
  const entries = Object.entries(fields)
  return {
    write(out, value) {
      for (const [key, codec] of entries) codec.write(out, value[key])
    },
    read(from) {
      const value: Record<string, unknown> = {}
      for (const [key, codec] of entries) value[key] = codec.read(from)
      return value as ValueOf<F>
    },
  }
}

/** Variants of a union by their discriminant: a code, which is never renumbered, and the variant's other fields. */
export type UnionCases = Readonly<Record<string, readonly [code: number, fields: FieldCodecs]>>
type CaseOf<Key extends string, C extends UnionCases> = {
  [Case in keyof C & string]: { [K in Key]: Case } & ValueOf<C[Case][1]>
}[keyof C & string]

/** Codec of a union of objects, stored with the code of the discriminant. */
export function unionCodec<Key extends string, C extends UnionCases>(
  key: Key,
  cases: C,
): Codec<CaseOf<Key, C>> {
  const tag = constantCodec(Object.entries(cases).map(([value, [code]]) => [value, code] as const))
  const codecs = new Map(
    Object.entries(cases).map(([value, [, fields]]) => [value, objectCodec(fields)]),
  )
  return {
    write(out, value) {
      tag.write(out, value[key])
      codecs.get(value[key])!.write(out, value)
    },
    read(from) {
      const discriminant = tag.read(from)
      return Object.assign(codecs.get(discriminant)!.read(from), { [key]: discriminant }) as CaseOf<
        Key,
        C
      >
    },
  }
}

/** Output buffer that all calls share, because values are encoded one after the other. */
const sharedSink = new ByteSink()

/** Encodes a value, with the version of its binary form before it. */
export function encodeValue<T>(codec: Codec<T>, version: number, value: T): Buffer {
  sharedSink.clear()
  sharedSink.byte(version)
  codec.write(sharedSink, value)
  return sharedSink.copy()
}

/** Decodes a value with its version. @throws RangeError for another version, and for bytes that no writer makes */
export function decodeValue<T>(codec: Codec<T>, version: number, bytes: Buffer): T {
  const from = { bytes, at: 0 }
  const storedVersion = u8.read(from)
  if (storedVersion !== version)
    throw new RangeError(`bytes of version ${storedVersion} are read as version ${version}`)
  const value = codec.read(from)
  if (!isAtEnd(from)) throw new RangeError(`0x${bytes.toString('hex')} goes on behind its end`)
  return value
}
