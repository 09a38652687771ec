/** A request as filled into a route's form. */
export interface SampleRequest {
  method: string
  /** Path template, such as `/v1/names/address/{address}`. */
  path: string
  params: Readonly<Record<string, string>>
  /** Parameters of the query, without empty values. */
  query: Readonly<Record<string, string>>
  /** Body, as JSON text; undefined for a route without a body. */
  body: string | undefined
  /** Whether the route takes an authentication key. */
  hasKey: boolean
}

/** Path and query with the parameters filled in. */
export function samplePath({ path, params, query }: SampleRequest): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(query).toString()
  return search === '' ? filled : `${filled}?${search}`
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The request as a curl command. @param origin of the service */
export function curlSample(request: SampleRequest, origin: string): string {
  const { method, body, hasKey } = request
  const lines = [`curl -s ${shellQuoted(origin + samplePath(request))}`]
  if (method !== 'get') lines.push(`-X ${method.toUpperCase()}`)
  if (hasKey) lines.push(`-H "x-auth-key: $KEY"`)
  if (body !== undefined)
    lines.push(`-H 'content-type: application/json'`, `-d ${shellQuoted(body)}`)
  return lines.join(' \\\n  ')
}

/** JSON as a TypeScript literal: keys without quotes, and lines indented for use inside an object. */
const typescriptLiteral = (json: string): string =>
  json.replaceAll(/^(\s*)"([a-z]\w*)":/gim, '$1$2:').replaceAll('\n', '\n  ')

/** The request as code that uses the typed client. @param origin of the service */
export function clientSample(
  { method, path, params, query, body, hasKey }: SampleRequest,
  origin: string,
): string {
  const parts = Object.entries({ params, query }).filter(([, one]) => Object.keys(one).length > 0)
  const inputs = parts.map(
    ([name, one]) => `  ${name}: ${typescriptLiteral(JSON.stringify(one, null, 2))},\n`,
  )
  if (body !== undefined) inputs.push(`  body: ${typescriptLiteral(body)},\n`)
  const input = inputs.length > 0 ? `, {\n${inputs.join('')}}` : ''
  const options = hasKey ? `{ url: '${origin}', token }` : `{ url: '${origin}' }`
  return [
    "import { Client } from 'clusterd-client'\n",
    `const client = new Client(${options})`,
    `const answer = await client.request('${method.toUpperCase()}', '${path}'${input})`,
  ].join('\n')
}
