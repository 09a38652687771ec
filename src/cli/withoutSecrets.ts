/** Pattern of a URL, up to the next blank or quote after its last `@`: user, path and query may hold a secret. */
const URL_PATTERN = /[a-z][a-z0-9+.-]*:\/\/(?:.*@)?[^\s"'`]*/gi
/** Pattern of a user name and a password before a host, `user:password@host`. */
const CREDENTIALS_PATTERN = /[^\s:@]+:[^\s@]*@\S*/g
/**
 * Pattern of API keys, webhook keys, lists of bytes, runs of 45 or more letters, digits, `+`, `=` and `_`, such as 32
 * bytes in hex, and 32 bytes in base64.
 */
const KEY_PATTERN =
  /\b(?:ck|whsec)_\S+|\[[\d\s,]{24,}\]|[0-9A-Za-z+=_]{45,}|(?<![0-9A-Za-z+/])[0-9A-Za-z+/]{43}=/g
/**
 * Pattern of a value after a name of a secret, such as `password=`, in options, JSON, variables, connection strings.
 */
const NAMED_SECRET_PATTERN =
  /(\w*(?:password|passphrase|passwd|mnemonic|secret|token|(?:private|secret|api)[-_]?key)\w*["']?\s*[=:]\s*)(?:"[^"]*"|'[^']*'|[^\s,}"']+)/gi

/** Maximum number of characters to search, because some patterns take quadratic time. */
const MAX_SEARCHED_CHARS = 4_096

const REDACTED_TEXT = '…'

/**
 * Replaces everything in a text that looks like a secret by `…`. A URL keeps its scheme and host. Cuts text that is
 * over 4,096 characters.
 */
export function redactSecrets(text: string): string {
  const read = text.length > MAX_SEARCHED_CHARS ? cutAfterWord(text) : text
  return read
    .replace(URL_PATTERN, redactUrl)
    .replace(CREDENTIALS_PATTERN, REDACTED_TEXT)
    .replace(NAMED_SECRET_PATTERN, `$1${REDACTED_TEXT}`)
    .replace(KEY_PATTERN, REDACTED_TEXT)
}

/** Cuts a long text after a whole word, because a part of a secret might not look like a secret. */
const cutAfterWord = (text: string): string =>
  `${text.slice(0, MAX_SEARCHED_CHARS).replace(/(?<!\S)\S*$/, '')}${REDACTED_TEXT}`

function redactUrl(text: string): string {
  if (!URL.canParse(text)) return REDACTED_TEXT
  const { protocol, host } = new URL(text)
  return `${protocol}//${host}/${REDACTED_TEXT}`
}
