import { NETWORKS } from '../registry/primitives/network.js'
import { readChains } from './chainsFile.js'
import { type Flags, readEnvironment } from './environment.js'
import { ConfigError } from './error.js'
import { addressOf, keyOfRole } from './relayerKey.js'

export {
  type ChainConfig,
  type ChainsFile,
  type DeliverySettings,
  type DraftChain,
  parseChainsFile,
  parseDraft,
  readChains,
  readDraft,
  type SolanaConfig,
} from './chainsFile.js'
export {
  type Environment,
  environmentWith,
  type Flags,
  loadEnvFile,
  localDaemonEnv,
  readEnvironment,
} from './environment.js'
export { ConfigError } from './error.js'
export { sealKeystore } from './keystore.js'
export { labelsOf, presetOf } from './presets.js'

export const DEFAULT_PORT = 3000
export const DEFAULT_OPS_PORT = 3001

/** Environment and chains file, checked and frozen. */
export type Config = ReturnType<typeof readConfig>

/** @throws ConfigError */
export function readConfig(env?: NodeJS.ProcessEnv, flags?: Flags) {
  const base = readEnvironment(env, flags)
  if (!base.databaseUrl)
    throw new ConfigError(
      'DATABASE_URL is not set: `clusterd start` needs a PostgreSQL from 14 on (`clusterd dev` brings its own).',
    )
  const { databaseUrl, databaseDirectUrl = databaseUrl, port = DEFAULT_PORT } = base
  const chains = readChains(base.chainsFile)
  if (!base.tokenKey && base.roles.includes('api'))
    throw new ConfigError(lacks('TOKEN_KEY', 'the API'))
  if (base.quoteKeys.length === 0 && NETWORKS.some((network) => chains.solana[network]))
    throw new ConfigError(lacks('QUOTE_KEY', 'a chains file with Solana'))
  const relayerKey = keyOfRole('RELAYER', base.relayerKeySources)
  const ensKey = keyOfRole('ENS', base.ensKeySources)
  if (!ensKey && base.roles.includes('api') && NETWORKS.some((network) => chains.ens[network]))
    throw new ConfigError(
      'ENS_PRIVATE_KEY, ENS_KEYSTORE and ENS_SIGNER_URL are not set: a chains file with ens needs one.',
    )
  if (relayerKey && ensKey && addressOf(relayerKey) === addressOf(ensKey))
    throw new ConfigError(
      'The key of ENS is the relayer’s: whoever asks for names then uses the key that pays.',
    )
  return Object.freeze({
    ...base,
    databaseUrl,
    databaseDirectUrl,
    port,
    siteUrl: base.siteUrl ?? `http://localhost:${port}`,
    opsPort: base.opsPort ?? DEFAULT_OPS_PORT,
    ...chains,
    /** Signer for the relayer on EVM chains; undefined: nobody. */
    relayerKey,
    /** Signer of what the gateway of ENS answers; undefined: nobody. */
    ensKey,
  })
}

const lacks = (variable: string, user: string): string =>
  `${variable} is not set: ${user} needs 0x and 64 hex digits that nobody knows (openssl rand -hex 32), the same in every process.`
