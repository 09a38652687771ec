import { fromBase64, type TreeHead, toBase64 } from './note.js'
import { HASH_BYTES } from './tree.js'

/** Forms of logs' names, of event ids and of a log's first leaf. This module also runs in browsers. */

/** Version of the JSON form of a log's leaves. Published leaves keep their version, because a leaf never changes. */
export const LEAF_VERSION = 1

const LOG_NAME_PATTERN = /^[^\s+\p{C}]+\/((?:mainnet|testnet)(?:\/evidence)?)\/([1-9]\d{0,8})$/u

/**
 * Generation at the end of a log's name; null for a log of another place, and for any other text.
 * @param place such as `mainnet`, or `mainnet/evidence`
 */
export function generationInLogName(origin: string, place: string): number | null {
  const [, ofPlace, generation] = LOG_NAME_PATTERN.exec(origin) ?? []
  return ofPlace === place ? Number(generation) : null
}

const EVENT_ID_PATTERN = /^([mt])-([1-9]\d{0,8})-([1-9]\d{0,14})$/

/** Network, generation and number in an event id such as `m-1-42`; null for other text. */
export function parseEventId(id: string) {
  const [, letter, generation, number] = EVENT_ID_PATTERN.exec(id) ?? []
  const network = letter === 'm' ? ('mainnet' as const) : ('testnet' as const)
  return letter ? { network, generation: Number(generation), number: Number(number) } : null
}

/**
 * The first leaf of a log. @param previous last checkpoint of the previous generation, null for a network's first log
 */
export function beginningLeaf(origin: string, previous: TreeHead | null): string {
  const before = previous && {
    origin: previous.origin,
    size: previous.size,
    root: toBase64(previous.root),
  }
  return JSON.stringify({ v: LEAF_VERSION, type: 'BEGIN', origin, previous: before })
}

/**
 * Reads the first leaf of a log.
 * @returns last checkpoint of the previous generation, null for a network's first log
 * @throws RangeError for text that `beginningLeaf` does not write
 */
export function readBeginningLeaf(text: string, origin: string): TreeHead | null {
  const previous = previousHeadIn(text)
  if (beginningLeaf(origin, previous) !== text)
    throw new RangeError(`it is not the beginning of ${origin}`)
  return previous
}

function previousHeadIn(text: string): TreeHead | null {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return null
  }
  const { origin, size, root } = Object(Object(json).previous)
  const bytes = typeof root === 'string' ? fromBase64(root) : null
  const isHead =
    typeof origin === 'string' &&
    LOG_NAME_PATTERN.test(origin) &&
    Number.isSafeInteger(size) &&
    size >= 1
  return isHead && bytes?.length === HASH_BYTES ? { origin, size, root: bytes } : null
}
