import type { Network } from '../registry/primitives/network.js'
import { type Bridge, createBridgeControls } from './bridge.js'
import { assertWholeNumber, WorldError } from './chains/actions.js'
import type { LocalChain } from './chains/localChain.js'
import {
  type ChainLabel,
  chooseLocalChains,
  type HubLabel,
  type LocalChainDefinition,
  type NetworkOf,
} from './chains/localChains.js'
import { seedCommunities } from './communitySeeds.js'
import { setEnsGatewayOfHubs, writeLocalChainsFiles } from './contracts/localContracts.js'
import { setPrice } from './contracts/priceFeed.js'
import { startLocalNonEvmChains } from './families.js'
import type { LocalNonEvmChain } from './nonEvmChain.js'
import type { DaemonEnvironment, DaemonProcess } from './processes/daemonProcess.js'
import { createSandbox, destroySandbox, type Sandbox } from './processes/sandbox.js'
import { seededAlarmText, seedNetwork } from './seeds.js'
import type { LocalSolana } from './solana/localSolana.js'
import {
  type AttachedRpcUrls,
  allSettledOrThrow,
  daemonEnvironment,
  type PostgresHandle,
  requireFreePort,
  startChains,
  startDaemon,
  startDatabase,
} from './stackParts.js'
import { until } from './until.js'
import {
  removeWorldFiles,
  type Seed,
  type World,
  type WorldNetwork,
  worldEvmAccounts,
  writeWorldFiles,
} from './world.js'

const DEFAULT_BLOCK_MS = 1_000
/** Shortest block time that can be chosen, ms. Mining a block takes about as long. */
const LEAST_BLOCK_MS = 10

export interface StackOptions<N extends Network = Network, L extends ChainLabel = ChainLabel> {
  /** Home folder of the local world, which `stop` keeps. Default: a temporary folder, which `stop` removes. */
  home?: string
  /** Networks to start. Default: the networks of `chains`, or else both. */
  networks?: readonly N[]
  /** Network labels of the chains to start. Each spoke needs its hub. Default: all chains of the networks. */
  chains?: readonly L[]
  /**
   * True to start Solana, if Surfpool is installed or `solanaRpcUrl` is given. Default: true, but false if `chains` are
   * given.
   */
  solana?: boolean
  /** RPC URL of a running local Solana cluster with a faucet, to use instead of Surfpool. */
  solanaRpcUrl?: string
  /** Milliseconds between the blocks of every chain. Default 1000. */
  blockMs?: number
  /** RPC URLs, by label, of chains that already run (Foundry's anvil, Hardhat's node). */
  attach?: AttachedRpcUrls
  /** Port of the API. Default: a free port. */
  port?: number
  /** Port of the operator's routes. Default: a free port. */
  opsPort?: number
  /** URL of a PostgreSQL database to use instead of an embedded server. */
  databaseUrl?: string
  /** True to register a few names at the first start. Default: true, but false where a chain is attached. */
  seeds?: boolean
  /** True to apply rate limits to clients of the API. Default false. */
  limits?: boolean
  /** True to give the web pages a test wallet with the accounts of `World`. Default false. */
  testWallet?: boolean
  /** Receives a line for each step of the start. */
  log?: (line: string) => void
  /** Additional environment variables of the daemon. */
  daemonEnv?: DaemonEnvironment
}

/** A running local world, with the fields of `world`. */
export interface Stack<N extends Network = Network> extends World<N> {
  /** Addresses, accounts and seeds of the local world: the content of stack.json in the home folder. */
  readonly world: World<N>
  readonly home: string
  readonly daemon: DaemonProcess
  /**
   * Chains by their labels (`"8453"`): to mine, reorg, drop transactions and advance clocks; to stop, kill and restart.
   */
  readonly anvils: Readonly<Record<HubLabel<N>, LocalChain> & Record<string, LocalChain>>
  /** Holds, delays and releases bridge messages from spokes to hubs. */
  readonly bridge: Bridge
  /** The clocks of all chains. */
  readonly clock: {
    /** Advances all clocks, and mines a block on each chain. The clocks of database and daemon do not change. */
    advance(seconds: number): Promise<void>
  }
  /** Prices of SOL and ether, from which quotes in SOL are made. */
  readonly prices: {
    /** Sets dollars per SOL and per ether on the hub of a network. Default: mainnet, if the world has it. */
    set(dollars: { sol?: number; ether?: number }, network?: N): Promise<void>
  }
  /** Embedded PostgreSQL server. Undefined where `databaseUrl` was given. */
  readonly postgres: PostgresHandle | undefined
  /** The local Solana cluster. Undefined where Solana was not started. */
  readonly solana: LocalSolana | undefined
  /** Resolves with a sentence when a process of the world ends unexpectedly. */
  readonly failed: Promise<string>
  /** Ends every process, and removes the home folder if it is temporary. Idempotent. */
  stop(): Promise<void>
}

