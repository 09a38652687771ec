/** A URL, up to its last `@` and to the next blank: its user, path and query may hold a password or a token. */
const URL_TEXT = /[a-z][a-z0-9+.-]*:\/\/(?:.*@)?[^\s"'`]*/gi
/** A user and a password before a host. */
const CREDENTIALS = /[^\s:@]+:[^\s@]*@\S*/g
/** API keys, keys of webhooks, lists of bytes, and runs of letters and digits as long as 32 bytes in hex or base64. */
const KEY =
  /\b(?:ck|whsec)_\S+|\[[\d\s,]{24,}\]|[0-9A-Za-z+=_]{45,}|(?<![0-9A-Za-z+/])[0-9A-Za-z+/]{43}=/g
/** A value behind a name that says what it is: of options, JSON, variables and connection strings. */
const NAMED =
  /(\w*(?:password|passphrase|passwd|mnemonic|secret|token|(?:private|secret|api)[-_]?key)\w*["']?\s*[=:]\s*)(?:"[^"]*"|'[^']*'|[^\s,}"']+)/gi

/** Some patterns take a time that grows with the square of a text's length. */
const LONGEST_READ = 4_096

const HIDDEN = '…'

/** Replaces everything in a text that has the form of a secret: of a URL, scheme and host stay. A long text is cut. */
export function withoutSecrets(text: string): string {
  const read = text.length > LONGEST_READ ? firstWords(text) : text
  return read
    .replace(URL_TEXT, originOf)
    .replace(CREDENTIALS, HIDDEN)
    .replace(NAMED, `$1${HIDDEN}`)
    .replace(KEY, HIDDEN)
}

/** Ends with a whole word: a piece of a secret does not have a secret's form. */
const firstWords = (text: string): string =>
  `${text.slice(0, LONGEST_READ).replace(/(?<!\S)\S*$/, '')}${HIDDEN}`

function originOf(text: string): string {
  if (!URL.canParse(text)) return HIDDEN
  const { protocol, host } = new URL(text)
  return `${protocol}//${host}/${HIDDEN}`
}
