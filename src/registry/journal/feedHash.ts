import { hash } from 'node:crypto'

/** Hash of a feed without events. */
export const FEED_START: Buffer = Buffer.alloc(32)

/**
 * Hash of a feed that goes on with an event: SHA-256 over the hash before it (32 bytes), and the event in the form of
 * RFC 8785.
 * @param json the event as `GET /v1/events` gives it
 */
export const feedHash = (before: Buffer, json: string): Buffer => {
  const event = Buffer.from(canonicalJson(JSON.parse(json)))
  // a stream takes twice the time
  return Buffer.from(hash('sha256', Buffer.concat([before, event]), 'hex'), 'hex')
}

/** JSON in the form of RFC 8785 (JCS): without spaces, fields by their names. Events hold no fractions. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  const fields = value as Record<string, unknown>
  const names = Object.keys(fields).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(fields[name])}`).join()}}`
}
