import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { NETWORKS, type Network } from '../registry/primitives/network.js'
import type { Cosigner } from '../registry/transparencyLog/signer.js'
import { type ChainsFile, emptyChainsFile, readChainsFile } from './chainsFile.js'
import { type CommandFlags, type Environment, readEnvironment } from './environment.js'
import { ConfigError } from './error.js'
import { configuredNonEvmSections, emptyNonEvmSections } from './nonEvmSections.js'
import { addressOfSigningKey, readLogSigningKeys, readRelayerOrEnsKey } from './relayerKey.js'

export {
  addChainFields,
  type ChainConfig,
  type ChainsFile,
  type DeliverySettings,
  missingNewFieldsOfChainsFile,
  parseChainsFile,
  parseDraftChainsFile,
  readChainsFile,
  readDraftChainsFile,
} from './chainsFile.js'
export { findEnvFileFaults } from './envFile.js'
export {
  type CommandFlags,
  type Environment,
  environmentWithVariables,
  findAmbiguousEnvLines,
  loadEnvFile,
  readEnvironment,
  selectLocalDaemonVariables,
} from './environment.js'
export { ConfigError } from './error.js'
export type { DraftChainConfig } from './evmChain.js'
export { encryptKeystore } from './keystore.js'
export { chainPresetOf, evmChainLabelsOf } from './presets.js'
export { readLogSigningKeys } from './relayerKey.js'
export type { SolanaConfig } from './solana.js'

export const DEFAULT_PORT = 3000
export const DEFAULT_OPS_PORT = 3001

/** Environment and chains file, validated and frozen. */
export type Config = ReturnType<typeof readConfig> & { readonly mirror?: MirrorConfig }

/** Reads the environment and the chains file. @throws ConfigError */
export function readConfig(env?: NodeJS.ProcessEnv, flags?: CommandFlags) {
  const base = readEnvironment(env, flags)
  return buildConfig(base, () => readChainsFile(base.chainsFile))
}

/**
 * As `readConfig`, but returns the readable part of the configuration together with its problems. A missing database
 * is an empty URL, and an unreadable chains file has no chains.
 * @throws ConfigError for a variable or a key that can't be read
 */
export function readConfigWithProblems() {
  const problems: string[] = []
  const base = readEnvironment()
  const config = buildConfig(
    base,
    () => readChainsFile(base.chainsFile),
    (problem) => problems.push(problem),
  )
  return { config, problems }
}

/** Source of a mirror, a service or a folder, and the logs that the mirror accepts. */
interface MirrorConfig {
  /** URL of a service, or a folder that `clusterd journal export` wrote. */
  url: string
  /** Public key that signs the mirrored logs, base64. */
  key: string
  apiKey: string | undefined
  /** Domain with which the names of the mirrored logs begin. */
  domain: string | undefined
  /** Name of a log to mirror even if it does not continue the log that was mirrored before. */
  accept: string | undefined
  /** Name and keys by which the mirror signs checkpoints as a witness; undefined: it signs none. */
  cosigner: Cosigner | undefined
  networks: readonly Network[]
}

/**
 * Reads the configuration of a mirror, whose only role is `api`. It needs LOG_KEY only to sign as a witness. The chains
 * file is optional: its hubs are used to check who owns the names.
 * @throws ConfigError
 */
export function readMirrorConfig(
  networks: readonly Network[],
  env?: NodeJS.ProcessEnv,
  flags?: CommandFlags,
): Config & { readonly mirror: MirrorConfig } {
  const base = readEnvironment(env, flags)
  const { url, key, witness: name, ...rest } = base.mirrorSource
  if (url === undefined || key === undefined)
    throw new ConfigError(
      'A mirror needs the address of a service (or MIRROR_URL) and the public key of its logs (--key or MIRROR_KEY), which `clusterd log key` shows there.',
    )
  // a random key, because no route of a mirror opens a session
  const tokenKey = base.tokenKey ?? randomBytes(32)
  const config = buildConfig({ ...base, tokenKey, roles: ['api'] }, () => {
    const chains = existsSync(base.chainsFile) ? readChainsFile(base.chainsFile) : emptyChainsFile()
    const hubs = chains.chains.filter(
      ({ role, network }) => role === 'hub' && networks.includes(network),
    )
    return { ...chains, ...emptyNonEvmSections, chains: hubs, ens: {} }
  })
  const { logKeys: keys } = config
  if (name !== undefined && keys.length === 0)
    throw new ConfigError('LOG_KEY is not set: a mirror with --witness signs by it.')
  const cosigner = name === undefined ? undefined : { name, keys }
  return Object.freeze({ ...config, mirror: { url, key, ...rest, cosigner, networks } })
}

/**
 * Builds the configuration, and checks settings that may contradict each other.
 * @param report receives each problem as a sentence. Default: throws a ConfigError for the first problem
 */
function buildConfig(base: Environment, readFile: () => ChainsFile, report = throwConfigError) {
  if (!base.databaseUrl)
    report(
      'DATABASE_URL is not set: `clusterd start` needs a PostgreSQL from 14 on (`clusterd dev` brings its own).',
    )
  const { databaseUrl = '', databaseDirectUrl = databaseUrl, port = DEFAULT_PORT } = base
  const chains = readChainsFileOrEmpty(readFile, report)
  if (!base.tokenKey && base.roles.includes('api')) report(missingKeyText('TOKEN_KEY', 'the API'))
  const [quoting] = configuredNonEvmSections(chains)
  if (base.quoteKeys.length === 0 && quoting)
    report(missingKeyText('QUOTE_KEY', `a chains file with ${quoting.section.family.name}`))
  const relayerKey = readRelayerOrEnsKey('RELAYER', base.relayerKeySources)
  const ensKey = readRelayerOrEnsKey('ENS', base.ensKeySources)
  if (!ensKey && base.roles.includes('api') && NETWORKS.some((network) => chains.ens[network]))
    report(
      'ENS_PRIVATE_KEY, ENS_KEYSTORE and ENS_SIGNER_URL are not set: a chains file with ens needs one.',
    )
  if (relayerKey && ensKey && addressOfSigningKey(relayerKey) === addressOfSigningKey(ensKey))
    report('The key of ENS is the relayer’s: whoever asks for names then uses the key that pays.')
  return Object.freeze({
    ...base,
    databaseUrl,
    databaseDirectUrl,
    port,
    siteUrl: base.siteUrl ?? `http://localhost:${port}`,
    opsPort: base.opsPort ?? DEFAULT_OPS_PORT,
    ...chains,
    /** Keys that sign the log of the feed; empty: the log is not signed. */
    logKeys: readLogSigningKeys(base.logKeySources),
    /** Signer of the relayer on EVM chains; undefined: none. */
    relayerKey,
    /** Signer of the ENS gateway's answers; undefined: none. */
    ensKey,
  })
}

function throwConfigError(problem: string): unknown {
  throw new ConfigError(problem)
}

/** Reads the chains file. Where that fails, reports the error and returns a file without chains. */
function readChainsFileOrEmpty(
  readFile: () => ChainsFile,
  report: typeof throwConfigError,
): ChainsFile {
  try {
    return readFile()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    report(error.message)
    return emptyChainsFile()
  }
}

const missingKeyText = (variable: string, user: string): string =>
  `${variable} is not set: ${user} needs 0x and 64 hex digits that nobody knows (openssl rand -hex 32), the same in every process.`
