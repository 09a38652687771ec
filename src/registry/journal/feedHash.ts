import { createHash, hash } from 'node:crypto'

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

/** More than an event has. */
const MOST_BYTES = 8_192

/** Creates a hash over the events of a feed from the first on, in a third of the time. */
export function createFeedHash() {
  const bytes = Buffer.alloc(FEED_START.length + MOST_BYTES)
  return {
    /** @param event as it was parsed, at most 8 KB */
    add(event: unknown): void {
      const end = FEED_START.length + bytes.write(canonicalJson(event), FEED_START.length)
      bytes.write(hash('sha256', bytes.subarray(0, end), 'binary'), 'latin1')
    },
    value: (): Buffer => Buffer.from(bytes.subarray(0, FEED_START.length)),
  }
}

/** JSON in the form of RFC 8785 (JCS): without spaces, fields by their names. Events hold no fractions. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  const fields = value as Record<string, unknown>
  let text = ''
  for (const name of Object.keys(fields).sort())
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(fields[name])}`
  return `{${text}}`
}
