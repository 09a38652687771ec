import { z } from 'zod'

/** Whether a value stands for none, as forms and typed clients send it: empty, null, or the text `undefined`. */
export const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === 'undefined'

/** Leaves absent values out of a body wherever its schema can do without them, at any depth. */
export function withoutAbsent(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return isAbsent(value) ? undefined : withoutAbsent(schema.unwrap(), value)
  // codecs too: what a request sends is their input
  if (schema instanceof z.ZodPipe) return withoutAbsent(schema.in, value)
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((one) => withoutAbsent(schema.element, one))
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null || Array.isArray(value))
    return value
  const { shape } = schema
  const fields = Object.entries(value).map(([key, field]: [string, unknown]) => [
    key,
    Object.hasOwn(shape, key) ? withoutAbsent(shape[key], field) : field,
  ])
  return Object.fromEntries(fields)
}
