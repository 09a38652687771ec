import { hash } from 'node:crypto'
import { type Answer, JSON_CONTENT_TYPE } from '../http/answer.js'

/** A JSON response with a weak entity tag (RFC 9110, 8.8.3) of its text. */
export function withEntityTag(answer: Answer): Answer {
  const { status, content, headers } = answer
  if (status !== 200 || content.type !== JSON_CONTENT_TYPE) return answer
  const etag = `W/"${hash('sha1', content.text, 'base64url')}"`
  return { ...answer, headers: { ...headers, etag } }
}

/** Longest list of entity tags that is read, characters. A longer one counts as absent. */
const MAX_LIST_CHARS = 512

/** A 304 response without content where `If-None-Match` has the response's tag (RFC 9110, 13.1.2 and 15.4.5). */
export function notModifiedIfMatching(answer: Answer, ifNoneMatch: string | undefined): Answer {
  const etag = answer.headers?.etag
  if (ifNoneMatch === undefined || ifNoneMatch.length > MAX_LIST_CHARS || etag === undefined)
    return answer
  return matches(ifNoneMatch, etag) ? { ...answer, status: 304 } : answer
}

/** Weak comparison with a list of tags, or with `*`. */
function matches(list: string, etag: string): boolean {
  if (list.trim() === '*') return true
  const own = hashIn(etag)
  return own !== undefined && list.split(',').some((tag) => hashIn(tag) === own)
}

/**
 * A tag of ours as proxies and clients send it back: strong or weak, with or without quotes, and with the suffixes that
 * compressing proxies add. Inside the quotes: `-gzip`, `-br` (Apache, Caddy), `--gzip` (Jetty), `;gz`, `;br` (LiteSpeed),
 * `-df`, `-ssl-df` (Netlify). After the quotes: `-gzip` (Apache 2.2). nginx, HAProxy and Cloudflare leave a weak tag as
 * it is. The hash has a fixed length, so no suffix can be a part of another tag's hash.
 */
const TAG =
  /^\s*(?:W\/)?("?)([\w-]{27})(?:(?:--?|[;:])(?:gzip|gz|brotli|br|zstd|deflate|df|ssl)){0,2}\1(?:-gzip)?\s*$/i

const hashIn = (tag: string): string | undefined => TAG.exec(tag)?.[2]
