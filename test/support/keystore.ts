import { createCipheriv, pbkdf2Sync, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { keccak256 } from '../../src/registry/primitives/keccak.js'

const ROUNDS = 1_000

/** Writes a keystore file (Web3 Secret Storage, version 3) and that of its password. @returns options that name both */
export function writeKeystore(folder: string, name: string, privateKey: Hex): string[] {
  const [password, salt, iv] = [randomBytes(8).toString('hex'), randomBytes(32), randomBytes(16)]
  const derived = pbkdf2Sync(password, salt, ROUNDS, 32, 'sha256')
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(Buffer.from(privateKey.slice(2), 'hex')), cipher.final()])
  const crypto = {
    ...{ cipher: 'aes-128-ctr', cipherparams: { iv: iv.toString('hex') }, ciphertext: ciphertext.toString('hex') },
    ...{ kdf: 'pbkdf2', kdfparams: { c: ROUNDS, dklen: 32, prf: 'hmac-sha256', salt: salt.toString('hex') } },
    mac: keccak256(Buffer.concat([derived.subarray(16), ciphertext])).toString('hex'),
  }
  const [file, passwordFile] = [join(folder, `${name}.json`), join(folder, `${name}.txt`)]
  writeFileSync(file, JSON.stringify({ version: 3, crypto }), { mode: 0o600 })
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
  return ['--keystore', file, '--password-file', passwordFile]
}
