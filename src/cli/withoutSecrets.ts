/** A URL, up to its last `@` and to the next blank: its user, path and query may hold a password or a token. */
const URL_TEXT = /[a-z][a-z0-9+.-]*:\/\/(?:.*@)?[^\s"'`]*/gi
/** A user and a password before a host. */
const CREDENTIALS = /[^\s:@]+:[^\s@]*@\S*/g
/** API keys, keys of webhooks, lists of bytes, and runs of letters and digits as long as 32 bytes in hex or base64. */
const KEY = /\b(?:ck|whsec)_\S+|\[[\d\s,]{24,}\]|[0-9A-Za-z+=_]{45,}/g

const HIDDEN = '…'

/** Replaces everything in a text that has the form of a secret: of a URL, scheme and host stay. */
export const withoutSecrets = (text: string): string =>
  text.replace(URL_TEXT, originOf).replace(CREDENTIALS, HIDDEN).replace(KEY, HIDDEN)

function originOf(text: string): string {
  if (!URL.canParse(text)) return HIDDEN
  const { protocol, host } = new URL(text)
  return `${protocol}//${host}/${HIDDEN}`
}
