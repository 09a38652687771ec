export const bytesToHex = (bytes: Uint8Array): string =>
  `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`

/**
 * Decoder of UTF-8. Null in runtimes without `TextDecoder`, such as React Native, and where a polyfill does not support
 * `fatal`.
 */
const decoder = (() => {
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })
  } catch {
    return null
  }
})()

/** Decodes UTF-8 and keeps a byte order mark. @throws TypeError or URIError for bytes that are not UTF-8 */
export const decodeUtf8 = (bytes: Uint8Array): string =>
  decoder
    ? decoder.decode(bytes)
    : decodeURIComponent(bytesToHex(bytes).slice(2).replace(/../g, '%$&'))