/**
 * Starts a whole local world: PostgreSQL, the chains of the networks with the contracts deployed, a few registered
 * names, and the daemon. In a home folder that was used before, the world continues with its data, also after kill -9.
 * Only a killed chain may have lost up to a minute of blocks. Any number of worlds can run at the same time, one for
 * each home folder.
 * @throws Error with one sentence when the home folder is in use, a port is taken, a package is missing, ...
 */
export async function startStack<N extends Network = Network, L extends ChainLabel = ChainLabel>(
  options: StackOptions<N, L> = {},
): Promise<Stack<N & NetworkOf<L>>> {
  const definitions = chooseLocalChains(options.networks, options.chains)
  const { blockMs = DEFAULT_BLOCK_MS } = options
  assertWholeNumber('blockMs', blockMs, LEAST_BLOCK_MS)
  const sandbox = await createSandbox(options.home, options.log ?? (() => {}))
  try {
    return await buildStack(sandbox, definitions, { ...options, blockMs })
  } catch (error) {
    await destroySandbox(sandbox)
    throw error
  }
}

export interface StackOnRunningChainOptions
  extends Omit<StackOptions<'mainnet', '1'>, 'attach' | 'chains' | 'networks'> {
  /** RPC URL of the chain. */
  rpcUrl: string
}

/** Starts a local world whose mainnet hub, label "1", is a running development chain. */
export const startStackOnRunningChain = ({
  rpcUrl,
  ...options
}: StackOnRunningChainOptions): Promise<Stack<'mainnet'>> =>
  startStack({ ...options, chains: ['1'], attach: { '1': rpcUrl } })

async function buildStack<N extends Network>(
  sandbox: Sandbox,
  definitions: readonly LocalChainDefinition[],
  { blockMs, ...options }: StackOptions<N> & { blockMs: number },
): Promise<Stack<N>> {
  // a killed start may have left stack.json and .env; both are written again once this world is ready
  removeWorldFiles(sandbox.home)

  // choose the ports before anything starts, so that a taken port is reported without waiting for the start
  const [port, opsPort] = await allSettledOrThrow([
    requireFreePort('PORT', options.port),
    requireFreePort('OPS_PORT', options.opsPort),
  ])
  const networks = definitions.filter(({ role }) => role === 'hub').length
  const [database, chains, started] = await allSettledOrThrow([
    startDatabase(sandbox, options.databaseUrl),
    startChains(sandbox, definitions, blockMs, options.attach),
    startLocalNonEvmChains(sandbox, { ...options, blockMs }, networks),
  ])
  const at = {
    api: `http://127.0.0.1:${port}`,
    ops: `http://127.0.0.1:${opsPort}`,
    databaseUrl: database.url,
  }
  const solana = started.solana?.handle
  const nonEvmChains = Object.values(started).filter((chain) => chain !== undefined)
  const hubs = hubsOf(chains)
  await setEnsGatewayOfHubs(hubs, at.api)
  writeLocalChainsFiles(sandbox.home, chains, nonEvmChains, blockMs)
  await Promise.all(chains.map((chain) => chain.resume()))
  const isSeeded = options.seeds ?? !options.attach
  const seededHubs = isSeeded ? hubs.filter((hub) => spokesOf(chains, hub).length > 0) : []
  const daemon = {
    ...at,
    port,
    opsPort,
    env: {
      CLUSTERD_SEEDED_ALARMS: seededHubs.map(({ network }) => seededAlarmText(network)).join(','),
      ...Object.assign({}, ...nonEvmChains.map(({ env }) => env)),
      ...(options.limits && { LIMITS: 'on' }),
      ...(options.testWallet && { CLUSTERD_TEST_WALLET: 'true' }),
      ...options.daemonEnv,
    },
  }
  const [seeds] = await allSettledOrThrow([
    isSeeded ? seedChains(chains) : Promise.resolve([]),
    startDaemon(sandbox, daemon),
  ])
  const world: World<N> = {
    ...at,
    networks: Object.fromEntries(
      hubs.map((hub, index) => [hub.network, describeNetwork(chains, hub, nonEvmChains, index)]),
    ) as Record<N, WorldNetwork>,
    accounts: { evm: worldEvmAccounts(), solana: solana?.accounts ?? [] },
    seeds: {},
  }
  world.seeds = await finishSeeding(world, seeds, nonEvmChains)
  // with ports 0, a second daemon that is started with this environment chooses free ports
  const env = daemonEnvironment(sandbox.home, { ...daemon, port: 0, opsPort: 0 })
  if (sandbox.isKept) writeWorldFiles(sandbox.home, world, { ...env, LOG_FORMAT: undefined })

  const bridge = createBridgeControls(database.url)
  let stopped: Promise<void> | undefined
  return {
    ...world,
    world,
    home: sandbox.home,
    daemon: sandbox.daemon as DaemonProcess,
    anvils: Object.fromEntries(chains.map((chain) => [chain.label, chain])) as Stack<N>['anvils'],
    bridge,
    clock: {
      advance: async (seconds) =>
        void (await allSettledOrThrow(chains.map((one) => one.advance(seconds)))),
    },
    prices: { set: (dollars, network) => setPrices(hubs, dollars, network) },
    postgres: database.handle,
    solana,
    failed: sandbox.failed,
    stop() {
      stopped ??= destroySandbox(sandbox)
      return stopped
    },
  }
}

