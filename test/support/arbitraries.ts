import fc from 'fast-check'
import { expect } from 'vitest'
import {
  EVENTS,
  type EventField,
  type EventFieldKind,
  type EventFieldValues,
  type EventOf,
} from '../../src/registry/journal/eventTypes.js'
import { alphabet, isName, longest } from './names.js'

/** Values of which several tests of the registry make theirs. */

export const bytesOf = (length: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((raw) => Buffer.from(raw))
export const word = bytesOf(32)
export const name = fc
  .string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: longest })
  .filter(isName)
/** Addresses of EVM chains and of Solana, as they are stored. */
export const address = fc.oneof(
  bytesOf(20).map((raw) => Buffer.of(1, ...raw)),
  bytesOf(32).map((raw) => Buffer.of(2, ...raw)),
)

/** Events of all types. */
export function publicEvent<Cluster>(
  cluster: fc.Arbitrary<Cluster>,
): fc.Arbitrary<EventOf<Cluster>> {
  const values: { [Kind in EventFieldKind]: fc.Arbitrary<EventFieldValues<Cluster>[Kind]> } = {
    cluster,
    clusterOrNull: fc.option(cluster),
    name,
    wallet: address,
    wei: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    flag: fc.boolean(),
  }
  const types = Object.entries(EVENTS).map(([type, { fields }]) => {
    const parts = Object.entries<EventField>(fields).map(([key, { kind }]) => [key, values[kind]])
    return fc.record({ type: fc.constant(type), ...Object.fromEntries(parts) })
  })
  return fc.oneof(...types) as fc.Arbitrary<EventOf<Cluster>>
}

/** Records with a field that names their kind. */
export const tagged =
  <F extends string>(field: F) =>
  <const K extends string, T>(tag: K, parts: { [P in keyof T]: fc.Arbitrary<T[P]> }) =>
    fc.record({ [field]: fc.constant(tag), ...parts } as never) as fc.Arbitrary<{ [P in F]: K } & T>

/** Text of any other form stops the reader of a body; a body with a byte changed does, or is read as one that is. */
export function expectOneForm<T>(
  given: fc.Arbitrary<T>,
  encode: (value: T) => Buffer,
  decode: Reader<T>,
): void {
  fc.assert(
    fc.property(given, fc.oneof(fc.json(), fc.string()), (value, text) => {
      expect(() => decode(Buffer.from(text), value)).toThrow(RangeError)
    }),
  )
  fc.assert(
    fc.property(given, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, at, flip) => {
      const body = encode(value)
      body[at % body.length]! ^= flip
      try {
        const read = decode(body, value)
        expect(decode(encode(read), value)).toEqual(read)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }),
  )
}
type Reader<T> = (body: Buffer, written: T) => T
