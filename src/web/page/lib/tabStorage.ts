/** Memory of a tab over a reload. Where its browser keeps nothing, or has no room, the pages work without. */

/** @returns null for what is not kept */
export function load<T>(item: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(item) ?? 'null')
  } catch {
    return null
  }
}

/** Keeps a value, null: none. */
export function save(item: string, value: unknown): void {
  try {
    if (value === null) sessionStorage.removeItem(item)
    else sessionStorage.setItem(item, JSON.stringify(value))
  } catch {}
}
