import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { NETWORK_LABELS, NETWORKS } from '../registry/primitives/network.js'
import { ConfigError, parseInput } from './error.js'
import { hex, httpUrl, solana32, wei, wsUrl } from './fields.js'

/** Confirmation policy of a chain: the node's `finalized` block, or a number of blocks on top. */
const confirmation = z.union([z.literal('finalized'), z.strictObject({ blocks: z.int().nonnegative() })])
const DEFAULT_CONFIRMATION = { hub: 'finalized', spoke: { blocks: 10 } } as const

const evmChain = z
  .strictObject({
    kind: z.literal('evm').default('evm'),
    network: z.enum(NETWORKS),
    label: z.string().refine((label) => label in NETWORK_LABELS, 'is not a network label of the interface'),
    role: z.enum(['hub', 'spoke']),
    chainId: z.int().positive(),
    /** Hash of block 0: tells a chain from another one under the same id. */
    genesisHash: hex(32).optional(),
    rpcUrls: z.array(httpUrl).min(1),
    /** New heads wake the indexer. */
    wsUrl: wsUrl.optional(),
    /** The hub or spoke contract. */
    contract: hex(20),
    /** LayerZero's endpoint on the chain. */
    endpoint: hex(20).optional(),
    /** The contract that takes payments for community names; none are sold on the chain without it. */
    communityPayments: hex(20).optional(),
    /** LayerZero's endpoint id. */
    eid: z.int().positive().optional(),
    /** The message library of a local chain, which trusts the relayer. */
    messageLib: hex(20).optional(),
    startBlock: z.int().nonnegative().default(0),
    confirmation: confirmation.optional(),
    pollMs: z.int().positive().default(2_000),
    /** The most that the relayer pays for a unit of gas; default 20 times the median of the last day. */
    maxGasPriceWei: wei.transform(BigInt).optional(),
    gasToken: z
      .strictObject({ symbol: z.string().min(1), decimals: z.literal(18).default(18) })
      .default({ symbol: 'ETH', decimals: 18 }),
    /** Added to the bridge's fee on top of the delivered amount, percent; the endpoint pays the excess back. */
    bridgeMarginPercent: z.int().min(0).max(100).default(5),
    /** A chain of local tests: its launcher may restore an older state. */
    local: z.boolean().default(false),
    /** Contracts of others, indexed under our rules: the result may differ from their registry. */
    watchOnly: z
      .strictObject({
        minimum: z.array(z.strictObject({ fromBlock: z.int().nonnegative(), wei })).default([]),
        quotes: z.boolean().default(false),
      })
      .optional(),
  })
  .transform((chain) => ({ ...chain, confirmation: chain.confirmation ?? DEFAULT_CONFIRMATION[chain.role] }))
  .readonly()

/** Permissions of the relayer on a network's hub. */
const deliveries = z.strictObject({
  /** Executes packets that the bridge's own executors left stuck. A local network executes all packets. */
  executeStranded: z.boolean().default(false),
  /** Upper bound on the cost of a message, value and gas; default 1 ETH, on a local hub 100 ETH. */
  spendCapWei: wei.transform(BigInt).optional(),
  /** The most that the relayer signs for on a chain in a day (UTC), value and gas of all; default 5 times the above. */
  dailyCapWei: wei.transform(BigInt).optional(),
  /** Age from which a packet counts as stuck, while the hub has not received it. */
  strandedAfterMs: z
    .int()
    .positive()
    .default(30 * 60_000),
})

/** The Solana cluster of a network. */
const solanaCluster = z
  .strictObject({
    rpcUrls: z.array(httpUrl).min(1),
    /** Logs of the program wake the watcher. */
    wsUrls: z.array(wsUrl).default([]),
    programId: solana32,
    /** Tells a cluster from another one; learned at the first start where it is left out. */
    genesisHash: solana32.optional(),
    /** The slot of the program's deployment: earlier payments are not read. */
    startSlot: z.int().nonnegative().default(0),
    /** The commitment at which a payment counts as confirmed. */
    commitment: z.enum(['finalized', 'confirmed']).default('finalized'),
    pollMs: z.int().positive().default(2_000),
    /** AggregatorV3 price feeds on the network's hub. */
    feeds: z.strictObject({
      solUsd: hex(20),
      ethUsd: hex(20),
      /** An older price is refused; a feed with a heartbeat of one day needs more than that. */
      maxAgeSeconds: z
        .union([z.int().positive(), z.strictObject({ solUsd: z.int().positive(), ethUsd: z.int().positive() })])
        .default(90_000)
        .transform((age) => (typeof age === 'number' ? { solUsd: age, ethUsd: age } : age)),
      /** A price further than this from that of the last quotes is refused. */
      maxMovePercent: z.int().positive().default(10),
    }),
    quoteLifetimeSeconds: z.int().min(60).max(3_600).default(600),
    /** Refunds are sent without an operator's command. */
    refunds: z.strictObject({ auto: z.boolean().default(false) }).prefault({}),
    /** The most that the relay authority pays for a compute unit, millionths of a lamport. */
    maxUnitPrice: z.int().nonnegative().default(1_000_000),
  })
  .readonly()

