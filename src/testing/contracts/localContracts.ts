import fs from 'node:fs'
import path from 'node:path'
import { parseEther } from 'viem'
import { writeFileAtomically } from '../../config/files.js'
import {
  type ChainContractAddresses,
  type HubOnlyContracts,
  LOCAL_RELAYER_SPEND_CAP_WEI,
  type LocalChainDefinition,
  type RunningChain,
  type StoredLocalChain,
} from '../chains/localChains.js'
import {
  createLocalWalletClient,
  fundAddresses,
  localChainClients,
  type RpcUrlAndChainId,
} from '../chains/localClients.js'
import type { DeployerClients } from '../chains/send.js'
import type { LocalNonEvmChain } from '../nonEvmChain.js'
import { lowerCaseAddress, operatorAccount, worldOperatorAddresses } from '../world.js'
import {
  type BridgeEnd,
  type BridgeMessagePrice,
  connectBridgeEnd,
  deployCommunityPayments,
  deployHub,
  deployLocalToken,
  deployMessageLibrary,
  deploySpoke,
} from './deploy.js'
import { deployEns, setEnsGateway } from './ens.js'
import { deployPriceFeeds } from './priceFeed.js'

/** Minimum bid on a local hub, equal to the API's default for a bid. */
const MINIMUM_BID_WEI = parseEther('0.01')

/** ENS parent names: a network's names resolve as subnames of its parent name. */
const ENS_PARENTS = { mainnet: 'local.eth', testnet: 'local-testnet.eth' }

/** Contracts of a local chain. */
interface LocalContracts extends HubOnlyContracts {
  contracts: ChainContractAddresses
}

/** Deploys the contracts of a chain, unless an earlier start of the local world deployed them. */
export async function deployMissingContracts(
  chain: LocalChainDefinition & RpcUrlAndChainId,
  hubEid: number,
  previous: StoredLocalChain | undefined,
): Promise<LocalContracts> {
  const deployer = deployerOf(chain)
  const { hash: genesisHash } = await deployer.publicClient.getBlock({ blockNumber: 0n })
  if (previous?.genesisHash === genesisHash) {
    const { contract, endpoint, messageLib, communityPayments, startBlock, feeds, token, ens } =
      previous
    // contracts are deployed in order, so a restored chain that has the newest contract has all of them
    const newest = ens?.universalResolver ?? communityPayments
    if (await deployer.publicClient.getCode({ address: newest })) {
      const known = { contract, endpoint, messageLib, communityPayments, startBlock, genesisHash }
      return { contracts: known, feeds, token, ens }
    }
  }
  await fundAddresses(chain, worldOperatorAddresses())
  const contracts = { ...(await deployBridgeContracts(chain, deployer, hubEid)), genesisHash }
  if (chain.role === 'spoke') return { contracts }
  return {
    contracts,
    feeds: await deployPriceFeeds(deployer),
    token: lowerCaseAddress(await deployLocalToken(deployer)),
    ens: await deployEns(deployer, ENS_PARENTS[chain.network]),
  }
}

function deployerOf(at: RpcUrlAndChainId): DeployerClients {
  const { reader, test } = localChainClients(at)
  return {
    walletClient: createLocalWalletClient(at, operatorAccount('deployer')),
    publicClient: reader,
    mine: () => test.mine({ blocks: 1 }),
  }
}

async function deployBridgeContracts(
  { eid, role }: LocalChainDefinition,
  deployer: DeployerClients,
  hubEid: number,
): Promise<Omit<ChainContractAddresses, 'genesisHash'>> {
  const roles = {
    ...deployer,
    relayer: operatorAccount('relayer').address,
    owner: operatorAccount('owner').address,
    pauser: operatorAccount('pauser').address,
  }
  const settings = { ...roles, eid, minimumWei: MINIMUM_BID_WEI }
  const { app, endpoint, block } = await (role === 'hub'
    ? deployHub(settings)
    : deploySpoke({ ...settings, hubEid }))
  return {
    contract: lowerCaseAddress(app),
    endpoint: lowerCaseAddress(endpoint),
    messageLib: lowerCaseAddress(await deployMessageLibrary(deployer, endpoint, roles.relayer)),
    communityPayments: lowerCaseAddress(await deployCommunityPayments(roles)),
    startBlock: Number(block),
  }
}

