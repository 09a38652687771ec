import { PAGE_POLICY, type PageFile, page, pageFile } from '../web/page.js'
import { type Answer, ok } from './http/answer.js'
import { ApiError, errorAnswer } from './http/errors.js'
import { VERSION } from './http/version.js'

/** Answer of `/` to programs. */
const INDEX = ok({ service: 'clusterd', version: VERSION, openapi: '/openapi.json' }, { vary: 'accept' })

/** Answer of `/`: the page for browsers, which accept `text/html`; JSON for everything else. */
export const indexAnswer = (accept: string | undefined): Answer =>
  accept?.includes('text/html') ? fileAnswer(page, { vary: 'accept' }) : INDEX

/** Answer with a file of the page. */
export function assetAnswer({ build, file }: Readonly<Record<string, unknown>>): Answer {
  const found = typeof build === 'string' && typeof file === 'string' ? pageFile(build, file) : null
  return found
    ? fileAnswer(found)
    : errorAnswer(new ApiError('not_found', 'The page has no such file now: load it again.'))
}

const fileAnswer = ({ type, text, cacheControl }: PageFile, headers: Answer['headers'] = {}): Answer => ({
  status: 200,
  content: { type, text, policy: PAGE_POLICY },
  headers: { ...headers, 'cache-control': cacheControl },
})
