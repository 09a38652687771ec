import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { encryptKeystore } from '../../src/config/index.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'

/** Writes a keystore file and that of its password. @returns options that name both */
export function writeKeystore(folder: string, name: string, privateKey: Hex): string[] {
  const password = randomBytes(8).toString('hex')
  const file = join(folder, `${name}.json`)
  const passwordFile = join(folder, `${name}.txt`)
  writeFileSync(
    file,
    encryptKeystore(fromHex(privateKey), password, privateKeyToAddress(privateKey)),
    { mode: 0o600 },
  )
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
  return ['--keystore', file, '--password-file', passwordFile]
}
