import fs from 'node:fs'
import path from 'node:path'
import { type Hex, parseEther } from 'viem'
import type { Network } from '../../registry/primitives/network.js'
import {
  type ChainDefinition,
  type ChainEntry,
  type KnownChain,
  LOCAL_SPEND_CAP_WEI,
  type RunningChain,
} from '../chains/localChains.js'
import { fund, localClients, mineQuickly, walletOf } from '../chains/localClients.js'
import { writeAtomically } from '../processes/files.js'
import type { SolanaEntry } from '../solana/entry.js'
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
import { deployPriceFeeds, type PriceFeeds } from './priceFeed.js'

/** Minimum bid on a local hub, same as the interface's default. */
const MINIMUM_WEI = parseEther('0.01')

type Contracts = Pick<
  ChainEntry,
  'contract' | 'endpoint' | 'messageLib' | 'communityPayments' | 'genesisHash' | 'startBlock'
>

/** Contracts of a hub only: price feeds, and a token that anybody may mint. */
interface HubExtras {
  feeds: PriceFeeds | undefined
  token: Hex | undefined
}

/** Contracts of a local chain. */
export interface LocalContracts extends HubExtras {
  contracts: Contracts
}

interface At {
  rpcUrl: string
}

/** Finds the contracts of an earlier start, or deploys fresh ones. */
export async function ensureContracts(
  at: At,
  definition: ChainDefinition,
  hubEid: number,
  previous: KnownChain | undefined,
): Promise<LocalContracts> {
  const { reader } = localClients(at, definition.chainId)
  const genesisHash = (await reader.getBlock({ blockNumber: 0n })).hash
  const stands = async (addresses: readonly Hex[]) =>
    (await Promise.all(addresses.map((address) => reader.getCode({ address })))).every((code) => code !== undefined)
  const isHub = definition.role === 'hub'
  if (previous?.genesisHash === genesisHash) {
    const { contract, endpoint, messageLib, startBlock, feeds, token } = previous
    if (await stands([contract, endpoint, messageLib])) {
      const hasPayments = previous.communityPayments && (await stands([previous.communityPayments]))
      const communityPayments = hasPayments
        ? previous.communityPayments
        : await mineQuickly(at, definition.chainId, () => deployPayments(at, definition))
      const contracts = { contract, endpoint, messageLib, communityPayments, startBlock, genesisHash }
      if (!isHub) return { contracts, ...NO_EXTRAS }
      if (feeds && token && (await stands([feeds.solUsd, feeds.ethUsd, token]))) return { contracts, feeds, token }
      return { contracts, ...(await mineQuickly(at, definition.chainId, () => deployExtras(at, definition))) }
    }
  }
  await fund(at, definition.chainId, operatorAddresses())
  return mineQuickly(at, definition.chainId, async () => ({
    contracts: {
      ...(await deploy(at, definition, hubEid)),
      communityPayments: await deployPayments(at, definition),
      genesisHash,
    },
    ...(isHub ? await deployExtras(at, definition) : NO_EXTRAS),
  }))
}

const NO_EXTRAS: HubExtras = { feeds: undefined, token: undefined }

const deployerOf = (at: At, chainId: number) => ({
  walletClient: walletOf(at, chainId, operatorAccount('deployer')),
  ...readerOf(at, chainId),
})

async function deployExtras(at: At, { chainId }: ChainDefinition): Promise<HubExtras> {
  const feeds = await deployPriceFeeds(deployerOf(at, chainId))
  return { feeds, token: lowerCase(await deployLocalToken(deployerOf(at, chainId))) }
}

async function deployPayments(at: At, { chainId }: ChainDefinition): Promise<Hex> {
  const { payments } = await deployCommunityPayments({
    ...deployerOf(at, chainId),
    owner: operatorAccount('owner').address,
    relayer: operatorAccount('relayer').address,
    pauser: operatorAccount('pauser').address,
  })
  return lowerCase(payments)
}

