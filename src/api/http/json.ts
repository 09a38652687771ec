/** What JSON can say, and integers of any size. */
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
 * JSON in which a bigint is a bare integer with all its digits: RFC 8259 bounds no number, though most readers keep 53 bits
 * of it. Fields that are undefined are left out.
 */
export function jsonText(value: Json): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isList(value)) return `[${value.map(jsonText).join(',')}]`
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${jsonText(field)}`).join(',')}}`
}

// Array.isArray does not tell readonly arrays apart
const isList = (value: object): value is readonly Json[] => Array.isArray(value)
