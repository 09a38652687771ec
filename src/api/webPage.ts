import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { findClusterIdByName } from '../db/registry/clusters.js'
import { SERVICE_VERSION } from '../ops/version.js'
import { parseClusterName, parseFullName } from '../registry/primitives/name.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'
import { nameImage, nameImagePng } from '../web/nameImage.js'
import {
  guidePage,
  gzipFile,
  indexPage,
  namePage,
  type PageFile,
  pageFile,
  pageOfUrl,
  ROBOTS_TXT,
  securityText,
} from '../web/page.js'
import { isApiPath } from '../web/paths.js'
import { type Answer, answerOfType, okAnswer } from './http/answer.js'
import { ApiError, errorAnswer } from './http/errors.js'
import { declareRoute } from './http/route.js'
import { z } from './http/schema.js'
import { SEVERAL_STATEMENTS_PRICE } from './limits/costs.js'
import { INVALID_NAME_MESSAGE, requireName } from './names/names.js'
import { nameSchema } from './v1/schemas.js'

type PageRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

const INDEX_ANSWER = okAnswer(
  { service: 'clusterd', version: SERVICE_VERSION, openapi: '/openapi.json' },
  { vary: 'accept' },
)

/** Response of `/`: the page for browsers, JSON for any other client. */
export const indexAnswer = (req: PageRequest): Answer => pageAnswer(req) ?? INDEX_ANSWER

/** The page of a path for browsers, which accept `text/html`. Null for other clients and for paths of the API. */
export function pageAnswer(req: PageRequest): Answer | null {
  const page = isPageRequest(req) ? pageOfUrl(req.url ?? '') : null
  return page && browserAnswer(page.file, req, page.isFound)
}

/** True for a browser's request of a path outside the API. */
export const isPageRequest = (req: PageRequest): boolean =>
  isBrowser(req) && !isApiPath((req.url ?? '').split('?', 1)[0]!)