async function deploy(
  at: At,
  { chainId, eid, role }: ChainDefinition,
  hubEid: number,
): Promise<Omit<Contracts, 'genesisHash' | 'communityPayments'>> {
  const client = deployerOf(at, chainId)
  const relayer = operatorAccount('relayer').address
  const settings = {
    ...client,
    eid,
    minimumWei: MINIMUM_WEI,
    owner: operatorAccount('owner').address,
    pauser: operatorAccount('pauser').address,
  }
  const { app, endpoint, block } =
    role === 'hub'
      ? await deployHub({ ...settings, relayer }).then(({ hub, ...rest }) => ({ app: hub, ...rest }))
      : await deploySpoke({ ...settings, hubEid }).then(({ spoke, ...rest }) => ({ app: spoke, ...rest }))
  const messageLib = await deployMessageLibrary(client, endpoint, relayer)
  return {
    contract: lowerCase(app),
    endpoint: lowerCase(endpoint),
    messageLib: lowerCase(messageLib),
    startBlock: Number(block),
  }
}

const readerOf = (at: At, chainId: number) => ({ publicClient: localClients(at, chainId).reader })

/** Makes each network's hub and spokes peers unless they are. */
export async function connectChains(chains: readonly RunningChain[]): Promise<void> {
  await Promise.all(
    chains.map(async (near) => {
      const others = chains.filter(({ network, role }) => network === near.network && role !== near.role)
      if (others.length === 0) return
      const end: BridgeEnd = {
        walletClient: walletOf(near, near.chainId, operatorAccount('deployer')),
        owner: walletOf(near, near.chainId, operatorAccount('owner')),
        ...readerOf(near, near.chainId),
        eid: near.eid,
        endpoint: near.config.endpoint,
        library: near.config.messageLib,
        app: near.config.contract,
      }
      const targets = others.map((far) => ({ eid: far.eid, app: far.config.contract, price: priceOf(near, far) }))
      await mineQuickly(near, near.chainId, () => connectEnd(end, targets))
    }),
  )
}

/** Price of messages: a spoke's own, and on the hub the inverse rate of the spoke's gas token. */
function priceOf(near: ChainDefinition, far: ChainDefinition): BridgePrice {
  if (near.role === 'spoke') return near.price
  return { baseWei: near.price.baseWei, numerator: far.price.denominator, denominator: far.price.numerator }
}

/** Entries of earlier starts per chain label, of chains that are not started now too. */
export function previousChains(home: string): Map<string, KnownChain> {
  try {
    const { chains } = JSON.parse(fs.readFileSync(knownFile(home), 'utf8')) as { chains: KnownChain[] }
    return new Map(chains.map((chain) => [chain.label, chain]))
  } catch {
    return new Map()
  }
}

/** Writes the daemon's chains file, and the entries that later starts need. */
export function writeChains(
  home: string,
  chains: readonly RunningChain[],
  solana: Partial<Record<Network, SolanaEntry>>,
): void {
  const known: readonly KnownChain[] = chains.map(({ config, feeds, token }) => ({
    ...config,
    ...(feeds && { feeds }),
    ...(token && { token }),
  }))
  const all = new Map([...previousChains(home), ...known.map((chain) => [chain.label, chain] as const)])
  const deliveries = { spendCapWei: String(LOCAL_SPEND_CAP_WEI) }
  writeJson(knownFile(home), { chains: [...all.values()] })
  writeJson(chainsFile(home), {
    chains: chains.map(({ config }) => config),
    solana,
    deliveries: { mainnet: deliveries, testnet: deliveries },
  })
}

const writeJson = (file: string, content: object): void =>
  writeAtomically(file, `${JSON.stringify(content, null, 2)}\n`)

/** Path of the file that `clusterd start` reads in a local world. */
export const chainsFile = (home: string): string => path.join(home, 'chains.json')
const knownFile = (home: string): string => path.join(home, 'anvil', 'chains.json')
