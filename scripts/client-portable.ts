/**
 * What the readers of signatures need of Node, for browsers: scripts/client-package.ts puts this module in place of
 * three modules of src/registry/primitives and of viem, in the part of `clusterd-client/verify` that `verifyBundle` loads.
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 as sha256Of } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
// biome-ignore lint/style/useNodejsImportProtocol: the package of this name, which bundlers for browsers take
import { Buffer } from 'buffer'

export { Buffer }

export const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  Buffer.from(sha256Of(Buffer.concat(parts)))

export const hash160 = (bytes: Uint8Array): Buffer => Buffer.from(ripemd160(sha256(bytes)))

export const keccak256 = (message: Uint8Array): Buffer => Buffer.from(keccak_256(message))

/** An address in the form of EIP-55, as that of viem, which brings much more along. */
export function getAddress(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak256(Buffer.from(digits)).toString('hex')
  const shown = Array.from(digits, (digit, i) => (hash[i]! >= '8' ? digit.toUpperCase() : digit))
  return `0x${shown.join('')}`
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
