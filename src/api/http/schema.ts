import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import { ApiError, type ErrorDetail } from './errors.js'
import { isAbsentParameter } from './query.js'

extendZodWithOpenApi(z)

export { z }

const MAX_ERROR_DETAILS = 20
/** Maximum length of a path or a message in an error, which may repeat parts of the request. */
const MAX_DETAIL_CHARS = 200

/** Maximum number of elements of a bulk look-up. */
export const MAX_BULK_LOOKUP_ELEMENTS = 1_000
/** Maximum number of elements of a join (`POST /v1/wallets`). */
export const MAX_BULK_WALLET_ADDRESSES = 100_000
/** Maximum number of elements of a change. */
export const MAX_CHANGES_OF_REQUEST = 100

/** Object schema that is a component of the OpenAPI documents. */
export const namedObjectSchema = <Shape extends z.ZodRawShape>(name: string, shape: Shape) =>
  z.object(shape).openapi(name)

/** Responses of a route whose only response has status 200. A shape is converted to an object schema. */
export const okResponses = (description: string, schema: z.ZodType | z.ZodRawShape) => ({
  200: { description, schema: schema instanceof z.ZodType ? schema : z.object(schema) },
})

/**
 * Removes absent values from a body wherever its schema does not require them, at any depth.
 * @returns the same value where nothing was removed
 */
export function removeAbsentValues(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return isAbsentParameter(value) ? undefined : removeAbsentValues(schema.unwrap(), value)
  // a codec is a ZodPipe, too: a request has the form of the pipe's input
  if (schema instanceof z.ZodPipe) return removeAbsentValues(schema.in, value)
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    const elements = value.map((one) => removeAbsentValues(schema.element, one))
    return elements.every((one, i) => one === value[i]) ? value : elements
  }
  if (
    !(schema instanceof z.ZodObject) ||
    typeof value !== 'object' ||
    value === null ||
    Array.isArray(value)
  )
    return value
  // a body may have thousands of fields that the schema does not know. Such fields are neither visited nor copied
  const changed = knownFields(schema, value).flatMap(
    ({ key, part, field }): [string, unknown][] => {
      const kept = removeAbsentValues(part, field)
      return kept === field ? [] : [[key, kept]]
    },
  )
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) }
}

/** The fields of an object that its schema knows, each with its own schema. */
const knownFields = ({ shape }: z.ZodObject, value: object) =>
  Object.entries(shape)
    .filter(([key]) => Object.hasOwn(value, key))
    .map(([key, part]) => ({ key, part, field: (value as Record<string, unknown>)[key] }))

/** Maximum number of elements that an array's schema allows; undefined where the schema sets none. */
function maxElements(schema: z.ZodArray): number | undefined {
  const checks = schema.def.checks?.map((check) => check._zod.def as { maximum?: number })
  return checks?.find(({ maximum }) => maximum !== undefined)?.maximum
}

/**
 * Refuses a body whose lists are too long, before the body is validated. Lists inside lists are not checked here.
 * @returns the part of the body that its schema knows, from which the price of the request is computed
 * @throws ApiError too_many for a list over its limit
 */
export function requireListBounds(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return requireListBounds(schema.unwrap(), value)
  if (schema instanceof z.ZodPipe) return requireListBounds(schema.in, value)
  if (schema instanceof z.ZodArray) {
    if (Array.isArray(value)) requireAtMost(maxElements(schema), value.length)
    return value
  }
  if (Array.isArray(value)) return undefined
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value
  const fields = knownFields(schema, value)
  return Object.fromEntries(
    fields.map(({ key, part, field }) => [key, requireListBounds(part, field)]),
  )
}

/** Refuses a list with more elements than `most`. @param most undefined for any number @throws ApiError too_many */
function requireAtMost(most: unknown, count: number): void {
  if (most !== undefined && count > Number(most))
    throw new ApiError('too_many', `At most ${most} elements are taken at once.`)
}

/**
 * Validates a body against its schema. Absent values of optional fields count as left out.
 * @throws ApiError too_many for an array over its limit, else invalid_request with a detail for each fault
 */
export function validateBody<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  // reject long arrays before each element is validated
  requireListBounds(schema, value)
  const parsed = schema.safeParse(removeAbsentValues(schema, value))
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const tooMany = issues.find((issue) => issue.code === 'too_big' && issue.origin === 'array')
  if (tooMany?.code === 'too_big') requireAtMost(tooMany.maximum, Number.POSITIVE_INFINITY)
  const details: ErrorDetail[] = issues.slice(0, MAX_ERROR_DETAILS).map(({ path, message }) => ({
    path: z.core.toDotPath(path).slice(0, MAX_DETAIL_CHARS),
    message: message.slice(0, MAX_DETAIL_CHARS),
  }))
  const message =
    value === undefined
      ? 'The request has no body.'
      : 'The body is not of the form that is asked for.'
  throw new ApiError('invalid_request', message, { details })
}
