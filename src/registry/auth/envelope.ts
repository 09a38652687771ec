import { toHex } from '../primitives/bytes.js'

/**
 * Text forms in which wallets and their libraries return a signature. The text is read tolerantly, because each kind
 * of wallet checks the decoded bytes strictly.
 */

/** Maximum length of the text: fits a contract's signature in hex, with JSON around it. */
const MAX_CHARS = 20_000

export interface SignatureEnvelope {
  /** The signature in hex, base64 or base58, without blanks. Empty where the text has no signature. */
  encoded: string
  /**
   * Fields of the innermost JSON object around the signature, for example `pub_key`. Empty where the text has no JSON
   * object.
   */
  fields: Readonly<Record<string, unknown>>
}

/** Blanks, including zero-width ones that are copied from web pages and chats. */
const BLANKS_PATTERN = /[\s\u200b-\u200d\u2060]+/g
const BLANKS_AROUND_PATTERN = /^[\s\u200b-\u200d\u2060]+|[\s\u200b-\u200d\u2060]+$/g
const QUOTES_AROUND_PATTERN = /^["'`“‘]+|["'`”’]+$/g
const JSON_START_PATTERN = /^["[{]/
/** Matches the text that toString() of a `Uint8Array` writes. */
const BYTE_LIST_PATTERN = /^\d{1,3}(,\d{1,3})+$/

const withoutBlanksAndQuotes = (text: string): string =>
  text.replace(BLANKS_PATTERN, '').replace(QUOTES_AROUND_PATTERN, '')

/**
 * Extracts a signature from blanks, line breaks, quotes, or JSON with its fields in any order. In JSON the signature
 * is a string, a list of bytes (also in the form of a `Buffer` or a `Uint8Array`), or the field `signature`, `sig` or
 * `result` (a wallet's JSON-RPC response) of an object.
 * @returns an empty envelope for malformed JSON, and for more than `MAX_CHARS`
 */
export function openSignatureEnvelope(text: string): SignatureEnvelope {
  if (text.length > MAX_CHARS) return { encoded: '', fields: {} }
  const inside = text.replace(BLANKS_AROUND_PATTERN, '')
  const isListed = BYTE_LIST_PATTERN.test(inside)
  if (!isListed && !JSON_START_PATTERN.test(inside))
    return { encoded: withoutBlanksAndQuotes(inside), fields: {} }
  try {
    return openJson(JSON.parse(isListed ? `[${inside}]` : inside), {})
  } catch {
    return { encoded: '', fields: {} }
  }
}

function openJson(value: unknown, fields: SignatureEnvelope['fields']): SignatureEnvelope {
  if (typeof value === 'string') return { encoded: withoutBlanksAndQuotes(value), fields }
  const bytes = listedBytes(value)
  if (bytes) return { encoded: toHex(bytes), fields }
  if (typeof value !== 'object' || value === null) return { encoded: '', fields }
  const object = value as SignatureEnvelope['fields']
  return openJson(object.signature ?? object.sig ?? object.result, object)
}

/** Bytes of `[1, 2]`, `{"0": 1, "1": 2}` or a Buffer's `{"data": [1, 2]}`; null for any other value. */
function listedBytes(value: unknown): Buffer | null {
  if (typeof value !== 'object' || value === null) return null
  const { data } = value as SignatureEnvelope['fields']
  const list: object = Array.isArray(data) ? data : value
  const entries = Object.entries(list)
  const isBytes = entries.every(
    ([key, byte], i) =>
      key === String(i) &&
      Number.isInteger(byte) &&
      (byte as number) >= 0 &&
      (byte as number) < 256,
  )
  return isBytes && entries.length > 0 ? Buffer.from(Object.values(list)) : null
}

const HEX_PATTERN = /^(?:0x)?((?:[0-9a-f]{2})+)$/i

/** Bytes of hex, with or without `0x`; null for any other text. */
export function decodeHex(encoded: string): Buffer | null {
  const digits = HEX_PATTERN.exec(encoded)?.[1]
  return digits === undefined ? null : Buffer.from(digits, 'hex')
}

/** Bytes of base64 (RFC 4648) or base64url, with complete padding or none; null for any other text. */
function decodeBase64(encoded: string): Buffer | null {
  const bytes = Buffer.from(encoded, 'base64')
  const canonical = bytes.toString('base64')
  const given = encoded.replaceAll('-', '+').replaceAll('_', '/')
  return given !== '' && (given === canonical || given === canonical.replace(/=+$/, ''))
    ? bytes
    : null
}

/** Decodings of a text as hex and as base64, because hex digits are valid base64 too. The caller selects by length. */
export const hexAndBase64Decodings = (encoded: string): Buffer[] =>
  [decodeHex(encoded), decodeBase64(encoded)].filter((bytes) => bytes !== null)
