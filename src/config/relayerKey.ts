import { readFileSync } from 'node:fs'
import type { Environment } from './environment.js'
import { ConfigError } from './error.js'
import { openKeystore } from './keystore.js'
import { parseSolanaSecretKey } from './solanaKey.js'

type Hex = `0x${string}`

/** Who signs for the relayer on EVM chains: a key in this process, or a signer elsewhere. */
export type RelayerKey = { privateKey: Hex } | { signerUrl: string; address: Hex }

/** The relayer's key on EVM chains, of the one source that is set. @throws ConfigError */
export function relayerKeyOf(env: Environment): RelayerKey | undefined {
  const { relayerPrivateKey: privateKey, relayerKeystore, relayerSignerUrl: signerUrl, relayerAddress: address } = env
  const sources = [privateKey, relayerKeystore, signerUrl].filter((source) => source !== undefined)
  if (sources.length > 1)
    throw new ConfigError('RELAYER_PRIVATE_KEY, RELAYER_KEYSTORE and RELAYER_SIGNER_URL exclude one another: set one.')
  if (privateKey) return { privateKey }
  if (relayerKeystore) return { privateKey: fromKeystore(relayerKeystore, env.relayerPasswordFile) }
  if (!signerUrl) return undefined
  if (!address) throw new ConfigError('RELAYER_ADDRESS is not set: RELAYER_SIGNER_URL needs the address that signs.')
  return { signerUrl, address }
}

function fromKeystore(file: string, passwordFile: string | undefined): Hex {
  if (!passwordFile) throw new ConfigError('RELAYER_PASSWORD_FILE is not set: RELAYER_KEYSTORE needs its password.')
  const password = contentOf(passwordFile, 'RELAYER_PASSWORD_FILE').replace(/\r?\n$/, '')
  const key = openKeystore(contentOf(file, 'RELAYER_KEYSTORE'), password)
  if (!key)
    throw new ConfigError(
      'RELAYER_KEYSTORE can not be opened: it is no keystore of version 3, or the password is another.',
    )
  return `0x${key.toString('hex')}`
}

/** The relay authority's key on Solana. @throws ConfigError */
export function solanaKeyOf({ solanaRelayerKey, solanaRelayerKeyFile }: Environment): Uint8Array | undefined {
  if (!solanaRelayerKeyFile) return solanaRelayerKey
  if (solanaRelayerKey)
    throw new ConfigError('SOLANA_RELAYER_PRIVATE_KEY and SOLANA_RELAYER_KEY_FILE exclude one another: set one.')
  const key = parseSolanaSecretKey(contentOf(solanaRelayerKeyFile, 'SOLANA_RELAYER_KEY_FILE'))
  if (!key) throw new ConfigError('SOLANA_RELAYER_KEY_FILE holds no secret key of a Solana account.')
  return key
}

function contentOf(file: string, variable: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new ConfigError(`${variable}: the file can not be read.`)
  }
}
