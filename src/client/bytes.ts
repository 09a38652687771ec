/** Bytes as hex digits, with the prefix 0x. */
export const bytesToHex = (bytes: Uint8Array): string =>
  `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`

/** Null without a `TextDecoder`, as in React Native, and where the application's own one does not support `fatal`. */
const decoder = (() => {
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })
  } catch {
    return null
  }
})()

/** Bytes as text, with a byte order mark kept. @throws TypeError or URIError for bytes that are not UTF-8 */
export const utf8Of = (bytes: Uint8Array): string =>
  decoder
    ? decoder.decode(bytes)
    : decodeURIComponent(bytesToHex(bytes).slice(2).replace(/../g, '%$&'))
