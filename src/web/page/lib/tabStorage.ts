import { useEffect, useState } from 'preact/hooks'

export const SESSION_ITEM = 'clusterd.session'

/**
 * State of this tab. It outlives the components that show it, and a reload where the browser has session storage that
 * is neither disabled nor full.
 * @param storedPart what a reload finds of a value; null for nothing
 */
export function createTabState<T>(
  item: string,
  first: T,
  storedPart: (value: T) => unknown = (value) => value,
) {
  let value = loadTabItem<T>(item) ?? first
  const listeners = new Set<(value: T) => void>()
  return {
    get: (): T => value,
    set(next: T): void {
      value = next
      save(item, storedPart(next))
      for (const listener of listeners) listener(next)
    },
    /** The value, in a component. */
    use(): T {
      const [, show] = useState(value)
      useEffect(() => {
        listeners.add(show)
        show(value)
        return () => void listeners.delete(show)
      }, [])
      return value
    },
  }
}

/** Null where nothing is stored, or nothing can be. */
export function loadTabItem<T>(item: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(item) ?? 'null')
  } catch {
    return null
  }
}

function save(item: string, value: unknown): void {
  try {
    if (value === null) sessionStorage.removeItem(item)
    else sessionStorage.setItem(item, JSON.stringify(value))
  } catch {}
}
