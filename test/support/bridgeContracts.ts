import { createPublicClient, createTestClient, createWalletClient, type Hex, http } from 'viem'
import { foundry } from 'viem/chains'
import {
  type BridgeEnd,
  type BridgePrice,
  connectEnd,
  deployCommunityPayments,
  deployHub,
  deployMessageLibrary,
  deploySpoke,
  ETH_PRICE,
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
    walletClient: (index: number) => createWalletClient({ chain, account: account(index), transport }),
  }
}

export const account = (index: number) => testAccount(index)

/** Makes hub and spoke peers, both ways: default libraries, prices and peers. @param price of the spoke's messages */
export async function connect(hub: BridgeEnd, spoke: BridgeEnd, price: BridgePrice = ETH_PRICE): Promise<void> {
  await Promise.all([
    connectEnd(hub, [{ eid: spoke.eid, app: spoke.app, price: ETH_PRICE }]),
    connectEnd(spoke, [{ eid: hub.eid, app: hub.app, price }]),
  ])
}

/** Deploys hub and spoke with their message libraries, and connects them. */
export async function deployBridge(hub: ChainClients, spoke: ChainClients, relayer: Hex) {
  const owner = account(9).address
  const roles = { owner, pauser: owner, minimumWei: MINIMUM_WEI }
  const hubClient = { walletClient: hub.walletClient(9), publicClient: hub.public }
  const spokeClient = { walletClient: spoke.walletClient(9), publicClient: spoke.public }
  const [onHub, onSpoke] = await Promise.all([
    deployHub({ ...hubClient, ...roles, eid: HUB_EID, relayer }),
    deploySpoke({ ...spokeClient, ...roles, eid: SPOKE_EID, hubEid: HUB_EID }),
  ])
  const [hubLibrary, spokeLibrary] = await Promise.all([
    deployMessageLibrary(hubClient, onHub.endpoint, relayer),
    deployMessageLibrary(spokeClient, onSpoke.endpoint, relayer),
  ])
  await connect(
    { ...hubClient, eid: HUB_EID, endpoint: onHub.endpoint, library: hubLibrary, app: onHub.hub },
    { ...spokeClient, eid: SPOKE_EID, endpoint: onSpoke.endpoint, library: spokeLibrary, app: onSpoke.spoke },
  )
  return {
    hub: onHub.hub,
    hubEndpoint: onHub.endpoint,
    hubLibrary,
    spoke: onSpoke.spoke,
    spokeEndpoint: onSpoke.endpoint,
  }
}

/** Contracts that take payments for names of communities, on both chains. */
export async function deployPayments(hub: ChainClients, spoke: ChainClients, relayer: Hex) {
  const owner = account(9).address
  const roles = { owner, pauser: owner, relayer }
  const deployAt = async (at: ChainClients) =>
    (await deployCommunityPayments({ walletClient: at.walletClient(9), publicClient: at.public, ...roles })).payments
  const [onHub, onSpoke] = await Promise.all([deployAt(hub), deployAt(spoke)])
  return { hub: onHub, spoke: onSpoke }
}
