import { z } from 'zod'
import { decodeWallet } from '../primitives/address.js'
import { parseJson } from '../primitives/json.js'
import { isCanonicalName } from '../primitives/nameRule.js'
import type { EntryKind } from './entry.js'

/**
 * Bodies of signed changes and payments: canonical JSON, with keys in schema order and byte strings in hex. One
 * schema encodes and decodes a body.
 *
 * To extend a deployed body, add an optional field at the end of its schema (`.optional()`) and omit it where empty,
 * so that stored bodies and their hashes do not change.
 */

/** Option of a check: if the field is faulty, the checks of the whole object are skipped. */
const ABORT = { abort: true }

const hexTextSchema = z.string().regex(/^([0-9a-f]{2})+$/, ABORT)

/** Schema of a byte string in hex. @param length in bytes. Default: any length from 1 */
export const bytesField = (length?: number) =>
  z.codec(
    length === undefined ? hexTextSchema : hexTextSchema.length(2 * length, ABORT),
    z.instanceof(Buffer),
    {
      decode: (text) => Buffer.from(text, 'hex'),
      encode: (raw) => raw.toString('hex'),
    },
  )

/** Schema of a word: 32 bytes. */
export const wordField = bytesField(32)

const isDecodable = (decode: (raw: Uint8Array) => unknown) => (raw: Buffer) => {
  try {
    decode(raw)
    return true
  } catch {
    return false
  }
}

/** Schema of the stored address of a wallet of any type. */
export const walletField = bytesField().refine(isDecodable(decodeWallet), ABORT)
export const nameField = z.string().refine(isCanonicalName, ABORT)

/** Encodes the body of an entry. @throws RangeError for a value that the schema refuses */
export function encodeBody<Schema extends z.ZodType>(
  kind: EntryKind,
  schema: Schema,
  value: z.output<Schema>,
): Buffer {
  const encoded = z.safeEncode(schema, value)
  if (encoded.success) return Buffer.from(JSON.stringify(encoded.data))
  throw new RangeError(`a ${kind} can't be written: ${z.prettifyError(encoded.error)}`)
}

/** Decodes the body of an entry. @throws RangeError for bytes that the schema refuses */
export function decodeBody<Schema extends z.ZodType>(
  kind: EntryKind,
  schema: Schema,
  body: Buffer,
): z.output<Schema> {
  const decoded = schema.safeParse(parseJson(body.toString('utf8')))
  if (decoded.success) return decoded.data
  throw new RangeError(`the body of a ${kind} entry is not one of ours`)
}
