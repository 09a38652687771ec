import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { SERVICE_VERSION } from '../ops/version.js'
import { guidePage, gzipFile, indexPage, type PageFile, pageFile, pageOfUrl } from '../web/page.js'
import { type Answer, answerOfType, okAnswer } from './http/answer.js'
import { ApiError, errorAnswer } from './http/errors.js'

type Asked = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

const INDEX = okAnswer(
  { service: 'clusterd', version: SERVICE_VERSION, openapi: '/openapi.json' },
  { vary: 'accept' },
)

/** Response of `/`: the page for browsers, JSON for any other client. */
export const indexAnswer = (req: Asked): Answer => pageAnswer(req) ?? INDEX

/** The page of a path, for browsers, which accept `text/html`; null where the API answers. */
export function pageAnswer(req: Asked): Answer | null {
  const found = isBrowser(req) ? pageOfUrl(req.url ?? '') : null
  return found && browserAnswer(found.file, req, found.isFound)
}

const isBrowser = ({ method, headers }: Asked): boolean =>
  (method === 'GET' || method === 'HEAD') && Boolean(headers.accept?.includes('text/html'))

const browserAnswer = (file: PageFile, req: Asked, isFound: boolean): Answer =>
  fileAnswer(file, req, { status: isFound ? 200 : 404, vary: 'accept, accept-encoding' })

/** Answer with a file of the pages. */
export function assetAnswer(
  req: Asked,
  { build, file }: Readonly<Record<string, unknown>>,
): Answer {
  const found = typeof build === 'string' && typeof file === 'string' ? pageFile(build, file) : null
  return found
    ? fileAnswer(found, req)
    : errorAnswer(new ApiError('not_found', 'The page has no such file now: load it again.'))
}

/** Folder of the guides in this package. */
const GUIDES = new URL('../../docs/use/', import.meta.url)

/** Answer with a guide: for browsers a page, for any other client its Markdown. */
export function guidePageAnswer(req: Asked, { file }: Readonly<Record<string, unknown>>): Answer {
  const name = String(file)
  const page = guidePage(name)
  if (isBrowser(req)) return browserAnswer(page ?? indexPage, req, page !== null)
  if (!page) return errorAnswer(new ApiError('not_found', `There is no guide ${name}.`))
  const text = readFileSync(new URL(name, GUIDES), 'utf8')
  return answerOfType('text/plain; charset=utf-8', text, { vary: 'accept' })
}

const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/

export function fileAnswer(
  file: PageFile,
  { headers }: Asked,
  { status = 200, vary = 'accept-encoding' } = {},
): Answer {
  const { type, text, cacheControl, policy } = file
  const isGzipped = GZIP.test(String(headers['accept-encoding'] ?? ''))
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