const sections = z.strictObject({
  chains: z.array(evmChain).min(1).readonly(),
  solana: z.strictObject({ mainnet: solanaCluster.optional(), testnet: solanaCluster.optional() }).prefault({}),
  deliveries: z.strictObject({ mainnet: deliveries.prefault({}), testnet: deliveries.prefault({}) }).prefault({}),
  payments: z
    .strictObject({
      /** Age from which payments whose registration is final are released to their recipients. */
      releaseAfterMs: z
        .int()
        .nonnegative()
        .default(5 * 86_400_000),
      /**
       * Payments in a chain's own coin below this many times the cost of their refusal are left to their payers;
       * default 1, with a local hub 0.
       */
      refusalWorth: z.number().nonnegative().optional(),
    })
    .prefault({}),
})
type Sections = z.output<typeof sections>

const DEFAULT_SPEND_CAP_WEI = 10n ** 18n
const LOCAL_SPEND_CAP_WEI = 100n * 10n ** 18n
const DAILY_CAPS = 5n
const LOCAL_DAILY_CAP_WEI = 10n ** 24n

const chainsFile = sections
  .superRefine((file, ctx) => {
    const issue = (path: (string | number)[], message: string) => ctx.addIssue({ code: 'custom', path, message })
    checkChains(file, issue)
    checkNetworks(file, issue)
  })
  .transform(({ deliveries: { mainnet, testnet }, ...file }) => {
    const settingsOf = (network: 'mainnet' | 'testnet', settings: typeof mainnet) => {
      const isLocal = file.chains.some((chain) => chain.network === network && chain.role === 'hub' && chain.local)
      const spendCapWei = settings.spendCapWei ?? (isLocal ? LOCAL_SPEND_CAP_WEI : DEFAULT_SPEND_CAP_WEI)
      const dailyCapWei = settings.dailyCapWei ?? (isLocal ? LOCAL_DAILY_CAP_WEI : DAILY_CAPS * spendCapWei)
      const { releaseAfterMs, refusalWorth = isLocal ? 0 : 1 } = file.payments
      return { ...settings, spendCapWei, dailyCapWei, releaseAfterMs, refusalWorth }
    }
    return { ...file, deliveries: { mainnet: settingsOf('mainnet', mainnet), testnet: settingsOf('testnet', testnet) } }
  })
  .readonly()

type Issue = (path: (string | number)[], message: string) => void

function checkChains({ chains }: Sections, issue: Issue): void {
  chains.forEach(({ label, network, contract, communityPayments, watchOnly }, i) => {
    if (NETWORK_LABELS[label] !== network)
      issue(['chains', i, 'network'], `label "${label}" belongs to the other network`)
    if (chains.findIndex((chain) => chain.label === label) < i)
      issue(['chains', i, 'label'], `"${label}" is listed twice`)
    if (communityPayments && watchOnly) issue(['chains', i, 'communityPayments'], 'does not go with watchOnly')
    if (communityPayments === contract) issue(['chains', i, 'communityPayments'], 'is the hub or spoke contract')
  })
}

function checkNetworks({ chains, solana }: Sections, issue: Issue): void {
  for (const network of NETWORKS) {
    const ofNetwork = chains.filter((chain) => chain.network === network)
    const hubs = ofNetwork.filter(({ role }) => role === 'hub')
    if ((ofNetwork.length > 0 || solana[network]) && hubs.length !== 1)
      issue(['chains'], `${network} needs exactly one hub, has ${hubs.length}`)
    if (solana[network] && hubs.some(({ watchOnly }) => watchOnly))
      issue(['solana', network], 'can pay for nothing: the hub is watch-only')
    if (solana[network]?.commitment === 'confirmed' && !hubs.some(({ local }) => local))
      issue(['solana', network, 'commitment'], 'is "finalized" outside local worlds: a confirmed payment may vanish')
  }
}

export type ChainsFile = z.output<typeof chainsFile>
export type ChainConfig = z.output<typeof evmChain>
export type SolanaConfig = z.output<typeof solanaCluster>
export type DeliverySettings = ChainsFile['deliveries']['mainnet']

/** Reads and checks a chains file. @throws ConfigError */
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

/** Checks the content of a chains file. @throws ConfigError */
export function parseChainsFile(json: unknown, file: string): ChainsFile {
  return parseInput(chainsFile, json, `the chains file ${file}`)
}
