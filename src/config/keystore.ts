import {
  createCipheriv,
  createDecipheriv,
  pbkdf2Sync,
  randomBytes,
  randomUUID,
  scryptSync,
  timingSafeEqual,
} from 'node:crypto'
import { scrypt as slowScrypt } from '@noble/hashes/scrypt'
import { z } from 'zod'
import { keccak256 } from '../registry/primitives/keccak.js'

const hexBytesSchema = (count?: number) =>
  z
    .string()
    .regex(new RegExp(`^(?:[0-9a-fA-F]{2}){${count ?? '1,64'}}$`))
    .transform((text): Buffer => Buffer.from(text, 'hex'))

/** Maximum number of bytes that a keystore file may make scrypt compute, in some seconds. Its memory is no larger. */
const MAX_SCRYPT_BYTES = 2 ** 29
/** Maximum number of rounds that a keystore file may demand: they take some seconds. */
const MAX_PBKDF2_ROUNDS = 10_000_000

const scryptSchema = z
  .object({
    n: z.int().min(2),
    r: z.int().min(1).max(64),
    p: z.int().min(1),
    dklen: z.literal(32),
    salt: hexBytesSchema(),
  })
  .refine(({ n, r, p }) => 128 * n * r * p <= MAX_SCRYPT_BYTES, 'asks for too much work')
const pbkdf2Schema = z.object({
  c: z.int().min(1).max(MAX_PBKDF2_ROUNDS),
  dklen: z.literal(32),
  salt: hexBytesSchema(),
  prf: z.literal('hmac-sha256'),
})

const derivationSchema = z.discriminatedUnion('kdf', [
  z.object({ kdf: z.literal('scrypt'), kdfparams: scryptSchema }),
  z.object({ kdf: z.literal('pbkdf2'), kdfparams: pbkdf2Schema }),
])

const keystoreSchema = z.object({
  version: z.literal(3),
  crypto: z.intersection(
    z.object({
      cipher: z.literal('aes-128-ctr'),
      cipherparams: z.object({ iv: hexBytesSchema(16) }),
      ciphertext: hexBytesSchema(32),
      mac: hexBytesSchema(32),
    }),
    derivationSchema,
  ),
})

/**
 * Reads the private key in a keystore file, as written by geth, Foundry's `cast wallet` and Web3Signer (Web3 Secret
 * Storage, version 3; some programs write `Crypto` for the field `crypto`).
 * @returns 32 bytes; null for another file, and for a wrong password
 */
export function decryptKeystore(text: string, password: string): Buffer | null {
  const parsed = keystoreSchema.safeParse(parseKeystoreJson(text))
  if (!parsed.success) return null
  const { crypto } = parsed.data
  const derived = deriveKey(crypto, password)
  const mac = keccak256(Buffer.concat([derived.subarray(16), crypto.ciphertext]))
  if (!timingSafeEqual(mac, crypto.mac)) return null
  const cipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), crypto.cipherparams.iv)
  return Buffer.concat([cipher.update(crypto.ciphertext), cipher.final()])
}

/** geth's light scrypt parameters. Slower parameters would add nothing to a password of 256 random bits. */
const LIGHT_SCRYPT_PARAMETERS = { n: 4_096, r: 8, p: 6, dklen: 32 } as const

/**
 * Writes a private key as a keystore file, which geth and `cast wallet` can read too.
 * @param key 32 bytes
 * @param address of the key, `0x` and 40 hex digits; the file shows it
 * @returns the file's content
 */
export function encryptKeystore(key: Buffer, password: string, address: string): string {
  const salt = randomBytes(32)
  const iv = randomBytes(16)
  const derived = deriveKey(
    { kdf: 'scrypt', kdfparams: { ...LIGHT_SCRYPT_PARAMETERS, salt } },
    password,
  )
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(key), cipher.final()])
  const mac = keccak256(Buffer.concat([derived.subarray(16), ciphertext]))
  const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  const crypto = {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: hexOf(iv) },
    ciphertext: hexOf(ciphertext),
    kdf: 'scrypt',
    kdfparams: { ...LIGHT_SCRYPT_PARAMETERS, salt: hexOf(salt) },
    mac: hexOf(mac),
  }
  return `${JSON.stringify({ version: 3, id: randomUUID(), address: address.slice(2).toLowerCase(), crypto }, null, 2)}\n`
}

/** Parses a keystore's JSON, with the field `crypto` in lower case. Null for text that is not JSON. */
function parseKeystoreJson(text: string): unknown {
  try {
    const json = JSON.parse(text) as { Crypto?: unknown }
    return json.Crypto === undefined ? json : { ...json, crypto: json.Crypto }
  } catch {
    return null
  }
}

function deriveKey(
  { kdf, kdfparams }: z.output<typeof derivationSchema>,
  password: string,
): Buffer {
  if (kdf === 'pbkdf2')
    return pbkdf2Sync(password, kdfparams.salt, kdfparams.c, kdfparams.dklen, 'sha256')
  const { salt, n, r, p, dklen } = kdfparams
  const settings = { N: n, r, p, maxmem: 2 * MAX_SCRYPT_BYTES }
  // OpenSSL's scrypt takes less than half the time, but refuses a large N with a small r
  if (n < 2 ** (16 * r)) return scryptSync(password, salt, dklen, settings)
  return Buffer.from(slowScrypt(password, salt, { ...settings, dkLen: dklen }))
}
