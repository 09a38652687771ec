import { hash } from 'node:crypto'
import { type Answer, JSON_CONTENT_TYPE } from '../http/answer.js'

/** A JSON response with a weak entity tag (RFC 9110, 8.8.3) of its text. */
export function withEntityTag(answer: Answer): Answer {
  const { status, content, headers } = answer
  if (status !== 200 || content.type !== JSON_CONTENT_TYPE) return answer
  const etag = `W/"${hash('sha1', content.text, 'base64url')}"`
  return { ...answer, headers: { 'cache-control': 'no-cache', ...headers, etag } }
}

/** A 304 response without content where `If-None-Match` has the response's tag (RFC 9110, 13.1.2 and 15.4.5). */
export function notModifiedIfMatching(answer: Answer, ifNoneMatch: string | undefined): Answer {
  const etag = answer.headers?.etag
  if (ifNoneMatch === undefined || etag === undefined || !matches(ifNoneMatch, etag)) return answer
  return { ...answer, status: 304 }
}

/** Weak comparison with a list of tags, or with `*`. */
const matches = (list: string, etag: string): boolean =>
  list.trim() === '*' || list.split(',').some((tag) => opaqueOf(tag.trim()) === opaqueOf(etag))

/** Suffixes that compressing proxies add to a tag, within its quotes: Apache, nginx modules, Jetty, CDNs. */
const COMPRESSED = /(?:--?|[;:])(?:gzip|br|brotli|zstd|deflate)"$/i

const opaqueOf = (tag: string): string => tag.replace(/^W\//i, '').replace(COMPRESSED, '"')
