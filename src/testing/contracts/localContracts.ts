import fs from 'node:fs'
import path from 'node:path'
import { parseEther } from 'viem'
import {
  type ChainContracts,
  type ChainDefinition,
  type HubExtras,
  type KnownChain,
  LOCAL_SPEND_CAP_WEI,
  type RunningChain,
} from '../chains/localChains.js'
import { fund, localClients, mineQuickly, walletOf } from '../chains/localClients.js'
import type { DeployClient } from '../chains/send.js'
import { writeAtomically } from '../processes/files.js'
import type { LocalSolana } from '../solana/localSolana.js'
import { lowerCase, operatorAccount, operatorAddresses } from '../world.js'
import {
  type BridgeEnd,
  type BridgePrice,
  connectEnd,
  deployCommunityPayments,
  deployHub,
  deployLocalToken,
  deployMessageLibrary,
  deploySpoke,
} from './deploy.js'
import { deployEns, setGateway } from './ens.js'
import { deployPriceFeeds } from './priceFeed.js'

/** Minimum bid on a local hub, same as the interface's default. */
const MINIMUM_WEI = parseEther('0.01')

/** Local feeds are never updated, however long the world lives. */
const FEED_MAX_AGE_SECONDS = 10 * 365 * 86_400

/** ENS names below which a network's names resolve. */
const ENS_PARENTS = { mainnet: 'local.eth', testnet: 'local-testnet.eth' }

/** Contracts of a local chain. */
interface LocalContracts extends HubExtras {
  contracts: ChainContracts
}

interface At {
  rpcUrl: string
}

export async function ensureContracts(
  at: At,
  definition: ChainDefinition,
  hubEid: number,
  previous: KnownChain | undefined,
): Promise<LocalContracts> {
  const { reader } = localClients(at, definition.chainId)
  const deployer = deployerOf(at, definition.chainId)
  const makeEns = () => deployEns(deployer, ENS_PARENTS[definition.network])
  const genesisHash = (await reader.getBlock({ blockNumber: 0n })).hash
  if (previous?.genesisHash === genesisHash) {
    const { contract, endpoint, messageLib, communityPayments, startBlock, feeds, token, ens } =
      previous
    const own = feeds ? [feeds.solUsd, feeds.ethUsd, token] : []
    if (ens) own.push(ens.registry, ens.resolver, ens.universalResolver)
    const addresses = [contract, endpoint, messageLib, communityPayments, ...own]
    const codes = await Promise.all(
      addresses.map((address) => address && reader.getCode({ address })),
    )
    if (codes.every((code) => code !== undefined)) {
      const contracts = {
        contract,
        endpoint,
        messageLib,
        communityPayments,
        startBlock,
        genesisHash,
      }
      // none in a world that is older than its ENS
      return {
        contracts,
        feeds,
        token,
        ens: feeds && (ens ?? (await mineQuickly(at, definition.chainId, makeEns))),
      }
    }
  }
  await fund(at, definition.chainId, operatorAddresses())
  return mineQuickly(at, definition.chainId, async () => {
    const contracts = { ...(await deploy(at, definition, hubEid)), genesisHash }
    if (definition.role === 'spoke') return { contracts }
    const feeds = await deployPriceFeeds(deployer)
    return {
      contracts,
      feeds,
      token: lowerCase(await deployLocalToken(deployer)),
      ens: await makeEns(),
    }
  })
}

const deployerOf = (at: At, chainId: number): DeployClient => ({
  walletClient: walletOf(at, chainId, operatorAccount('deployer')),
  publicClient: localClients(at, chainId).reader,
})

async function deploy(
  at: At,
  { chainId, eid, role }: ChainDefinition,
  hubEid: number,
): Promise<Omit<ChainContracts, 'genesisHash'>> {
  const client = deployerOf(at, chainId)
  const [relayer, owner, pauser] = (['relayer', 'owner', 'pauser'] as const).map(
    (of) => operatorAccount(of).address,
  )
  const roles = { ...client, relayer: relayer!, owner: owner!, pauser: pauser! }
  const settings = { ...roles, eid, minimumWei: MINIMUM_WEI }
  const { app, endpoint, block } = await (role === 'hub'
    ? deployHub(settings)
    : deploySpoke({ ...settings, hubEid }))
  const messageLib = await deployMessageLibrary(client, endpoint, roles.relayer)
  const payments = await deployCommunityPayments(roles)
  return {
    contract: lowerCase(app),
    endpoint: lowerCase(endpoint),
    messageLib: lowerCase(messageLib),
    communityPayments: lowerCase(payments),
    startBlock: Number(block),
  }
}

