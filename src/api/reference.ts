import { REFERENCE_POLICY as policy } from '../web/policy.js'
import { build as current, files, html } from '../web/reference/generated/files.js'
import type { Answer } from './http/answer.js'
import { ApiError, errorAnswer } from './http/errors.js'

/** Swagger UI over the OpenAPI documents, from this service alone. */
export const referenceAnswer: Answer = {
  status: 200,
  content: { type: 'text/html; charset=utf-8', text: html, policy },
  headers: { 'cache-control': 'no-cache' },
}

/** Decoded once: all answers under way share these bytes. */
const bytes = new Map(
  Object.entries(files).map(([name, packed]) => [name, Buffer.from(packed, 'base64')]),
)

/** Always compressed: browsers alone ask for the file. */
export function referenceFileAnswer({ build, file }: Readonly<Record<string, unknown>>): Answer {
  const name = String(file)
  const text = build === current ? bytes.get(name) : undefined
  if (!text)
    return errorAnswer(
      new ApiError('not_found', 'The reference has no such file now: load it again.'),
    )
  return {
    status: 200,
    content: {
      type: `text/${name.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
      text,
      policy,
    },
    headers: { 'content-encoding': 'gzip', 'cache-control': 'public, max-age=31536000, immutable' },
  }
}
