import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { z } from 'zod'
import { lookupAddress } from '../registry/primitives/address.js'
import { fromHex } from '../registry/primitives/bytes.js'
import { NETWORK_LABELS } from '../registry/primitives/network.js'
import { parseSolanaSecretKey } from './solanaKey.js'

/** Everything that runs from the environment and the chains file, checked and frozen. The only reader of process.env. */

const hex = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`), `must be 0x and ${bytes * 2} hex digits`)
    .transform((text) => text.toLowerCase() as `0x${string}`)
const rpcUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
const wsUrl = z.url({ protocol: /^wss?$/, error: 'must be a ws(s) URL' })
const wei = z.string().regex(/^(0|[1-9][0-9]{0,77})$/, 'must be a decimal amount of wei')

const evmChain = z.strictObject({
  kind: z.literal('evm').default('evm'),
  network: z.enum(['mainnet', 'testnet']),
  label: z.string().refine((label) => label in NETWORK_LABELS, 'is not a network label of the interface'),
  role: z.enum(['hub', 'spoke']),
  chainId: z.int().positive(),
  /** Hash of block 0: tells a chain from another one under the same id. */
  genesisHash: hex(32).optional(),
  rpcUrls: z.array(rpcUrl).min(1),
  wsUrl: wsUrl.optional(),
  /** The hub or spoke contract, and LayerZero's endpoint on that chain. */
  contract: hex(20),
  endpoint: hex(20).optional(),
  /** The contract that takes payments for names of communities; without it none are sold there. */
  communityPayments: hex(20).optional(),
  /** LayerZero's endpoint id. */
  eid: z.int().positive().optional(),
  /** The message library of a local chain, which believes the relayer's word. */
  messageLib: hex(20).optional(),
  startBlock: z.int().nonnegative().default(0),
  confirmation: z.union([z.literal('finalized'), z.strictObject({ blocks: z.int().nonnegative() })]).optional(),
  pollMs: z.int().positive().default(2_000),
  gasToken: z
    .strictObject({ symbol: z.string().min(1), decimals: z.literal(18).default(18) })
    .default({ symbol: 'ETH', decimals: 18 }),
  /** Added to what the bridge takes beyond the delivered amount, percent; the endpoint pays the excess back. */
  bridgeMarginPercent: z.int().min(0).max(100).default(5),
  /** A chain of local tests: its launcher may restore an older state. */
  local: z.boolean().default(false),
  /** The contracts are somebody else's: indexed under our rules, no copy of anybody's registry. */
  watchOnly: z
    .strictObject({
      minimum: z.array(z.strictObject({ fromBlock: z.int().nonnegative(), wei })).default([]),
      quotes: z.boolean().default(false),
    })
    .optional(),
})

/** What the relayer may do on a network's hub. */
const deliveries = z.strictObject({
  /** Execute packets that the bridge's own executors left lying. A local network executes everything in any case. */
  executeStranded: z.boolean().default(false),
  /** The most that a message may cost, its value and gas together; default 1 ETH, on a local hub 100 ETH. */
  spendCapWei: wei.transform(BigInt).optional(),
  /** A packet counts as left lying when it was sent this long ago and the hub has not taken it. */
  strandedAfterMs: z
    .int()
    .positive()
    .default(30 * 60_000),
})

/** 32 bytes in base58, as Solana writes keys and hashes. */
const solana32 = z.string().refine((text) => lookupAddress(text)?.type === 'solana', 'must be 32 bytes in base58')

/** The Solana cluster of a network. */
const solana = z.strictObject({
  rpcUrls: z.array(rpcUrl).min(1),
  /** Only wake the watcher. */
  wsUrls: z.array(wsUrl).default([]),
  programId: solana32,
  /** Tells a cluster from another one; learned at the first start where it is not given. */
  genesisHash: solana32.optional(),
  /** The slot of the program's deployment: payments before it are not asked for. */
  startSlot: z.int().nonnegative().default(0),
  /** What a payment has to reach before it is believed. */
  commitment: z.enum(['finalized', 'confirmed']).default('finalized'),
  pollMs: z.int().positive().default(2_000),
  /** AggregatorV3 price feeds on the network's hub. */
  feeds: z.strictObject({
    solUsd: hex(20),
    ethUsd: hex(20),
    /** A price that was set longer ago is refused; feeds of a heartbeat of a day need more than that. */
    maxAgeSeconds: z.int().positive().default(90_000),
    /** A price that is further than this from the one of the last quotes is refused. */
    maxMovePercent: z.int().positive().default(10),
  }),
  quoteLifetimeSeconds: z.int().min(60).max(3_600).default(600),
  /** Whether the relayer pays refunds back by itself; else an operator does (`clusterd refunds`). */
  refunds: z.strictObject({ auto: z.boolean().default(false) }).prefault({}),
})

const chainsFileForm = z.strictObject({
  chains: z.array(evmChain).min(1),
  solana: z.strictObject({ mainnet: solana.optional(), testnet: solana.optional() }).prefault({}),
  deliveries: z.strictObject({ mainnet: deliveries.prefault({}), testnet: deliveries.prefault({}) }).prefault({}),
})
const chainsFile = chainsFileForm.superRefine(({ chains, solana }, ctx) => {
  const seen = new Set<string>()
  chains.forEach((chain, i) => {
    if (NETWORK_LABELS[chain.label] !== chain.network) {
      ctx.addIssue({
        code: 'custom',
        path: ['chains', i, 'network'],
        message: `label "${chain.label}" belongs to the other network`,
      })
    }
    if (seen.has(chain.label))
      ctx.addIssue({ code: 'custom', path: ['chains', i, 'label'], message: `"${chain.label}" is listed twice` })
    seen.add(chain.label)
    if (chain.communityPayments && chain.watchOnly)
      ctx.addIssue({ code: 'custom', path: ['chains', i, 'communityPayments'], message: 'does not go with watchOnly' })
    if (chain.communityPayments === chain.contract)
      ctx.addIssue({
        code: 'custom',
        path: ['chains', i, 'communityPayments'],
        message: 'is the hub or spoke contract',
      })
  })
  for (const network of ['mainnet', 'testnet'] as const) {
    const of = chains.filter((chain) => chain.network === network)
    const hubs = of.filter((chain) => chain.role === 'hub').length
    if ((of.length > 0 || solana[network]) && hubs !== 1)
      ctx.addIssue({ code: 'custom', path: ['chains'], message: `${network} needs exactly one hub, has ${hubs}` })
    if (solana[network] && of.some((chain) => chain.role === 'hub' && chain.watchOnly))
      ctx.addIssue({ code: 'custom', path: ['solana', network], message: 'can pay for nothing: the hub is watch-only' })
  }
})

const DEFAULT_SPEND_CAP_WEI = 10n ** 18n
const LOCAL_SPEND_CAP_WEI = 100n * 10n ** 18n

export type DeliverySettings = Required<z.infer<typeof deliveries>>

export type ChainConfig = Omit<z.infer<typeof evmChain>, 'confirmation'> & {
  confirmation: 'finalized' | { blocks: number }
}

export type SolanaConfig = Readonly<z.infer<typeof solana>>

const privateKey = hex(32).refine(
  (key) => secp256k1.utils.isValidSecretKey(fromHex(key)),
  'is no private key of an EVM account',
)

const solanaKey = z.string().transform((text, ctx) => {
  const key = parseSolanaSecretKey(text)
  if (key) return key
  ctx.addIssue({ code: 'custom', message: 'is no secret key of a Solana account (64 bytes, base58 or a JSON array)' })
  return z.NEVER
})

const DEFAULT_SESSION_DAYS = 14
const DAY_MS = 24 * 60 * 60_000

const port = z.coerce.number().int().min(0).max(65_535)
const environment = z.object({
  CLUSTERD_HOME: z.string().min(1).default('.clusterd'),
  CLUSTERD_CHAINS: z.string().min(1).optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' }).optional(),
  PORT: port.optional(),
  OPS_PORT: port.optional(),
  HOST: z.string().min(1).default('127.0.0.1'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  LOG_FORMAT: z.enum(['json', 'pretty']).optional(),
  SERVICE_DOMAIN: z.string().min(1).default('localhost'),
  SITE_URL: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  DATABASE_POOL: z.coerce.number().int().min(2).max(1_000).default(10),
  RELAYER_PRIVATE_KEY: privateKey.optional(),
  SOLANA_RELAYER_PRIVATE_KEY: solanaKey.optional(),
  SOLANA_RPC_URL: rpcUrl.optional(),
  AIRDROP_OPERATOR_PRIVATE_KEY: privateKey.optional(),
  QUOTE_KEY: hex(32).optional(),
  TOKEN_KEY: hex(32).optional(),
  SHARE_KEY: hex(32).optional(),
  SESSION_DAYS: z.coerce.number().int().min(1).max(365).default(DEFAULT_SESSION_DAYS),
  ERC6492: z.enum(['true', 'false']).default('false'),
  CLUSTERD_PARENT_PID: z.coerce.number().int().positive().optional(),
  CLUSTERD_FAILPOINT: z
    .string()
    .regex(/^[a-z_.]+(:[1-9][0-9]*)?$/, 'must be name or name:count')
    .optional(),
})

export const DEFAULT_PORT = 3000
export const DEFAULT_OPS_PORT = 3001

export interface Environment {
  /** Absolute path of the data folder. */
  home: string
  chainsFile: string
  databaseUrl: string | undefined
  /** undefined: not set, the caller picks. */
  port: number | undefined
  opsPort: number | undefined
  host: string
  logLevel: string
  logFormat: 'json' | 'pretty' | undefined
  /** Names the service in the signing message; never taken from a header. */
  serviceDomain: string
  /** Where people's browsers reach the site; undefined: not set, this machine. */
  siteUrl: string | undefined
  databasePool: number
  /** The account that pays for deliveries; without it nothing is delivered. */
  relayerPrivateKey: `0x${string}` | undefined
  /** The 64 bytes of the relay authority's key on Solana; without it nothing is settled or refunded. */
  solanaRelayerKey: Uint8Array | undefined
  /** Permits that airdrops of Solana accounts are paid to EVM wallets of the same bundle; without it they can't be claimed. */
  airdropOperatorKey: `0x${string}` | undefined
  /** A local Solana cluster with a faucet, for `dev` and `demo` where Surfpool doesn't run. */
  solanaRpcUrl: string | undefined
  /** The 32 bytes under which quotes on Solana are signed; without it one of the database's own. */
  quoteKey: Uint8Array | undefined
  /** The 32 bytes from which authentication keys follow; without it those of the database. */
  tokenKey: Uint8Array | undefined
  /** The 32 bytes under which shares of generated wallets are kept; without them no wallet is generated. */
  shareKey: Uint8Array | undefined
  /** How long an authentication key is valid. */
  sessionLifetimeMs: number
  /** Signatures of smart wallets that are not deployed yet are judged too (ERC-6492). */
  acceptsErc6492: boolean
  /** The daemon ends when this process is gone. */
  parentPid: number | undefined
  /** `name:count`: the process kills itself at the count-th pass of that point (tests). */
  failpoint: string | undefined
}

export interface Config extends Environment {
  databaseUrl: string
  port: number
  opsPort: number
  siteUrl: string
  chains: readonly ChainConfig[]
  deliveries: Readonly<Record<'mainnet' | 'testnet', DeliverySettings>>
  /** The Solana cluster of each network that has one; its network label is "solana". */
  solana: Readonly<Partial<Record<'mainnet' | 'testnet', SolanaConfig>>>
}

/** A configuration that can't be used: one sentence that names the field. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Reads the environment alone (for commands that need no chain). Throws ConfigError. */
export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(set)
  if (!parsed.success) throw new ConfigError(sentence('the environment', parsed.error))
  const e = parsed.data
  const home = resolve(e.CLUSTERD_HOME)
  return Object.freeze({
    home,
    chainsFile: resolve(e.CLUSTERD_CHAINS ?? `${home}/chains.json`),
    databaseUrl: e.DATABASE_URL,
    port: e.PORT,
    opsPort: e.OPS_PORT,
    host: e.HOST,
    logLevel: e.LOG_LEVEL,
    logFormat: e.LOG_FORMAT,
    serviceDomain: e.SERVICE_DOMAIN,
    siteUrl: e.SITE_URL,
    databasePool: e.DATABASE_POOL,
    relayerPrivateKey: e.RELAYER_PRIVATE_KEY,
    solanaRelayerKey: e.SOLANA_RELAYER_PRIVATE_KEY,
    airdropOperatorKey: e.AIRDROP_OPERATOR_PRIVATE_KEY,
    solanaRpcUrl: e.SOLANA_RPC_URL,
    quoteKey: e.QUOTE_KEY && fromHex(e.QUOTE_KEY),
    tokenKey: e.TOKEN_KEY && fromHex(e.TOKEN_KEY),
    shareKey: e.SHARE_KEY && fromHex(e.SHARE_KEY),
    sessionLifetimeMs: e.SESSION_DAYS * DAY_MS,
    acceptsErc6492: e.ERC6492 === 'true',
    parentPid: e.CLUSTERD_PARENT_PID,
    failpoint: e.CLUSTERD_FAILPOINT,
  })
}

/** Reads the environment and the chains file: what `clusterd start` runs from. Throws ConfigError. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const base = readEnvironment(env)
  if (!base.databaseUrl)
    throw new ConfigError(
      'DATABASE_URL is not set: `clusterd start` needs a PostgreSQL from 14 on (`clusterd dev` brings its own).',
    )
  return Object.freeze({
    ...base,
    databaseUrl: base.databaseUrl,
    port: base.port ?? DEFAULT_PORT,
    siteUrl: base.siteUrl ?? `http://localhost:${base.port ?? DEFAULT_PORT}`,
    opsPort: base.opsPort ?? DEFAULT_OPS_PORT,
    ...readChains(base.chainsFile),
  })
}