export async function connectChains(chains: readonly RunningChain[]): Promise<void> {
  await Promise.all(
    chains.map(async (near) => {
      const others = chains.filter(
        ({ network, role }) => network === near.network && role !== near.role,
      )
      if (others.length === 0) return
      const end: BridgeEnd = {
        ...deployerOf(near, near.chainId),
        owner: walletOf(near, near.chainId, operatorAccount('owner')),
        endpoint: near.config.endpoint,
        library: near.config.messageLib,
        app: near.config.contract,
      }
      const targets = others.map((far) => ({
        eid: far.eid,
        app: far.config.contract,
        price: priceOf(near, far),
      }))
      await mineQuickly(near, near.chainId, () => connectEnd(end, targets))
    }),
  )
}

/** The API's port may be another one than before. */
export async function connectEns(hubs: readonly RunningChain[], api: string): Promise<void> {
  await Promise.all(
    hubs.map((hub) =>
      mineQuickly(hub, hub.chainId, () => setGateway(deployerOf(hub, hub.chainId), hub.ens!, api)),
    ),
  )
}

/** Price of messages: a spoke's own, and on the hub the inverse rate of the spoke's gas token. */
function priceOf(near: ChainDefinition, far: ChainDefinition): BridgePrice {
  if (near.role === 'spoke') return near.price
  return {
    baseWei: near.price.baseWei,
    numerator: far.price.denominator,
    denominator: far.price.numerator,
  }
}

/** Entries of earlier starts per chain label, of chains that are not started now too. */
export function previousChains(home: string): Map<string, KnownChain> {
  try {
    const { chains } = JSON.parse(fs.readFileSync(knownFile(home), 'utf8')) as {
      chains: KnownChain[]
    }
    return new Map(chains.map((chain) => [chain.label, chain]))
  } catch {
    return new Map()
  }
}

/**
 * Writes the daemon's chains file, and the entries that later starts need: each network's chains and, with Solana, its
 * registrar, priced by its hub's feeds.
 */
export function writeChains(
  home: string,
  chains: readonly RunningChain[],
  solana: LocalSolana | undefined,
  pollMs: number,
): void {
  const known = chains.map(
    ({ config, feeds, token, ens }): KnownChain => ({ ...config, feeds, token, ens }),
  )
  const all = new Map([
    ...previousChains(home),
    ...known.map((chain) => [chain.label, chain] as const),
  ])
  const hubs = chains.filter(({ role }) => role === 'hub')
  const clusters = (solana ? hubs : []).map(({ network, feeds }, index) => {
    const { rpcUrl, wsUrl, genesisHash, programs } = solana!
    const settings = { commitment: 'confirmed', pollMs }
    const priced = { feeds: { ...feeds, maxAgeSeconds: FEED_MAX_AGE_SECONDS } }
    return [
      network,
      {
        rpcUrls: [rpcUrl],
        wsUrls: [wsUrl],
        genesisHash,
        ...programs[index],
        ...settings,
        ...priced,
      },
    ]
  })
  const parents = hubs.map(({ network, chainId, ens }) => {
    const { parent, resolver, registry } = ens!
    return [network, { parent, resolver, registry, chainId }]
  })
  const deliveries = { spendCapWei: String(LOCAL_SPEND_CAP_WEI) }
  writeJson(knownFile(home), { chains: [...all.values()] })
  writeJson(chainsFile(home), {
    chains: chains.map(({ config }) => config),
    solana: Object.fromEntries(clusters),
    ens: Object.fromEntries(parents),
    deliveries: { mainnet: deliveries, testnet: deliveries },
  })
}

const writeJson = (file: string, content: object): void =>
  writeAtomically(file, `${JSON.stringify(content, null, 2)}\n`)

export const chainsFile = (home: string): string => path.join(home, 'chains.json')
const knownFile = (home: string): string => path.join(home, 'anvil', 'chains.json')
