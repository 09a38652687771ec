import { createPublicClient, createTestClient, createWalletClient, type Hex, http } from 'viem'
import { foundry } from 'viem/chains'
import type { DeployerClients } from '../../src/testing/chains/send.js'
import {
  type BridgeMessagePrice,
  connectBridgeEnd,
  deployCommunityPayments,
  deployHub,
  deployMessageLibrary,
  deploySpoke,
  ETH_TO_ETH_MESSAGE_PRICE,
  type HubDeploymentSettings,
} from '../../src/testing/contracts/deploy.js'
import { testAccount } from '../../src/testing/world.js'

export const MINIMUM_WEI = 10n ** 16n
export const HUB_EID = 30_101
export const SPOKE_EID = 30_184
export const HUB_CHAIN_ID = 900_000_001
export const SPOKE_CHAIN_ID = 900_008_453

export type ChainClients = ReturnType<typeof chainAt>

export function chainAt(rpcUrl: string, id: number) {
  const chain = { ...foundry, id }
  const transport = http(rpcUrl)
  return {
    public: createPublicClient({ chain, transport, pollingInterval: 20, cacheTime: 0 }),
    test: createTestClient({ chain, mode: 'anvil', transport }),
    walletClient: (index: number) =>
      createWalletClient({ chain, account: account(index), transport }),
  }
}

export const account = (index: number) => testAccount(index)

/** Deployer of a chain in these tests. */
const deployerOf = (at: ChainClients): DeployerClients => ({
  walletClient: at.walletClient(9),
  publicClient: at.public,
})

/** Deploys hub and spoke with their message libraries by account 9, and connects them. */
export function deployBridge(hub: ChainClients, spoke: ChainClients, relayer: Hex) {
  const owner = account(9).address
  return deployEnds(deployerOf(hub), deployerOf(spoke), { owner, pauser: owner, relayer })
}

type Roles = Pick<HubDeploymentSettings, 'owner' | 'pauser' | 'relayer' | 'deliverLimitWei'>

/** Deploys hub and spoke with their message libraries, and connects them. @param price of the spoke's messages */
export async function deployEnds(
  hubClient: DeployerClients,
  spokeClient: DeployerClients,
  roles: Roles,
  price: BridgeMessagePrice = ETH_TO_ETH_MESSAGE_PRICE,
) {
  const { owner, pauser, relayer } = roles
  const [onHub, onSpoke] = await Promise.all([
    deployHub({ ...hubClient, ...roles, minimumWei: MINIMUM_WEI, eid: HUB_EID }),
    deploySpoke({
      ...spokeClient,
      owner,
      pauser,
      minimumWei: MINIMUM_WEI,
      eid: SPOKE_EID,
      hubEid: HUB_EID,
    }),
  ])
  const [hubLibrary, spokeLibrary] = await Promise.all([
    deployMessageLibrary(hubClient, onHub.endpoint, relayer),
    deployMessageLibrary(spokeClient, onSpoke.endpoint, relayer),
  ])
  const hubEnd = { ...hubClient, endpoint: onHub.endpoint, library: hubLibrary, app: onHub.app }
  const spokeEnd = {
    ...spokeClient,
    endpoint: onSpoke.endpoint,
    library: spokeLibrary,
    app: onSpoke.app,
  }
  await Promise.all([
    connectBridgeEnd(hubEnd, [
      { eid: SPOKE_EID, app: onSpoke.app, price: ETH_TO_ETH_MESSAGE_PRICE },
    ]),
    connectBridgeEnd(spokeEnd, [{ eid: HUB_EID, app: onHub.app, price }]),
  ])
  return {
    hub: onHub.app,
    hubEndpoint: onHub.endpoint,
    hubLibrary,
    spoke: onSpoke.app,
    spokeEndpoint: onSpoke.endpoint,
    spokeLibrary,
  }
}

/** Contracts that take payments for names of communities, on both chains. */
export async function deployPayments(hub: ChainClients, spoke: ChainClients, relayer: Hex) {
  const owner = account(9).address
  const roles = { owner, pauser: owner, relayer }
  const deployAt = (at: ChainClients) => deployCommunityPayments({ ...deployerOf(at), ...roles })
  const [onHub, onSpoke] = await Promise.all([deployAt(hub), deployAt(spoke)])
  return { hub: onHub, spoke: onSpoke }
}