const isBrowser = ({ method, headers }: PageRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && Boolean(headers.accept?.includes('text/html'))

const browserAnswer = (file: PageFile, req: PageRequest, isFound: boolean): Answer =>
  pageFileAnswer(file, req, { status: isFound ? 200 : 404, vary: 'accept, accept-encoding' })

/** Answer with a file that pages load, such as a script. */
export function assetAnswer(
  req: PageRequest,
  { build, file }: Readonly<Record<string, unknown>>,
): Answer {
  const asset = typeof build === 'string' && typeof file === 'string' ? pageFile(build, file) : null
  return asset
    ? pageFileAnswer(asset, req)
    : errorAnswer(new ApiError('not_found', 'The page has no such file now: load it again.'))
}

/** Folder of the guides in this package. */
const GUIDES_URL = new URL('../../docs/use/', import.meta.url)

/** Answer with a guide: for browsers a page, for any other client its Markdown. */
export function guidePageAnswer(
  req: PageRequest,
  { file }: Readonly<Record<string, unknown>>,
): Answer {
  const name = String(file)
  const page = guidePage(name)
  if (isBrowser(req)) return browserAnswer(page ?? indexPage, req, page !== null)
  if (!page) return errorAnswer(new ApiError('not_found', `There is no guide ${name}.`))
  const text = readFileSync(new URL(name, GUIDES_URL), 'utf8')
  return answerOfType(PLAIN_TEXT_TYPE, text, { vary: 'accept' })
}

const PLAIN_TEXT_TYPE = 'text/plain; charset=utf-8'
/** Cache headers of responses that change only with a release or a setting. Caches store them for a day. */
const DAY_CACHE_HEADERS = { 'cache-control': 'public, max-age=86400' } as const

export const robotsTxtAnswer = (): Answer =>
  answerOfType(PLAIN_TEXT_TYPE, ROBOTS_TXT, DAY_CACHE_HEADERS)

/** Answer with the file `llms.txt`, an index of the documents for language models (llmstxt.org). */
export const llmsTxtAnswer = (): Answer =>
  answerOfType(
    PLAIN_TEXT_TYPE,
    readFileSync(new URL('../llms.txt', GUIDES_URL), 'utf8'),
    DAY_CACHE_HEADERS,
  )

export function securityTxtAnswer(): Answer {
  const text = securityText()
  if (text !== null) return answerOfType(PLAIN_TEXT_TYPE, text, DAY_CACHE_HEADERS)
  return errorAnswer(new ApiError('not_found', 'The operator has set no SECURITY_CONTACT.'))
}

/** Matches an `Accept-Encoding` that allows gzip. */
const ACCEPTS_GZIP_PATTERN = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/

export function pageFileAnswer(
  file: PageFile,
  { headers }: PageRequest,
  { status = 200, vary = 'accept-encoding' } = {},
): Answer {
  const { type, text, cacheControl, policy } = file
  const isGzipped = ACCEPTS_GZIP_PATTERN.test(String(headers['accept-encoding'] ?? ''))
  return {
    status,
    content: { type, text: isGzipped ? gzipFile(file) : text, policy },
    headers: {
      vary,
      'cache-control': cacheControl,
      ...(isGzipped && { 'content-encoding': 'gzip' }),
    },
  }
}

const SVG_TYPE = 'image/svg+xml'
const PNG_TYPE = 'image/png'

const imageRoute = declareRoute.get('/image/:name.svg', {
  costliestSample: {},
  summary: 'The picture of a name',
  description: 'Drawn from the name alone, whether anybody holds it or not.',
  params: z.object({ name: nameSchema }),
  responses: { 200: { description: 'The picture', schema: z.string(), type: SVG_TYPE } },
  errors: ['invalid_name'],
  async handle({ params }) {
    return answerOfType(SVG_TYPE, nameImage(requireName(params.name!)), DAY_CACHE_HEADERS)
  },
})

const cardImageRoute = declareRoute.get('/image/:name.png', {
  costliestSample: {},
  summary: 'The picture of a name as PNG',
  description: 'As `/image/:name.svg`, for sites that show a link as a card.',
  params: z.object({ name: nameSchema }),
  price: SEVERAL_STATEMENTS_PRICE,
  responses: { 200: { description: 'The picture', schema: z.string(), type: PNG_TYPE } },
  errors: ['invalid_name'],
  async handle({ params }) {
    return answerOfType(PNG_TYPE, nameImagePng(requireName(params.name!)), DAY_CACHE_HEADERS)
  },
})

const profileImageRoute = declareRoute.get('/profile-image/*name', {
  refusedSample: {
    what: 'a text that is no name',
    params: () => ({ name: 'a.b' }),
    error: 'invalid_name',
  },
  costliestSample: {},
  summary: 'The picture of a name, under the path that block explorers ask',
  description: 'As `/image/:name.svg`, also of `community/name`, whose slash is not encoded.',
  params: z.object({ name: nameSchema }),
  responses: { 200: { description: 'The picture', schema: z.string(), type: SVG_TYPE } },
  errors: ['invalid_name'],
  async handle({ params }) {
    const name = parseFullName(params.name!)
    if (!name) throw new ApiError('invalid_name', INVALID_NAME_MESSAGE)
    const { cluster, wallet } = name
    const text = wallet === null ? cluster : `${cluster}/${wallet}`
    return answerOfType(SVG_TYPE, nameImage(text), DAY_CACHE_HEADERS)
  },
})

/** Serves a held name's page to clients other than browsers. `pageAnswer` serves the page of any name to browsers. */
export const profileRoute = declareRoute.get('/:name', {
  refusedSample: {
    what: 'a name that nobody holds',
    params: ({ freshName }) => ({ name: freshName() }),
    error: 'not_found',
  },
  costliestSample: {},
  summary: 'The page of a name that is held',
  description:
    'What `profileUrl` of v0.1 names; it shows the cluster that holds the name, on either network.',
  params: z.object({ name: nameSchema }),
  price: SEVERAL_STATEMENTS_PRICE,
  responses: { 200: { description: 'The page', schema: z.string(), type: 'text/html' } },
  errors: ['not_found'],
  async handle({ params }, context) {
    const name = parseClusterName(params.name!)
    const isHeldOn = async (network: Network) =>
      name !== null && (await findClusterIdByName(context.pool, network, name)) !== null
    const held = await Promise.all(NETWORKS.map(isHeldOn))
    if (!held.includes(true))
      throw new ApiError(
        'not_found',
        'There is no such route, and nobody holds such a name; /openapi.json lists them.',
      )
    const { type, text, cacheControl, policy } = namePage(name!)
    return {
      status: 200,
      content: { type, text, policy },
      headers: { 'cache-control': cacheControl },
    }
  },
})

/** Pictures and pages of names. The path of a page matches any one-part path, so its route is the last. */
export const nameImageAndPageRoutes = [imageRoute, cardImageRoute, profileImageRoute, profileRoute]