/** Sets the peers, libraries and message prices between the hub and the spokes of each network. */
export async function connectHubsAndSpokes(chains: readonly RunningChain[]): Promise<void> {
  await Promise.all(
    chains.map(async (near) => {
      const others = chains.filter(
        ({ network, role }) => network === near.network && role !== near.role,
      )
      if (others.length === 0) return
      const end: BridgeEnd = {
        ...deployerOf(near),
        owner: createLocalWalletClient(near, operatorAccount('owner')),
        endpoint: near.config.endpoint,
        library: near.config.messageLib,
        app: near.config.contract,
      }
      const targets = others.map((far) => ({
        eid: far.eid,
        app: far.config.contract,
        price: messagePriceOf(near, far),
      }))
      await connectBridgeEnd(end, targets)
    }),
  )
}

/** Sets the ENS gateway's URL in the hubs' resolvers. Each start does that again, since the API's port may change. */
export async function setEnsGatewayOfHubs(
  hubs: readonly RunningChain[],
  api: string,
): Promise<void> {
  await Promise.all(hubs.map((hub) => setEnsGateway(deployerOf(hub), hub.ens!, api)))
}

/**
 * Price of messages from `near` to `far`, wei of `near`. For a message of a hub, the ratio `numerator / denominator` is
 * the inverse of the spoke's.
 */
function messagePriceOf(near: LocalChainDefinition, far: LocalChainDefinition): BridgeMessagePrice {
  if (near.role === 'spoke') return near.price
  return {
    baseWei: near.price.baseWei,
    numerator: far.price.denominator,
    denominator: far.price.numerator,
  }
}

/**
 * Chains that earlier starts stored, by label, including chains that are not started now. Empty where the file can't be
 * read, as at the first start.
 */
export function readPreviousLocalChains(home: string): Map<string, StoredLocalChain> {
  try {
    const { chains } = JSON.parse(fs.readFileSync(storedChainsFilePath(home), 'utf8')) as {
      chains: StoredLocalChain[]
    }
    return new Map(chains.map((chain) => [chain.label, chain]))
  } catch {
    return new Map()
  }
}

/**
 * Writes two files: the daemon's chains file, which also has the settings of the chains of other chain families, and
 * the chains' data that later starts read (`readPreviousLocalChains`).
 */
export function writeLocalChainsFiles(
  home: string,
  chains: readonly RunningChain[],
  nonEvmChains: readonly LocalNonEvmChain[],
  pollMs: number,
): void {
  const known = readPreviousLocalChains(home)
  for (const { label, config, feeds, token, ens } of chains)
    known.set(label, { ...config, feeds, token, ens })
  const hubs = chains.filter(({ role }) => role === 'hub')
  const sectionOf = (chain: LocalNonEvmChain) =>
    Object.fromEntries(hubs.map((hub, i) => [hub.network, chain.settings(i, hub, pollMs)]))
  const parents = hubs.map(({ network, chainId, ens }) => {
    const { parent, resolver, registry, reverseRegistrar } = ens!
    const reverseRegistrars = { [chainId]: reverseRegistrar }
    return [network, { parent, resolver, registry, chainId, reverseRegistrars }]
  })
  const deliveries = { spendCapWei: String(LOCAL_RELAYER_SPEND_CAP_WEI) }
  writeJson(storedChainsFilePath(home), { chains: [...known.values()] })
  writeJson(chainsFilePath(home), {
    chains: chains.map(({ config }) => config),
    ...Object.fromEntries(nonEvmChains.map((chain) => [chain.key, sectionOf(chain)])),
    ens: Object.fromEntries(parents),
    deliveries: { mainnet: deliveries, testnet: deliveries },
  })
}

const writeJson = (file: string, content: object): void =>
  writeFileAtomically(file, `${JSON.stringify(content, null, 2)}\n`)

export const chainsFilePath = (home: string): string => path.join(home, 'chains.json')
const storedChainsFilePath = (home: string): string => path.join(home, 'anvil', 'chains.json')
