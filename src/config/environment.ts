import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { z } from 'zod'
import { PUBLIC_WALLET_FACTORIES } from '../registry/auth/walletFactories.js'
import { fromHex } from '../registry/primitives/bytes.js'
import { parseWitnessKey } from '../registry/transparencyLog/cosignature.js'
import { sha256InOneCall } from '../registry/transparencyLog/hash.js'
import { findEnvFileFaults } from './envFile.js'
import { parseConfigInput } from './error.js'
import { evmAddress, hexBytes, httpUrl } from './fieldSchemas.js'
import { markAsSecret, readSecretFiles } from './secretFiles.js'
import { parseSolanaSecretKey } from './solanaKey.js'

const DEFAULT_SESSION_DAYS = 14
const DAY_MS = 24 * 60 * 60_000

const DEFAULT_DRAIN_SECONDS = 5

/** Roles of a process: answer API requests, lead the indexing, lead the outbox. */
const ROLES = ['api', 'index', 'relay'] as const

const commaListSchema = z.string().transform((text) => text.split(',').map((part) => part.trim()))

const rolesSchema = commaListSchema
  .refine(
    (all) => all.every((one) => ROLES.some((role) => role === one)),
    `takes ${ROLES.join(', ')}, joined by commas`,
  )
  .pipe(z.array(z.enum(ROLES)))

const portSchema = z
  .string()
  .regex(/^ *\d{1,5} *$/, 'must be a number from 0 to 65535')
  .transform(Number)
  .refine((number) => number <= 65_535, 'must be a number from 0 to 65535')

const privateKeySchema = hexBytes(32).refine(
  (key) => secp256k1.utils.isValidSecretKey(fromHex(key)),
  'is no private key of an EVM account',
)

const key32Schema = hexBytes(32).transform(fromHex)

/** Schema of a list of 32-byte keys: the current key, then earlier keys that are still accepted. */
const keys32Schema = commaListSchema.pipe(z.array(key32Schema).max(8))

const solanaKeySchema = z.string().transform((text, ctx) => {
  const key = parseSolanaSecretKey(text)
  if (key) return key
  ctx.addIssue({
    code: 'custom',
    message: 'is no secret key of a Solana account (64 bytes, base58 or a JSON array)',
  })
  return z.NEVER
})

/** Schema of a log's witness, such as `w.example+1a2b3c4d+BAAB… https://w.example/v1/witness`. */
const witnessSchema = z.string().transform((text, ctx) => {
  const [, verifierKey = '', url] = /^(\S+) +(\S+)$/.exec(text) ?? []
  const key = parseWitnessKey(sha256InOneCall, verifierKey)
  const parsed = httpUrl.safeParse(url)
  if (key && parsed.success) return { ...key, url: parsed.data.replace(/\/+$/, '') }
  ctx.addIssue({
    code: 'custom',
    message: 'must be a witness’s verifier key (`clusterd log key --witness`), a space and its URL',
  })
  return z.NEVER
})

/** Schema of a rate limit such as `50/300`: units per second, and burst. */
const rateSchema = z
  .string()
  .regex(/^[1-9][0-9]{0,6}\/[1-9][0-9]{0,6}$/, 'must be <per second>/<burst>')
  .transform((text) => {
    const [perSecond, burst] = text.split('/').map(Number)
    return { perSecond: perSecond!, burst: burst! }
  })

const wholeNumberSchema = (min: number, max: number) => z.coerce.number().int().min(min).max(max)

/** Schema of a number per minute or per day. */
const countLimitSchema = wholeNumberSchema(1, 10_000_000)

const onOrOffSchema = (unset: 'on' | 'off') =>
  z
    .enum(['on', 'off'])
    .default(unset)
    .transform((text) => text === 'on')

const trueOrFalseSchema = z
  .enum(['true', 'false'])
  .default('false')
  .transform((text) => text === 'true')

const proxySchema = z.union([
  z.ipv4(),
  z.ipv6(),
  z.cidrv4(),
  z.cidrv6(),
  z.enum(['loopback', 'linklocal', 'uniquelocal']),
])

