/**
 * Content security policy of a page. It allows own files, pictures as data URIs and requests to this service, and
 * nothing inline.
 */
const POLICY_DIRECTIVES = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
]

export const PAGE_CONTENT_SECURITY_POLICY = POLICY_DIRECTIVES.join(';')
