import { secp256k1 } from '@noble/curves/secp256k1.js'
import { fromHex, toHex } from '../registry/primitives/bytes.js'
import { keccak256 } from '../registry/primitives/keccak.js'
import { type LogKeys, logKeysOfSeeds } from '../registry/transparencyLog/signer.js'
import type { Environment } from './environment.js'
import { ConfigError } from './error.js'
import { decryptKeystore } from './keystore.js'
import { readSecretFile } from './secretFiles.js'

type Hex = `0x${string}`

/** Key of the relayer or of the ENS signer: a private key in this process, or an external signer. */
export type EvmSigningKey = { privateKey: Hex } | { signerUrl: string; address: Hex }

/** Source of a key: a keystore file and the file of its password, or an external signer and the key's address. */
interface KeySources {
  keystore?: string | undefined
  passwordFile?: string | undefined
  signerUrl?: string | undefined
  address?: Hex | undefined
}

/** Name of each key source in error messages: an environment variable, or an option. */
type SourceNames = Readonly<Record<keyof KeySources, string>>

/**
 * Reads the key of the relayer or of the ENS signer; undefined where no source is set.
 * @throws ConfigError for several sources, an incomplete source, and a keystore that can't be opened
 */
export function readRelayerOrEnsKey(
  role: 'RELAYER' | 'ENS',
  { privateKey, ...rest }: Environment['ensKeySources'],
): EvmSigningKey | undefined {
  const { keystore, passwordFile, signerUrl, address } = rest
  const names: SourceNames = {
    keystore: `${role}_KEYSTORE`,
    passwordFile: `${role}_PASSWORD_FILE`,
    signerUrl: `${role}_SIGNER_URL`,
    address: `${role}_ADDRESS`,
  }
  if (privateKey && (keystore || signerUrl))
    throw new ConfigError(
      `${role}_PRIVATE_KEY, ${names.keystore} and ${names.signerUrl} exclude one another: set one.`,
    )
  // an incomplete source (perhaps its other variable is misspelt) must not silently give no key
  if (passwordFile && !keystore) throw incompleteSourceError(names.passwordFile, names.keystore)
  if (address && !signerUrl) throw incompleteSourceError(names.address, names.signerUrl)
  return privateKey ? { privateKey } : readKeyFromKeystoreOrSigner(rest, names)
}

/** Keys that sign the feed's log, newest first: the keystore's key, then the environment's keys. @throws ConfigError */
export function readLogSigningKeys({
  seeds,
  keystore,
  passwordFile,
}: Environment['logKeySources']): LogKeys {
  const names = { keystore: 'LOG_KEYSTORE', passwordFile: 'LOG_PASSWORD_FILE' }
  if (passwordFile && !keystore) throw incompleteSourceError(names.passwordFile, names.keystore)
  const newest = keystore ? [fromHex(readKeyFromKeystore(keystore, passwordFile, names))] : []
  return logKeysOfSeeds([...newest, ...seeds])
}

/** Address of a key's account, in lower case. */
export const addressOfSigningKey = (key: EvmSigningKey): Hex =>
  'address' in key
    ? key.address
    : toHex(
        keccak256(secp256k1.getPublicKey(fromHex(key.privateKey), false).subarray(1)).subarray(12),
      )

const incompleteSourceError = (given: string, missing: string): ConfigError =>
  new ConfigError(`${given} is set, and ${missing} is not: set both, or neither.`)

/** Reads a key from a keystore or an external signer; undefined where neither is set. @throws ConfigError */
export function readKeyFromKeystoreOrSigner(
  sources: KeySources,
  names: SourceNames,
): EvmSigningKey | undefined {
  const { keystore, passwordFile, signerUrl, address } = sources
  if (keystore && signerUrl)
    throw new ConfigError(`${names.keystore} and ${names.signerUrl} exclude one another: set one.`)
  if (keystore) return { privateKey: readKeyFromKeystore(keystore, passwordFile, names) }
  if (!signerUrl) return undefined
  if (!address)
    throw new ConfigError(
      `${names.address} is not set: ${names.signerUrl} needs the address that signs.`,
    )
  return { signerUrl, address }
}

function readKeyFromKeystore(
  file: string,
  passwordFile: string | undefined,
  names: Pick<SourceNames, 'keystore' | 'passwordFile'>,
): Hex {
  if (!passwordFile)
    throw new ConfigError(`${names.passwordFile} is not set: ${names.keystore} needs its password.`)
  const password = readSecretFile(passwordFile, names.passwordFile).replace(/\r?\n$/, '')
  const key = decryptKeystore(readSecretFile(file, names.keystore), password)
  if (!key)
    throw new ConfigError(
      `${names.keystore} can not be opened: it is no keystore of version 3, or the password is another.`,
    )
  return `0x${key.toString('hex')}`
}
