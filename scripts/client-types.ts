import openapiTypes, { astToString, type OpenAPI3, stringToAST } from 'openapi-typescript'
import type { TypeNode } from 'typescript'

/**
 * Lines to remove: members that openapi-typescript writes for missing parts, and comments that repeat a type or show a
 * value.
 */
const NOISE = [
  /^ *\w+\??: never;\n/gm,
  /^ *headers: \{\n *\[name: string\]: unknown;\n *\};\n/gm,
  /^ *parameters: \{\n *\};\n/gm,
  /^ *(\/\*\*|\*) (@enum|@example|Format:) .*\n/gm,
  /^export type (webhooks|\$defs|operations) = .*\n/gm,
]
/** A comment of which only one line is left. */
const LONELY = /\/\*\*\n *\* (.*)\n *\*\//g

const typeOf = (text: string): TypeNode =>
  (stringToAST(`type T = ${text}`)[0] as unknown as { type: TypeNode }).type

/** TypeScript types for the schemas' string formats. */
const FORMATS: Readonly<Record<string, TypeNode>> = {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a type of TypeScript
  hex: typeOf('`0x${string}`'),
  wei: typeOf('bigint'),
}

interface Operation {
  parameters?: { in?: string }[]
  requestBody?: object
  responses: Record<string, { content?: object }>
}

/**
 * The client's types for an OpenAPI document: for each route its input and its answer with status 200, and the named
 * schemas with the first clauses of their descriptions. The deprecated interface gets no descriptions, to keep the
 * package small.
 */
export async function clientTypes(document: OpenAPI3, isDeprecated: boolean): Promise<string> {
  const paths = Object.entries(document.paths ?? {}).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations).map(([method, operation]) => [method, inputAndAnswer(operation)]),
    ),
  ])
  const schemas = document.components?.schemas
  const reduced = {
    ...document,
    paths: described(Object.fromEntries(paths), () => undefined),
    components: { schemas: described(schemas, isDeprecated ? () => undefined : firstClause) },
  } as OpenAPI3
  const types = await openapiTypes(reduced, {
    // a field with a default may be left out of a request
    defaultNonNullable: false,
    transform: ({ format = '' }) => FORMATS[format],
  })
  const text = NOISE.reduce((rest, noise) => rest.replace(noise, ''), astToString(types))
  return text.replace(LONELY, '/** $1 */').replaceAll('@description ', '')
}

/**
 * Input and successful response of a route, without the parameters that every route has (`testnet`, the API key): the
 * client itself sends them. In the document they are references, so they have no `in`.
 */
function inputAndAnswer({ parameters = [], requestBody, responses }: Operation) {
  return {
    parameters: parameters.filter((one) => one.in === 'path' || one.in === 'query'),
    requestBody,
    responses: { 200: { content: responses['200']?.content } },
  }
}

/** Longest clause that the types show, characters, which keeps the package small. */
const MAX_CLAUSE = 80

/** First clause of a description, if it is short. The whole is in the OpenAPI document and at `/docs`. */
const firstClause = (description: string): string | undefined => {
  const clause = description.split(/[;.]( |$)/)[0]!
  return clause.length <= MAX_CLAUSE ? clause : undefined
}

/** A copy of a part of a document with other descriptions. `describe` returns undefined to remove a description. */
const described = <T>(part: T, describe: (description: string) => string | undefined): T =>
  JSON.parse(
    JSON.stringify(part, (key, value) =>
      key === 'description' && typeof value === 'string' ? describe(value) : value,
    ),
  )
