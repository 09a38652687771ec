import { useEffect, useState } from 'preact/hooks'

/**
 * Name of the item in session storage that has this tab's session, and of the channel on which tabs hand over the
 * session.
 */
export const SESSION_ITEM_NAME = 'clusterd.session'

/**
 * State of this tab. It outlives the components that show it, and a reload where the browser has session storage that
 * is neither disabled nor full.
 */
interface TabState<T> {
  get(): T
  set(next: T): void
  /** Calls a listener with each next value. @returns a function that ends this */
  listen(listener: (value: T) => void): () => void
}

/**
 * Creates state of this tab, stored in session storage.
 * @param item key in session storage
 * @param storedPart returns the part of a value that is stored for a reload; null stores nothing
 */
export function createTabState<T>(
  item: string,
  first: T,
  storedPart: (value: T) => unknown = (value) => value,
): TabState<T> {
  let value = loadTabItem<T>(item) ?? first
  const listeners = new Set<(value: T) => void>()
  return {
    get: () => value,
    set(next) {
      value = next
      storeTabItem(item, storedPart(next))
      for (const listener of listeners) listener(next)
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Returns the value of a tab's state, and renders the component again at each change. */
export function useTabState<T>({ get, listen }: TabState<T>): T {
  const [, show] = useState(get)
  useEffect(() => {
    show(get)
    return listen(show)
  }, [get, listen])
  return get()
}

/** A stored item of this tab. Null where none is stored, or where the browser allows no storage. */
export function loadTabItem<T>(item: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(item) ?? 'null')
  } catch {
    return null
  }
}

function storeTabItem(item: string, value: unknown): void {
  try {
    if (value === null) sessionStorage.removeItem(item)
    else sessionStorage.setItem(item, JSON.stringify(value))
  } catch {}
}