/** Schema of trusted proxies: their number, or their addresses, as in Express's `trust proxy`. */
const proxiesSchema = z.union(
  [wholeNumberSchema(0, 16), commaListSchema.pipe(z.array(proxySchema))],
  'must be a number of proxies, or their addresses or CIDRs joined by commas',
)

const postgresUrlSchema = z.url({
  protocol: /^postgres(ql)?$/,
  error: 'must be a postgresql:// URL',
})

const variablesSchema = z.object({
  /** Data folder: the files of a local world, and chains.json unless CLUSTERD_CHAINS is set. */
  CLUSTERD_HOME: z.string().min(1).default('.clusterd'),
  CLUSTERD_CHAINS: z.string().min(1).optional(),
  DATABASE_URL: markAsSecret(postgresUrlSchema.optional()),
  /** URL of the same database without a pooler in between, for locks, notifications, migrations and long commands. */
  DATABASE_DIRECT_URL: markAsSecret(postgresUrlSchema.optional()),
  /** Whether a start applies missing database migrations. If not, it waits for `clusterd migrate`. */
  MIGRATE: onOrOffSchema('on'),
  PORT: portSchema.optional(),
  OPS_PORT: portSchema.optional(),
  HOST: z.string().min(1).default('127.0.0.1'),
  /** Address at which health, readiness, status and metrics are served. */
  OPS_HOST: z.string().min(1).default('127.0.0.1'),
  /** Token that opens the operator's page (`/`). Without it the page is served only on loopback. */
  OPS_TOKEN: markAsSecret(z.string().min(16, 'must have at least 16 characters').optional()),
  ROLES: rolesSchema.default([...ROLES]),
  /** Lets a process without a relayer's key lead the outbox, so that it raises alarms. */
  RELAY_WATCH: trueOrFalseSchema,
  /** At a stop, time during which the process reports "not ready" before the API ends, seconds. */
  DRAIN_SECONDS: z.coerce.number().min(0).max(600).default(DEFAULT_DRAIN_SECONDS),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  LOG_FORMAT: z.enum(['json', 'pretty']).optional(),
  /** Domain of the service in the messages that wallets sign; never taken from a request header. */
  SERVICE_DOMAIN: z
    .string()
    .regex(/^[^\s+\p{C}"\\]+$/u)
    // bounds the text that a wallet signs: text and signature have to fit into an entry of the evidence log
    .refine((domain) => Buffer.byteLength(domain) <= 60, 'must have at most 60 characters')
    .default('localhost'),
  /** URL at which browsers reach the service. */
  SITE_URL: httpUrl.optional(),
  /** URI that takes reports of weaknesses, shown in `/.well-known/security.txt`. */
  SECURITY_CONTACT: z.url({ protocol: /^(https|mailto|tel)$/ }).optional(),
  DATABASE_POOL: wholeNumberSchema(2, 1_000).default(10),
  /** Key of the account that pays for deliveries. It may be in a keystore or an external signer instead. */
  RELAYER_PRIVATE_KEY: markAsSecret(privateKeySchema.optional()),
  /** The relayer's key in a keystore file (Web3 Secret Storage, version 3), and the file of its password. */
  RELAYER_KEYSTORE: z.string().optional(),
  RELAYER_PASSWORD_FILE: z.string().optional(),
  /** External signer with the relayer's key (Web3Signer's JSON-RPC), and the address of the key. */
  RELAYER_SIGNER_URL: markAsSecret(httpUrl.optional()),
  RELAYER_ADDRESS: evmAddress.optional(),
  /** Key that signs ENS answers (not the relayer's key), or its keystore and password file, or an external signer. */
  ENS_PRIVATE_KEY: markAsSecret(privateKeySchema.optional()),
  ENS_KEYSTORE: z.string().optional(),
  ENS_PASSWORD_FILE: z.string().optional(),
  ENS_SIGNER_URL: markAsSecret(httpUrl.optional()),
  ENS_ADDRESS: evmAddress.optional(),
  /** The relay authority's key on Solana, 64 bytes. Without it nothing is settled or refunded. */
  SOLANA_RELAYER_PRIVATE_KEY: markAsSecret(solanaKeySchema.optional(), 'SOLANA_RELAYER_KEY_FILE'),
  /** URL of a local Solana cluster with a faucet, for `clusterd dev` where Surfpool doesn't run. */
  SOLANA_RPC_URL: markAsSecret(httpUrl.optional()),
  /** Key that permits a bundle's EVM wallets to claim airdrops for its Solana accounts. */
  AIRDROP_OPERATOR_PRIVATE_KEY: markAsSecret(privateKeySchema.optional()),
  /** Keys that sign quotes on Solana, the current one first, joined by commas. Quotes of earlier keys are accepted. */
  QUOTE_KEY: markAsSecret(keys32Schema.default([])),
  /**
   * Ed25519 seeds that sign the log of the feed, the current one first, joined by commas. Earlier keys sign too.
   */
  LOG_KEY: markAsSecret(keys32Schema.default([])),
  /** Witnesses that are asked to sign the log's checkpoints too: `<verifier key> <URL>`, joined by commas. */
  LOG_WITNESSES: commaListSchema.pipe(z.array(witnessSchema).max(8)).default([]),
  /** The current log key in a keystore, and the file of its password. */
  LOG_KEYSTORE: z.string().optional(),
  LOG_PASSWORD_FILE: z.string().optional(),
  /** Source of `clusterd mirror`: its URL or folder, and the public key and the domain of its logs. */
  MIRROR_URL: markAsSecret(
    z.string().regex(/[/\\]/, 'must be an http(s) URL, or the path of a folder (./log)').optional(),
  ),
  MIRROR_KEY: z.base64().length(44, 'must be 32 bytes in base64').optional(),
  MIRROR_DOMAIN: z.string().optional(),
  /** Name of a log to mirror even if it does not continue the log that was mirrored before. */
  MIRROR_ACCEPT: z.string().optional(),
  /** Name under which `clusterd mirror` signs checkpoints as a witness, by LOG_KEY. */
  MIRROR_WITNESS: z
    .string()
    .regex(/^[^\s+]{1,255}$/, 'must be a name without spaces and +')
    .optional(),
  /** API key with which `clusterd mirror` reads its source. */
  MIRROR_API_KEY: markAsSecret(
    z.string().startsWith('ck_', 'must be an API key (ck_…)').optional(),
  ),
  /** Secret from which authentication keys are derived. */
  TOKEN_KEY: markAsSecret(key32Schema.optional()),
  /**
   * Keys that encrypt the key shares of generated wallets, the current one first. Earlier keys still decrypt. Without
   * such a key no wallet is generated.
   */
  SHARE_KEY: markAsSecret(keys32Schema.default([])),
  /** Whether rate limits apply. */
  LIMITS: onOrOffSchema('on'),
  /** Requests per second and burst of an address without an API key. */
  LIMIT_ADDRESS: rateSchema.default({ perSecond: 50, burst: 300 }),
  /** Requests per second and burst of an API key, and of all keys at one address. */
  LIMIT_KEY: rateSchema.default({ perSecond: 500, burst: 3_000 }),
  /**
   * Limits of a wallet on a network: signed changes per minute and per day, new clusters per day, and names below free
   * communities per day.
   */
  LIMIT_CHANGES_MINUTE: countLimitSchema.default(60),
  LIMIT_CHANGES_DAY: countLimitSchema.default(1_000),
  LIMIT_CLUSTERS_DAY: countLimitSchema.default(10),
  LIMIT_NAMES_DAY: countLimitSchema.default(10),
  /** API keys that an address may make in a day. */
  LIMIT_KEYS_DAY: countLimitSchema.default(10),
  /** Whether webhooks may use private addresses, and HTTP without TLS. */
  WEBHOOKS_PRIVATE: trueOrFalseSchema,
  /** Whether the indexer maintains the views of `registry_v1` (docs/use/sql.md). */
  SQL_VIEWS: onOrOffSchema('off'),
  /** Proxies that are trusted to name the client in X-Forwarded-For. */
  TRUST_PROXY: proxiesSchema.optional(),
  /** Time for which an idle connection stays open. It has to exceed the idle timeout of a proxy in front of the API. */
  KEEP_ALIVE_SECONDS: wholeNumberSchema(1, 3_600).default(65),
  /** Lifetime of an authentication key. */
  SESSION_DAYS: wholeNumberSchema(1, 365).default(DEFAULT_SESSION_DAYS),
  /** Factories that signatures of undeployed smart wallets may name (ERC-6492); default: PUBLIC_WALLET_FACTORIES. */
  WALLET_FACTORIES: commaListSchema.pipe(z.array(evmAddress)).default([...PUBLIC_WALLET_FACTORIES]),
  /** Adds the test wallet of a local world to the pages. */
  CLUSTERD_TEST_WALLET: trueOrFalseSchema,
  /** Texts of the alarms that the seeds of a local world raise, joined by commas. */
  CLUSTERD_SEEDED_ALARMS: commaListSchema.default([]),
  /** For tests, `name:count`: the process kills itself when it passes this fail point for the count-th time. */
  CLUSTERD_FAILPOINT: z
    .string()
    .regex(/^[a-z_.]+(:[1-9][0-9]*)?$/, 'must be name or name:count')
    .optional(),
})

const rateLimitsOf = (set: z.output<typeof variablesSchema>) => ({
  address: set.LIMIT_ADDRESS,
  key: set.LIMIT_KEY,
  changesPerMinute: set.LIMIT_CHANGES_MINUTE,
  changesPerDay: set.LIMIT_CHANGES_DAY,
  clustersPerDay: set.LIMIT_CLUSTERS_DAY,
  namesPerDay: set.LIMIT_NAMES_DAY,
  keysPerDay: set.LIMIT_KEYS_DAY,
})

const keySources = (set: z.output<typeof variablesSchema>, role: 'RELAYER' | 'ENS') => ({
  privateKey: set[`${role}_PRIVATE_KEY`],
  keystore: set[`${role}_KEYSTORE`],
  passwordFile: set[`${role}_PASSWORD_FILE`],
  signerUrl: set[`${role}_SIGNER_URL`],
  address: set[`${role}_ADDRESS`],
})

const environmentSchema = variablesSchema
  .transform((set) => {
    const home = resolve(set.CLUSTERD_HOME)
    return {
      /** Absolute path of the data folder. */
      home,
      chainsFile: resolve(set.CLUSTERD_CHAINS ?? `${home}/chains.json`),
      databaseUrl: set.DATABASE_URL,
      databaseDirectUrl: set.DATABASE_DIRECT_URL ?? set.DATABASE_URL,
      migrates: set.MIGRATE,
      /** Undefined where PORT is not set: the caller chooses a port. */
      port: set.PORT,
      opsPort: set.OPS_PORT,
      host: set.HOST,
      opsHost: set.OPS_HOST,
      opsToken: set.OPS_TOKEN,
      roles: set.ROLES,
      relayWatch: set.RELAY_WATCH,
      drainMs: set.DRAIN_SECONDS * 1_000,
      logLevel: set.LOG_LEVEL,
      logFormat: set.LOG_FORMAT,
      serviceDomain: set.SERVICE_DOMAIN,
      /** Undefined where SITE_URL is not set: browsers then reach the service at localhost. */
      siteUrl: set.SITE_URL,
      securityContact: set.SECURITY_CONTACT,
      databasePool: set.DATABASE_POOL,
      relayerKeySources: keySources(set, 'RELAYER'),
      ensKeySources: keySources(set, 'ENS'),
      /** Secret keys of the relayers on chains that are not EVM chains, by chain family. */
      relayKeys: { solana: set.SOLANA_RELAYER_PRIVATE_KEY },
      airdropOperatorKey: set.AIRDROP_OPERATOR_PRIVATE_KEY,
      solanaRpcUrl: set.SOLANA_RPC_URL,
      quoteKeys: set.QUOTE_KEY,
      logKeySources: {
        seeds: set.LOG_KEY,
        keystore: set.LOG_KEYSTORE,
        passwordFile: set.LOG_PASSWORD_FILE,
      },
      logWitnesses: set.LOG_WITNESSES,
      mirrorSource: {
        url: set.MIRROR_URL,
        key: set.MIRROR_KEY,
        domain: set.MIRROR_DOMAIN,
        accept: set.MIRROR_ACCEPT,
        witness: set.MIRROR_WITNESS,
        apiKey: set.MIRROR_API_KEY,
      },
      tokenKey: set.TOKEN_KEY,
      shareKeys: set.SHARE_KEY,
      /** null: no rate limits. */
      limits: set.LIMITS ? rateLimitsOf(set) : null,
      webhooksPrivate: set.WEBHOOKS_PRIVATE,
      isSqlServed: set.SQL_VIEWS,
      trustProxy: set.TRUST_PROXY ?? 0,
      keepAliveMs: set.KEEP_ALIVE_SECONDS * 1_000,
      sessionLifetimeMs: set.SESSION_DAYS * DAY_MS,
      walletFactories: set.WALLET_FACTORIES,
      hasTestWallet: set.CLUSTERD_TEST_WALLET,
      seededAlarms: set.CLUSTERD_SEEDED_ALARMS,
      failpoint: set.CLUSTERD_FAILPOINT,
    }
  })
  .readonly()

export type Environment = z.output<typeof environmentSchema>

/** Command-line options, under the variables' names. They take precedence over the environment. */
export type CommandFlags = Partial<
  Record<keyof z.input<typeof variablesSchema>, string | undefined>
>

/** True if a local world (a test network on this machine) started this process. */
export const isStartedByLocalWorld = (): boolean => Boolean(process.env.CLUSTERD_CHILD)

/**
 * Sets missing variables from the file `.env` of the current folder, then from the `.env` of a local world in the
 * data folder. A process that a local world started has all of its variables already.
 */
export function loadEnvFile(): void {
  // both URLs must lead to one server: with `DATABASE_URL=<a restored copy> clusterd …`, the file's DATABASE_DIRECT_URL
  // would lead to another
  if (process.env.DATABASE_URL || process.env.DATABASE_URL_FILE)
    for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL'])
      for (const variable of [name, `${name}_FILE`]) process.env[variable] ??= ''
  for (const file of envFiles()) process.loadEnvFile(file)
}

/**
 * Paths of the `.env` files to load. A generator, because the first file may set CLUSTERD_HOME, the folder of the
 * second.
 */
function* envFiles(): Generator<string> {
  if (isStartedByLocalWorld()) return
  if (existsSync('.env')) yield '.env'
  const ofWorld = join(process.env.CLUSTERD_HOME || '.clusterd', '.env')
  if (existsSync(ofWorld)) yield ofWorld
}

/** Lines of the loaded `.env` files that systemd or Docker Compose may have read differently than this process. */
export const findAmbiguousEnvLines = () =>
  [...envFiles()].flatMap((file) =>
    findEnvFileFaults(readFileSync(file, 'utf8')).map(({ line, variable, found, remedy }) => ({
      about: `${file}, line ${line}${variable === null ? '' : ` (${variable})`}`,
      found,
      remedy,
    })),
  )

/** Variables that `clusterd dev` passes to the daemon of its local world (listed in docs/run/configuration.md). */
const LOCAL_DAEMON_VARIABLE_PATTERN =
  /^(HOST|LOG_LEVEL|SERVICE_DOMAIN|SITE_URL|DATABASE_POOL|SESSION_DAYS|WALLET_FACTORIES|WEBHOOKS_PRIVATE|SQL_VIEWS|LIMIT_\w+|CLUSTERD_FAILPOINT)$/

export const selectLocalDaemonVariables = (
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) => value && LOCAL_DAEMON_VARIABLE_PATTERN.test(name),
    ),
  )

/** Environment variables of this process with further variables, for a program that a command starts. */
export const environmentWithVariables = (
  more: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv => ({
  ...process.env,
  ...more,
})

/**
 * Reads the environment variables, and the secret files that they name. An empty variable counts as unset. Only this
 * file reads process.env.
 * @throws ConfigError
 */
export function readEnvironment(
  env: NodeJS.ProcessEnv = process.env,
  flags: CommandFlags = {},
): Environment {
  const given = [...Object.entries(env), ...Object.entries(flags)]
  const set = Object.fromEntries(given.filter(([, value]) => value !== '' && value !== undefined))
  const { values, nameOf } = readSecretFiles(variablesSchema.shape, set)
  return parseConfigInput(environmentSchema, values, 'the environment', nameOf)
}
