import { pages, reference } from '../web/page.js'
import { type Answer, messageOf, okJson } from './http/answer.js'
import { ApiError, errorAnswer, toApiError } from './http/errors.js'
import { openApiDocuments } from './routes.js'
import type { Exchange } from './serving/exchange.js'
import { decoded } from './serving/router.js'
import { type Serving, unhurried } from './serving/serve.js'
import { fallbackAnswer } from './v0.1/fallbacks.js'
import { fileAnswer, htmlAnswer, indexAnswer, pageAnswer } from './webPage.js'

const NO_ROUTE = new ApiError('not_found', 'There is no such route; /openapi.json lists them.')
const NO_PATH = new ApiError('invalid_request', 'The path is not well-formed.')

/** Answered beside the API's routes. */
export interface Page {
  method: 'get'
  path: string
  answerOf(exchange: Exchange): Answer
}
const page = (path: string, answerOf: Page['answerOf']): Page => ({ method: 'get', path, answerOf })

export const PAGES: readonly Page[] = [
  page('/', ({ req }) => indexAnswer(req)),
  page('/assets/:build/:file', ({ params }) => fileAnswer(pages, params)),
  page('/docs', () => htmlAnswer(reference)),
  page('/docs/:build/:file', ({ params }) => fileAnswer(reference, params)),
  ...Object.entries(openApiDocuments).map(([path, document]) => {
    let made: Answer | undefined
    return page(path, () => (made ??= okJson(Buffer.from(JSON.stringify(document())))))
  }),
]

export const NONE = page('none', ({ req }) => {
  const refusal = decoded(req.url ?? '') === null ? NO_PATH : NO_ROUTE
  return pageAnswer(req) ?? fallbackAnswer(req) ?? errorAnswer(refusal)
})

/** Each request counts as a look-up of its address. */
export const createPageServer =
  ({ finish, gate }: Serving) =>
  (exchange: Exchange, answerOf: Page['answerOf']): void => {
    const meter = gate.ofAddress(exchange)
    try {
      meter.spend(1)
      finish(exchange, messageOf(answerOf(exchange)), meter.fields())
    } catch (thrown) {
      const error = toApiError(thrown)
      const refusal = messageOf(errorAnswer(error))
      unhurried(error, gate.lingerMs, exchange, () => finish(exchange, refusal, meter.fields(), error))
    }
  }
