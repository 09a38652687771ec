import type { IncomingMessage } from 'node:http'
import { gzipped, type PageFile, pageAt, pageFile } from '../web/page.js'
import { type Answer, ok } from './http/answer.js'
import { ApiError, errorAnswer } from './http/errors.js'
import { VERSION } from './http/version.js'

type Asked = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

const INDEX = ok(
  { service: 'clusterd', version: VERSION, openapi: '/openapi.json' },
  { vary: 'accept' },
)

/** Answer of `/`: the page for browsers; JSON for everything else. */
export const indexAnswer = (req: Asked): Answer => pageAnswer(req) ?? INDEX

/** The page of a path, for browsers, which accept `text/html`; null where the API answers. */
export function pageAnswer(req: Asked): Answer | null {
  const isBrowser =
    (req.method === 'GET' || req.method === 'HEAD') && req.headers.accept?.includes('text/html')
  const found = isBrowser ? pageAt(req.url ?? '') : null
  return (
    found &&
    fileAnswer(found.file, req, {
      status: found.isFound ? 200 : 404,
      vary: 'accept, accept-encoding',
    })
  )
}

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

const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/

function fileAnswer(
  file: PageFile,
  { headers }: Asked,
  { status = 200, vary = 'accept-encoding' } = {},
): Answer {
  const { type, text, cacheControl, policy } = file
  const isGzipped = GZIP.test(String(headers['accept-encoding'] ?? ''))
  return {
    status,
    content: { type, text: isGzipped ? gzipped(file) : text, policy },
    headers: {
      vary,
      'cache-control': cacheControl,
      ...(isGzipped && { 'content-encoding': 'gzip' }),
    },
  }
}
