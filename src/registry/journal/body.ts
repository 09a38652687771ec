import { z } from 'zod'
import { decodeAddress, decodeWallet } from '../primitives/address.js'
import { parseName } from '../primitives/name.js'
import type { EntryKind } from './entry.js'

/**
 * Bodies of signed changes and payments: canonical JSON, keys in the order of the schema, byte strings in hex. One
 * schema reads and writes a body, so both agree on its form.
 *
 * How to extend a body that has been deployed: add an optional field at the end of its schema (`.optional()`), and
 * leave it out where it is empty. Bodies that are stored then read and write as before, and hashes over them stay.
 */

/** Checks of the whole do not run where a part is wrong. */
const ABORT = { abort: true }

const hex = z.string().regex(/^([0-9a-f]{2})+$/, ABORT)

/** A byte string of any length from 1 on, or of one length. */
export const bytes = (length?: number) =>
  z.codec(length === undefined ? hex : hex.length(2 * length, ABORT), z.instanceof(Buffer), {
    decode: (text) => Buffer.from(text, 'hex'),
    encode: (raw) => raw.toString('hex'),
  })

/** A word: 32 bytes. */
export const word = bytes(32)

const isStored = (decode: (raw: Uint8Array) => unknown) => (raw: Buffer) => {
  try {
    decode(raw)
    return true
  } catch {
    return false
  }
}

/** Stored address of a wallet of any type. */
export const wallet = bytes().refine(isStored(decodeWallet), ABORT)
/** Stored address of a wallet of a type that can sign in: only those sign changes, pay, and get community names. */
export const signer = bytes().refine(isStored(decodeAddress), ABORT)
/** A canonical name. */
export const name = z.string().refine((text) => parseName(text) === text, ABORT)

/** The bytes of a body. Throws RangeError for a value that the schema refuses. */
export function encodeBody<Schema extends z.ZodType>(kind: EntryKind, schema: Schema, value: z.output<Schema>): Buffer {
  const encoded = z.safeEncode(schema, value)
  if (encoded.success) return Buffer.from(JSON.stringify(encoded.data))
  throw new RangeError(`a ${kind} can't be written: ${z.prettifyError(encoded.error)}`)
}

/** Reads a body. Throws RangeError for bytes that the schema refuses. */
export function decodeBody<Schema extends z.ZodType>(kind: EntryKind, schema: Schema, body: Buffer): z.output<Schema> {
  const decoded = schema.safeParse(parseJson(body))
  if (decoded.success) return decoded.data
  throw new RangeError(`the body of a ${kind} entry is not one of ours`)
}

/** JSON of a body, undefined for bytes that are none. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
