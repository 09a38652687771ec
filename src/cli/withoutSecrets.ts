/** Pattern of a URL, up to the next blank or quote after its last `@`: user, path and query may hold a secret. */
const URL_TEXT = /[a-z][a-z0-9+.-]*:\/\/(?:.*@)?[^\s"'`]*/gi
/** Pattern of a user name and a password before a host, `user:password@host`. */
const CREDENTIALS = /[^\s:@]+:[^\s@]*@\S*/g
/**
 * Pattern of API keys, webhook keys, lists of bytes, and runs of letters and digits at least as long as 32 bytes in hex
 * or base64.
 */
const KEY =
  /\b(?:ck|whsec)_\S+|\[[\d\s,]{24,}\]|[0-9A-Za-z+=_]{45,}|(?<![0-9A-Za-z+/])[0-9A-Za-z+/]{43}=/g
/**
 * Pattern of a value after a name of a secret, such as `password=`, in options, JSON, variables, connection strings.
 */
const NAMED =
  /(\w*(?:password|passphrase|passwd|mnemonic|secret|token|(?:private|secret|api)[-_]?key)\w*["']?\s*[=:]\s*)(?:"[^"]*"|'[^']*'|[^\s,}"']+)/gi

/** Maximum length of text to search, because some patterns take quadratic time. */
const LONGEST_READ = 4_096

const HIDDEN = '…'

/** Replaces everything in a text that looks like a secret by `…`. A URL keeps its scheme and host. Cuts a long text. */
export function redactSecrets(text: string): string {
  const read = text.length > LONGEST_READ ? firstWords(text) : text
  return read
    .replace(URL_TEXT, originOf)
    .replace(CREDENTIALS, HIDDEN)
    .replace(NAMED, `$1${HIDDEN}`)
    .replace(KEY, HIDDEN)
}

/** Cuts a text after a whole word, because a part of a secret might not look like a secret. */
const firstWords = (text: string): string =>
  `${text.slice(0, LONGEST_READ).replace(/(?<!\S)\S*$/, '')}${HIDDEN}`

function originOf(text: string): string {
  if (!URL.canParse(text)) return HIDDEN
  const { protocol, host } = new URL(text)
  return `${protocol}//${host}/${HIDDEN}`
}
