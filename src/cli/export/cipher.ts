import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import fs from 'node:fs'
import { ConfigError } from '../../config/index.js'

/** Bytes of an export's key, of a segment's salt, and of GCM's tag. */
export const KEY_BYTES = 32
export const SALT_BYTES = 32
const TAG_BYTES = 16
const NONCE_BYTES = 12
const INFO = 'clusterd export'

/** Seals and opens the frames of a segment, each under its number and what stands before it. */
export interface Cipher {
  seal(number: number, context: Buffer, plain: Buffer): Buffer
  /** @throws Error for other bytes than `seal` made, at another place, or under another key */
  open(number: number, context: Buffer, sealed: Buffer): Buffer
}

/** Leaves frames as they are. */
export const PLAIN: Cipher = { seal: (_number, _context, plain) => plain, open: (_number, _context, sealed) => sealed }

/**
 * AES-256-GCM frame by frame, after STREAM (Hoang, Reyhanitabar, Rogaway, Vizár 2015): the nonce is the frame's number
 * in its segment, and the associated data are the checksum of all before it and its kind, of which one is the last. A
 * frame that is missing, repeated, moved or changed opens no more. The key is the segment's own, by HKDF-SHA256 (RFC
 * 5869) from the file's key and a random salt, so that no nonce comes twice.
 */
export function cipherOf(key: Buffer, salt: Buffer): Cipher {
  const own = Buffer.from(hkdfSync('sha256', key, salt, INFO, KEY_BYTES))
  const nonceOf = (number: number): Buffer => {
    const nonce = Buffer.alloc(NONCE_BYTES)
    nonce.writeUInt32BE(number, NONCE_BYTES - 4)
    return nonce
  }
  return {
    seal(number, context, plain) {
      const cipher = createCipheriv('aes-256-gcm', own, nonceOf(number)).setAAD(context)
      return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    },
    open(number, context, sealed) {
      const end = Math.max(0, sealed.length - TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', own, nonceOf(number), { authTagLength: TAG_BYTES })
      decipher.setAAD(context).setAuthTag(sealed.subarray(end))
      return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()])
    },
  }
}

const HEX = /^(0x)?[0-9a-f]{64}$/i

/** Reads the key of an export: 32 bytes in hex. @throws ConfigError for any other file */
export function readKeyFile(file: string): Buffer {
  if (!fs.existsSync(file))
    throw new ConfigError(
      `--key-file ${file} does not exist: for a new export make it with \`openssl rand -hex 32 > ${file}\`.`,
    )
  const text = fs.readFileSync(file, 'utf8').trim()
  if (HEX.test(text)) return Buffer.from(text.replace(/^0x/i, ''), 'hex')
  // no word of how to make one: that would be the end of what the file holds
  throw new ConfigError(`--key-file ${file} holds no key, 32 bytes in hex: name the file that does.`)
}
