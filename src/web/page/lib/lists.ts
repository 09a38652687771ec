import { useRef, useState } from 'preact/hooks'
import { type ApiGet, type ApiState, useNet, usePolled } from './net.js'
import type { OwnedName } from './types.js'

/** Lists that a page shows in parts. The visitor asks for the next part. */

/** A list as far as it was read. */
export interface ListPart<T> {
  items: readonly T[]
  isMore: boolean
}

/** Names per read. One more is requested, to see whether others follow. */
const NAMES = 100

/** Reads the names after the known ones. @returns all names so far */
export async function readNextNames(
  address: string,
  known: readonly OwnedName[],
  ask: <T>(path: string) => Promise<T>,
): Promise<ListPart<OwnedName>> {
  const query = new URLSearchParams({ limit: String(NAMES + 1) })
  const last = known.at(-1)
  if (last) query.set('after', last.name)
  const read = await ask<OwnedName[]>(
    `/v1/names/owner/address/${encodeURIComponent(address)}?${query}`,
  )
  return { items: [...known, ...read.slice(0, NAMES)], isMore: read.length > NAMES }
}

/**
 * Reads a list whenever the key or the network changes; `more` reads its next part.
 * @param read gets the known items and returns them with the next ones
 */
export function useListParts<T>(
  key: string | null,
  read: (known: readonly T[], get: ApiGet) => Promise<ListPart<T>>,
): { asked: ApiState<ListPart<T>>; more(): Promise<void> } {
  const { isTestnet, get } = useNet()
  const asked = usePolled<ListPart<T>>(key === null ? null : `${isTestnet} ${key}`, (signal) =>
    read([], (path) => get(path, signal)),
  )
  const [grown, setGrown] = useState<{ from: ListPart<T>; asked: ApiState<ListPart<T>> } | null>(
    null,
  )
  const from = asked.data
  const latest = useRef(from)
  latest.current = from
  // ignore a late answer to the read of another list
  const shown = grown?.from === from && grown ? grown.asked : asked
  return {
    asked: shown,
    async more() {
      const { data } = shown
      if (!from || !data) return
      const next = await read(data.items, get).then(
        (grown) => ({ data: grown }),
        (error: Error) => ({ data, error }),
      )
      if (latest.current === from) setGrown({ from, asked: next })
    },
  }
}
