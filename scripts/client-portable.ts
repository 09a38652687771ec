/**
 * What the readers of signatures need of Node, for browsers: scripts/client-package.ts puts this module in place of
 * three modules of src/registry/primitives, of bs58 and of viem, in the part of `clusterd-client/verify` that
 * `verifyBundle` loads.
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 as sha256Of } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { base58 } from '@scure/base'
import { bytesToHex, decodeUtf8 } from '../src/client/bytes.js'
import { fromBase64, toBase64 } from '../src/registry/transparencyLog/note.js'

type Encoding = 'utf8' | 'hex' | 'base64' | 'latin1'

/** Bytes with those methods of Node's Buffer that the readers call. */
class Bytes extends Uint8Array {
  override toString(encoding: Encoding = 'utf8', start = 0): string {
    const bytes = this.subarray(start)
    if (encoding === 'hex') return bytesToHex(bytes).slice(2)
    if (encoding === 'base64') return toBase64(bytes)
    if (encoding === 'latin1')
      return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
    return decodeUtf8(bytes)
  }

  equals(other: Uint8Array): boolean {
    return this.length === other.length && this.every((byte, i) => byte === other[i])
  }

  writeUInt16LE(value: number): void {
    this.set([value & 0xff, value >> 8])
  }
}

/** Bytes of a text, as Node's Buffer reads it. Base64 that is not canonical gives none. */
function bytesOfText(text: string, encoding: Encoding): Iterable<number> {
  if (encoding === 'utf8') return new TextEncoder().encode(text)
  if (encoding === 'latin1') return Array.from(text, (char) => char.charCodeAt(0))
  if (encoding === 'hex') {
    const [digits] = /^([\da-f]{2})*/i.exec(text)!
    return (digits.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16))
  }
  const standard = text.replace(/-/g, '+').replace(/_/g, '/').replace(/=+$/, '')
  return fromBase64(standard.padEnd(Math.ceil(standard.length / 4) * 4, '=')) ?? []
}

/** Those functions of Node's Buffer that the readers call. */
export const Buffer = {
  alloc: (length: number): Bytes => new Bytes(length),
  allocUnsafe: (length: number): Bytes => new Bytes(length),
  of: (...bytes: number[]): Bytes => new Bytes(bytes),
  from: (
    value: string | Iterable<number> | ArrayBuffer,
    ...of: [encoding?: Encoding] | [offset: number, length: number]
  ): Bytes => {
    if (value instanceof ArrayBuffer) return new Bytes(value, ...(of as [number, number]))
    const [encoding = 'utf8'] = of as [Encoding?]
    return new Bytes(typeof value === 'string' ? bytesOfText(value, encoding) : value)
  },
  concat(parts: readonly Uint8Array[]): Bytes {
    const joined = new Bytes(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      joined.set(part, at)
      at += part.length
    }
    return joined
  },
  isBuffer: (value: unknown): value is Bytes => value instanceof Bytes,
  byteLength: (text: string): number => new TextEncoder().encode(text).length,
}

export const sha256 = (...parts: readonly Uint8Array[]): Bytes =>
  Buffer.from(sha256Of(Buffer.concat(parts)))

export const hash160 = (bytes: Uint8Array): Bytes => Buffer.from(ripemd160(sha256(bytes)))

export const keccak256 = (message: Uint8Array): Bytes => Buffer.from(keccak_256(message))

/** The functions of bs58. */
export default {
  encode: base58.encode,
  decodeUnsafe(text: string): Uint8Array | undefined {
    try {
      return base58.decode(text)
    } catch {
      return undefined
    }
  },
}

/** An address in the form of EIP-55, as that of viem, which brings much more along. */
export function getAddress(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak256(Buffer.from(digits)).toString('hex')
  const shown = Array.from(digits, (digit, i) => (hash[i]! >= '8' ? digit.toUpperCase() : digit))
  return `0x${shown.join('')}`
}

/** In place of viem's: what deploys a smart wallet is read by `isSignedByContract` only. */
export function decodeAbiParameters(): never {
  throw new RangeError('Smart wallets are not read here.')
}

export function isSignedByEd25519(
  messages: readonly Uint8Array[],
  signature: Uint8Array,
  key: Uint8Array,
): boolean {
  return messages.some((message) => {
    try {
      return ed25519.verify(signature, message, key, { zip215: false })
    } catch {
      return false
    }
  })
}
