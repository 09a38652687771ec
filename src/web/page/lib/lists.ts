import { useRef } from 'preact/hooks'
import { type ApiState, usePolled } from './net.js'
import type { Community, OwnedName } from './types.js'

/** The items of a list that were read so far. The visitor asks for more by a button. */
export interface ListPart<T> {
  items: readonly T[]
  isMore: boolean
}

/** Function that reads a path of the API. */
type ReadApiPath = <T>(path: string) => Promise<T>

/**
 * Reads the items of a route after the known ones. Requests one more than `count`, to learn whether more items follow.
 * @returns all items so far
 */
export async function readNextItems<T extends { name: string }>(
  path: string,
  count: number,
  known: readonly T[],
  ask: ReadApiPath,
): Promise<ListPart<T>> {
  const query = new URLSearchParams({ limit: String(count + 1) })
  const last = known.at(-1)
  if (last) query.set('after', last.name)
  const read = await ask<T[]>(`${path}?${query}`)
  return { items: [...known, ...read.slice(0, count)], isMore: read.length > count }
}

/**
 * The rules of a community; null for a name that is no community. The list is searched first, because the browser's
 * console logs each 404.
 */
export async function findCommunity(name: string, ask: ReadApiPath): Promise<Community | null> {
  const path = '/v1/communities'
  const matches = await ask<object[]>(`${path}?name=${encodeURIComponent(name)}`)
  return matches.length > 0 ? ask<Community>(`${path}/${encodeURIComponent(name)}`) : null
}

/** Number of names that one request adds to the known ones. */
const NAMES_PER_REQUEST = 100

/** Reads the next names that an address owns, oldest first, names below communities last. */
export const readNextNames = <T extends { name: string } = OwnedName>(
  address: string,
  known: readonly T[],
  ask: ReadApiPath,
) =>
  readNextItems(
    `/v1/names/owner/address/${encodeURIComponent(address)}`,
    NAMES_PER_REQUEST,
    known,
    ask,
  )

/**
 * Reads the first part of a list whenever the key or the network changes; `more` reads the next part.
 * @param key identifies the list; null while there is nothing to read
 * @param read gets the known items and returns them with the next ones
 */
export function useListParts<T>(
  key: string | null,
  read: (known: readonly T[], get: ReadApiPath) => Promise<ListPart<T>>,
): { state: ApiState<ListPart<T>>; more(): Promise<unknown> } {
  const last = useRef<{ of: string; items: readonly T[] }>({ of: '', items: [] })
  const { refresh, ...state } = usePolled(key, async ({ isTestnet, signal, get }) => {
    const of = `${isTestnet} ${key}`
    const list = await read(last.current.of === of ? last.current.items : [], get)
    // another list may have been requested meanwhile: do not store this one in its place
    signal.throwIfAborted()
    last.current = { of, items: list.items }
    return list
  })
  return { state, more: refresh }
}
