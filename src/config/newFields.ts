/** The part of a JSON schema that `missingNewFields` reads. */
export interface JsonSchema {
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  /** Release that added the field. */
  since?: string
}

/** A field of a JSON value, such as `chains[].label`, and the release that added the field. */
export interface NewField {
  field: string
  since: string
}

/** Fields with `since` in the schema that a value does not have, each once. A missing section counts as one field. */
export function missingNewFields(schema: JsonSchema, value: unknown): NewField[] {
  const newFields = new Map(findMissingFields(schema, value, '').map((one) => [one.field, one]))
  return [...newFields.values()]
}

function findMissingFields(
  { items, properties = {}, since }: JsonSchema,
  value: unknown,
  path: string,
): NewField[] {
  if (value === undefined) return since === undefined ? [] : [{ field: path, since }]
  if (items)
    return (value as unknown[]).flatMap((one) => findMissingFields(items, one, `${path}[]`))
  return Object.entries(properties).flatMap(([name, field]) =>
    findMissingFields(
      field,
      Reflect.get(value as object, name),
      path === '' ? name : `${path}.${name}`,
    ),
  )
}
