/** Makes the pages of `/docs` from the OpenAPI documents: each route with a form, which src/web/page/reference.ts drives. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  OpenAPIObject,
  ParameterObject,
  RequestBodyObject,
  ResponseObject,
} from 'openapi3-ts/oas31'
import { escapeMarkup } from '../../src/registry/primitives/markup.js'
import {
  exampleOfSchema,
  type Route,
  resolveReference,
  routesByTag,
  schemaTypeText,
} from './document.js'

const JSON_TYPE = 'application/json'
const STREAM_TYPE = 'text/event-stream'
const NO_CONTENT: RequestBodyObject = { content: {} }

const VERSIONS = [
  { title: 'v1', path: '/docs', document: '/openapi.json' },
  { title: 'v0.1 (deprecated)', path: '/docs?version=0.1', document: '/openapi-v0.1.json' },
] as const

/** Guides that the service has in addition to the reference. */
const GUIDES = {
  'client.md': 'The client for TypeScript',
  'clusters.md': 'Clusters and wallets',
  'communities.md': 'Communities',
  'airdrops.md': 'Airdrops',
  'events.md': 'The feed of events',
  'webhooks.md': 'Webhooks',
  'ens.md': 'Names in ENS',
  'verify.md': 'Checking the answers',
  'limits.md': 'Limits and prices',
  'local-world.md': 'A local world for development',
} as const

const ROOT = join(import.meta.dirname, '../..')

/** Text of the module with the page of each version, in whose links the build of the assets is missing. */
export function referenceModule(): string {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  const frame = read('src/web/page/guide.html')
    .replace(' class="guide"', '')
    .replace('</head>', '  <script type="module" src="{assets}/reference.js"></script>\n  </head>')
    .replace('{title}', 'API')
  const contents = VERSIONS.map((version) => {
    const described = JSON.parse(read(`src/client/generated${version.document}`)) as OpenAPIObject
    return frame.replace('{content}', () => referenceContent(described, version))
  })
  return [
    '// Generated from the OpenAPI documents by `npm run generate`; not to be edited.\n',
    `export const contents: readonly string[] = ${JSON.stringify(contents, null, 2)}\n`,
  ].join('\n')
}

const code = (text: string, shows = ''): string =>
  `<pre><code${shows && ` data-shows="${shows}"`}>${escapeMarkup(text)}</code></pre>`

const card = (title: string, content: string): string =>
  `<section class="card" aria-label="${title}"><div class="card-head"><h2>${title}</h2></div>${content}</section>`

/** Markup of a sentence, in which names stand between backticks. */
const prose = (text: string): string =>
  escapeMarkup(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

/** The content of `/docs` for a version. */
function referenceContent(described: OpenAPIObject, version: (typeof VERSIONS)[number]): string {
  const tabs = VERSIONS.map(
    ({ title, path }) =>
      `<a href="${path}" class="${path === version.path ? 'current' : ''}">${title}</a>`,
  )
  const guides = Object.entries(GUIDES).map(
    ([file, title]) => `<li><a href="/docs/guides/${file}">${title}</a></li>`,
  )
  const about = `<p>${prose(described.info.description ?? '')}</p>
<p><a href="${version.document}">${version.document}</a> has the same for programs (OpenAPI 3.1).</p>
<div class="form"><label class="field">Find a route <input id="find"></label>
<label class="field">Authentication key, for routes that take one <input id="key" autocomplete="off"></label></div>`
  const tags = [...routesByTag(described)].map(
    ([tag, routes]) =>
      `<section class="routes" aria-label="${tag}"><h2>${tag}</h2>${routes.map((route) => routeMarkup(described, route)).join('\n')}</section>`,
  )
  return `<div class="account-head"><h1>API</h1><nav class="tabs" aria-label="Versions">${tabs.join('')}</nav></div>
<div class="columns">${card('About', about)}${card('Guides', `<ul>${guides.join('')}</ul>`)}</div>
${tags.join('\n')}`
}

function routeMarkup(document: OpenAPIObject, route: Route): string {
  const { id, method, path, summary = '', deprecated, description, security = [] } = route
  const { requestBody = NO_CONTENT, responses = {} } = route
  const content = resolveReference(document, requestBody).content[JSON_TYPE]
  const isStream = STREAM_TYPE in resolveReference(document, responses['200'] ?? NO_CONTENT).content
  const hasKey = security.some((one) => 'authKey' in one)
  const body = content && (content.example ?? exampleOfSchema(document, content.schema!))
  const text = JSON.stringify(body, null, 2) ?? ''
  const rows = Math.min(16, text.split('\n').length)
  const field = `<label class="field">Body <textarea rows="${rows}" spellcheck="false">${escapeMarkup(text)}</textarea></label>`
  const send = `<p><button type="button" class="plain">Send</button></p><div aria-live="polite" class="answer"><pre><code data-shows="answer"></code></pre></div>`
  return `<details class="card route" data-method="${method}" data-path="${path}"${hasKey ? ' data-key' : ''}>
<summary><h3><span class="badge">${method.toUpperCase()}</span> <code>${path}</code></h3><span class="soft">${prose(summary)}${deprecated ? ' (deprecated)' : ''}</span></summary>
<div id="${id}">${description ? `<p>${prose(description)}</p>` : ''}
<div class="form">${parametersOf(document, route)
    .map((one) => parameterMarkup(document, one))
    .join('')}${content ? field : ''}</div>${isStream ? '' : send}
<h4>curl</h4>${code('', 'curl')}<h4>TypeScript</h4>${code('', 'typescript')}
${content ? `<h4>Body</h4>${code(schemaTypeText(document, content.schema!))}` : ''}
${Object.entries(responses)
  .map(([status, response]) => answerMarkup(document, status, response))
  .join('')}</div></details>`
}

/** Path and query parameters of a route, the required ones first. */
const parametersOf = (document: OpenAPIObject, { parameters = [] }: Route): ParameterObject[] =>
  parameters
    .map((parameter) => resolveReference<ParameterObject>(document, parameter))
    .filter((parameter) => parameter.in !== 'header')
    .sort((a, b) => Number(b.required ?? false) - Number(a.required ?? false))

function parameterMarkup(
  document: OpenAPIObject,
  { name, required, description = '', schema, in: place }: ParameterObject,
): string {
  const value = required ? String(exampleOfSchema(document, schema!)) : ''
  return `<label class="field"><span><code>${name}</code> ${required ? '' : '(optional)'}</span><input name="${name}" data-in="${place}" value="${escapeMarkup(value)}">${description && `<small>${prose(description)}</small>`}</label>`
}

function answerMarkup(document: OpenAPIObject, status: string, response: ResponseObject): string {
  const { description, content = {} } = resolveReference(document, response)
  const types = Object.entries(content).map(
    ([type, { schema }]) =>
      `${type === JSON_TYPE ? '' : `<p class="soft">${type}</p>`}${code(schemaTypeText(document, schema!))}`,
  )
  return `<h4>${status} <span class="soft">${prose(description)}</span></h4>${Number(status) < 400 ? types.join('') : ''}`
}
