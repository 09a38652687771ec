/** JSON values, with integers of any size. */
export type Json =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly Json[]
  | { readonly [key: string]: Json }

/**
 * Serializes JSON with bigints as bare integers of all their digits. RFC 8259 bounds no number, though most readers
 * keep 53 bits. Undefined fields are left out.
 */
export function jsonText(value: Json): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isList(value)) return `[${value.map(jsonText).join(',')}]`
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${jsonText(field)}`).join(',')}}`
}

// Array.isArray does not narrow readonly arrays
const isList = (value: object): value is readonly Json[] => Array.isArray(value)
