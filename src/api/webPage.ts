import type { IncomingMessage } from 'node:http'
import { isPage, pages, type Site } from '../web/page.js'
import { type Answer, ok } from './http/answer.js'
import { ApiError, errorAnswer } from './http/errors.js'
import { VERSION } from './http/version.js'

type Asked = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

const INDEX = ok({ service: 'clusterd', version: VERSION, openapi: '/openapi.json' }, { vary: 'accept' })

/** Answer of `/`: the page for browsers; JSON for everything else. */
export const indexAnswer = (req: Asked): Answer => pageAnswer(req) ?? INDEX

/** The page of a path, for browsers, which accept `text/html`; null where the API answers. */
export function pageAnswer({ method, url = '', headers }: Asked): Answer | null {
  const isBrowser = (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html')
  const isFound = isBrowser ? isPage(url) : null
  return isFound === null ? null : htmlAnswer(pages, isFound ? 200 : 404)
}

export const htmlAnswer = ({ html: text, policy }: Site, status = 200): Answer => ({
  status,
  content: { type: 'text/html; charset=utf-8', text, policy },
  headers: { vary: 'accept', 'cache-control': 'no-cache' },
})

/** Answer with a file of a site, always compressed: browsers alone ask for it. */
export function fileAnswer(site: Site, { build, file = '' }: Readonly<Record<string, string>>): Answer {
  const text = build === site.build ? site.files.get(file) : undefined
  if (!text) return errorAnswer(new ApiError('not_found', 'The page has no such file now: load it again.'))
  return {
    status: 200,
    content: { type: `text/${file.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`, text, policy: site.policy },
    headers: { 'content-encoding': 'gzip', 'cache-control': 'public, max-age=31536000, immutable' },
  }
}
