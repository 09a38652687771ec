import { expect, it } from 'vitest'
import { routes } from '../../../scripts/declaredRoutes.js'
import { removeAbsentValues, z } from './schema.js'

/** Every optional field of a schema: its path, and a body with only this field. */
function optionalFields(
  schema: unknown,
): { path: PropertyKey[]; body: (value: unknown) => unknown }[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return optionalFields(schema.unwrap())
  if (schema instanceof z.ZodPipe) return optionalFields(schema.in)
  if (schema instanceof z.ZodArray)
    return optionalFields(schema.element).map(({ path, body }) => ({
      path: [0, ...path],
      body: (value) => [body(value)],
    }))
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape).flatMap(([key, field]: [string, unknown]) => {
    const own = { path: [key], body: (value: unknown) => ({ [key]: value }) }
    const isOptional = field instanceof z.ZodOptional || field instanceof z.ZodDefault
    const inner = optionalFields(field).map(({ path, body }) => ({
      path: [key, ...path],
      body: (value: unknown) => ({ [key]: body(value) }),
    }))
    return [...(isOptional ? [own] : []), ...inner]
  })
}

it('null, the empty text and "undefined" stand for no value in every optional field of every body', () => {
  const seen: string[] = []
  for (const { method, path: route, body: schema } of routes) {
    for (const { path, body } of optionalFields(schema)) {
      seen.push(`${method} ${route} ${path.join('.')}`)
      for (const value of [null, '', 'undefined']) {
        const parsed = schema!.safeParse(removeAbsentValues(schema, body(value)))
        const at = (parsed.error?.issues ?? []).filter((issue) =>
          issue.path.join('.').startsWith(path.join('.')),
        )
        expect(at, `${seen.at(-1)} ${JSON.stringify(value)}`).toEqual([])
      }
    }
  }
  expect(seen).toEqual(
    expect.arrayContaining([
      'post /v1/names/register/evm referralClusterId',
      'post /v1/names/register/evm names.0.amountWei',
      'post /v0.1/register referralAddress',
      'post /v1/clusters/wallets 0.isPrivate',
      'post /v0.1/community/register chainId',
      'post /v0.1/cluster/:name/update/wallets add',
      'post /v1/clusters/generate/wallet recovery',
      'put /v1/communities/:name startsAt',
    ]),
  )
})

const namedSchema = z.object({ name: z.string(), note: z.string().optional() })

it('a required field, an unknown field and a property of Object.prototype are not changed', () => {
  const body = JSON.parse(
    '{"name":"","other":null,"__proto__":"undefined","constructor":"","note":" "}',
  )
  expect(removeAbsentValues(namedSchema, body)).toStrictEqual(body)
})

it.each([{ other: null }, { other: 1 }, { other: 'x' }, { other: [] }, { other: [null] }])(
  'a body that is not an object is not changed: $other',
  ({ other }) => {
    expect(removeAbsentValues(namedSchema, other)).toStrictEqual(other)
  },
)
