import { createHash } from 'node:crypto'

/** Hash of a feed without events. */
export const FEED_START: Buffer = Buffer.alloc(32)

/**
 * Hash of a feed that goes on with an event: SHA-256 over the hash before it (32 bytes), and the event in the form of
 * RFC 8785.
 * @param json the event as `GET /v1/events` gives it
 */
export const feedHash = (before: Buffer, json: string): Buffer =>
  createHash('sha256')
    .update(before)
    .update(canonicalJson(JSON.parse(json)))
    .digest()

/** JSON in the form of RFC 8785 (JCS): without spaces, fields by their names. Events hold no fractions. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}:${canonicalJson(one)}`).join()}}`
}