/** Number of units in which a price feed counts one dollar. */
const FEED_UNITS_PER_DOLLAR = 1e8

async function setPrices(
  hubs: readonly LocalChain[],
  { sol, ether }: { sol?: number; ether?: number },
  network?: Network,
): Promise<void> {
  const hub = network === undefined ? hubs[0] : hubs.find((one) => one.network === network)
  if (!hub?.feeds)
    throw new WorldError(`this world has no hub of ${network}: start one of its chains.`)
  const answerOf = (dollars: number): bigint => BigInt(Math.round(dollars * FEED_UNITS_PER_DOLLAR))
  if (sol !== undefined) await setPrice(hub, hub.feeds.solUsd, answerOf(sol))
  if (ether !== undefined) await setPrice(hub, hub.feeds.ethUsd, answerOf(ether))
}

/** Registers the seeded names on the chains of each network. */
const seedChains = (chains: readonly LocalChain[]) =>
  allSettledOrThrow(
    hubsOf(chains).map(async (hub) => {
      const seed = await seedNetwork(hub, spokesOf(chains, hub)[0])
      return { network: hub.network, seed }
    }),
  )

/** Waits until the daemon has indexed the seeded names, then makes two of the names communities. */
async function finishSeeding<N extends Network>(
  world: World<N>,
  seeds: Awaited<ReturnType<typeof seedChains>>,
  nonEvmChains: readonly LocalNonEvmChain[],
): Promise<Partial<Record<N, Seed>>> {
  const settled = seeds.map(async ({ network, seed }) => {
    const { finalized, lost, pending, bridging } = seed.tx
    const options = { testnet: network === 'testnet' }
    await Promise.all([
      until.status(world, finalized, 'finalized', options),
      until.status(world, lost, 'lost_bid', options),
      until.status(world, pending, 'pending', options),
      bridging && until.status(world, bridging, 'bridging', options),
    ])
    const chains = world.networks[network as N]
    const communities = await seedCommunities(world, network, chains, nonEvmChains)
    return [network, { ...seed, ...(communities && { communities }) }]
  })
  return Object.fromEntries(await Promise.all(settled))
}

const hubsOf = (chains: readonly LocalChain[]): LocalChain[] =>
  chains.filter(({ role }) => role === 'hub')

const spokesOf = (chains: readonly LocalChain[], hub: LocalChain): LocalChain[] =>
  chains.filter(({ network, role }) => network === hub.network && role === 'spoke')

function describeNetwork(
  chains: readonly LocalChain[],
  hub: LocalChain,
  nonEvmChains: readonly LocalNonEvmChain[],
  index: number,
): WorldNetwork {
  const { token, ens } = hub
  return {
    hub: {
      ...worldChainOf(hub),
      contracts: { hub: hub.config.contract, ...sharedContracts(hub), token: token! },
    },
    spokes: spokesOf(chains, hub).map((spoke) => ({
      ...worldChainOf(spoke),
      contracts: { spoke: spoke.config.contract, ...sharedContracts(spoke) },
    })),
    ens: ens!,
    ...Object.fromEntries(nonEvmChains.map((chain) => [chain.key, chain.addresses(index)])),
  }
}

const worldChainOf = ({ label, chainId, rpcUrl }: LocalChain) => ({
  network: label,
  chainId,
  rpcUrl,
})

/** Contracts that both a hub's and a spoke's chain have. */
const sharedContracts = ({ config: { endpoint, communityPayments } }: LocalChain) => ({
  endpoint,
  communityPayments,
})
