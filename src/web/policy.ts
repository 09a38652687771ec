/**
 * Content security policy of the pages. It allows files of this service, pictures as data URIs and requests to this
 * service. It allows no inline scripts or styles.
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
