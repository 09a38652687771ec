import { REFERENCE_POLICY } from '../web/policy.js'
import { referenceFile, referenceHtml } from '../web/reference.js'
import type { Answer } from './http/answer.js'
import { ApiError, errorAnswer } from './http/errors.js'

const policy = REFERENCE_POLICY

/** Answer of `/docs`. */
export const referenceAnswer: Answer = {
  status: 200,
  content: { type: 'text/html; charset=utf-8', text: referenceHtml, policy },
  headers: { 'cache-control': 'no-cache' },
}

/** Answer with a file of the reference, always compressed: browsers alone ask for it. */
export function referenceFileAnswer({ build, file }: Readonly<Record<string, unknown>>): Answer {
  const found = typeof build === 'string' && typeof file === 'string' ? referenceFile(build, file) : null
  if (!found) return errorAnswer(new ApiError('not_found', 'The reference has no such file now: load it again.'))
  return {
    status: 200,
    content: { type: found.type, text: found.bytes, policy },
    headers: { 'content-encoding': 'gzip', 'cache-control': 'public, max-age=31536000, immutable' },
  }
}
