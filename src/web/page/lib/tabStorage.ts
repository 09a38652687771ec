/** Session storage, which survives a reload of the tab. The pages also work where it is disabled or full. */

/** @returns null for an item that is not stored */
export function loadTabItem<T>(item: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(item) ?? 'null')
  } catch {
    return null
  }
}

/** Stores a value; null removes it. */
export function saveTabItem(item: string, value: unknown): void {
  try {
    if (value === null) sessionStorage.removeItem(item)
    else sessionStorage.setItem(item, JSON.stringify(value))
  } catch {}
}
