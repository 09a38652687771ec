/**
 * Content security policy of a page: own files, pictures as data (wallets', icons), answers of this service. No inline
 * script or style, no frame, no form to another site.
 */
const RULES = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]

/** Of the reference, whose renderer writes HTML by script. */
export const REFERENCE_POLICY = RULES.join(';')
export const PAGE_POLICY = [...RULES, "require-trusted-types-for 'script'"].join(';')