export type ChainsFile = Pick<Config, 'chains' | 'deliveries' | 'solana'>

/** Reads and checks a chains file. Throws ConfigError. */
export function readChains(file: string): ChainsFile {
  if (!existsSync(file))
    throw new ConfigError(
      `The chains file ${file} does not exist: set CLUSTERD_CHAINS to one (docs/configuration.md shows its form).`,
    )
  let json: unknown
  try {
    json = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConfigError(`The chains file ${file} is not JSON: ${(error as Error).message}.`)
  }
  return parseChainsFile(json, file)
}

/** Checks the content of a chains file and gives its chains. Throws ConfigError. */
export const parseChains = (json: unknown, file: string): readonly ChainConfig[] => parseChainsFile(json, file).chains

/** Checks the content of a chains file. Throws ConfigError. */
export function parseChainsFile(json: unknown, file: string): ChainsFile {
  const parsed = chainsFile.safeParse(json)
  if (!parsed.success) throw new ConfigError(sentence(`the chains file ${file}`, parsed.error))
  const chains = Object.freeze(
    parsed.data.chains.map((chain) =>
      Object.freeze({
        ...chain,
        confirmation: chain.confirmation ?? (chain.role === 'hub' ? 'finalized' : { blocks: 10 }),
      }),
    ),
  )
  const settingsOf = (network: 'mainnet' | 'testnet'): DeliverySettings => {
    const isLocal = chains.some((chain) => chain.network === network && chain.role === 'hub' && chain.local)
    const settings = parsed.data.deliveries[network]
    return { ...settings, spendCapWei: settings.spendCapWei ?? (isLocal ? LOCAL_SPEND_CAP_WEI : DEFAULT_SPEND_CAP_WEI) }
  }
  const deliveries = Object.freeze({ mainnet: settingsOf('mainnet'), testnet: settingsOf('testnet') })
  return { chains, deliveries, solana: Object.freeze(parsed.data.solana) }
}

function sentence(where: string, error: z.ZodError): string {
  const issue = error.issues[0]!
  const path = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  const more = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : ''
  return `In ${where}, ${path.replace(/^\./, '') || 'the content'}: ${issue.message}${more}.`
}
