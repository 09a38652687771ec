import { type Address, encodeDeployData, encodeFunctionData, getContractAddress, pad } from 'viem'
import {
  endpointAbi,
  hubAbi,
  hubBytecode,
  localMessageLibAbi,
  localMessageLibBytecode,
  spokeAbi,
  spokeBytecode,
} from '../chains/evm/contracts/index.js'
import { endpointCreation } from './layerzero.js'
import { type DeployClient, nextNonce, type Step, sendInOrder } from './send.js'

// Given, since a step that relies on one not mined yet can't be estimated; each with a margin over what was measured.
const HUB_GAS = 5_000_000n
const SPOKE_GAS = 4_000_000n
const LIBRARY_GAS = 3_000_000n
const SETTING_GAS = 200_000n

const DEFAULT_DELIVER_LIMIT_WEI = 1_000n * 10n ** 18n

export interface HubSettings extends DeployClient {
  /** LayerZero's endpoint id of the chain. */
  readonly eid: number
  /** Least bid, wei. */
  readonly minimumWei: bigint
  readonly owner: Address
  readonly relayer: Address
  readonly pauser: Address
  /** What deliveries may win in a day (UTC), wei; 1,000 ether unless given. */
  readonly deliverLimitWei?: bigint
}

/** Deploys LayerZero's EndpointV2 and a hub on it; `block` is the one that holds the hub's deployment. */
export async function deployHub(settings: HubSettings): Promise<{ endpoint: Address; hub: Address; block: bigint }> {
  const { walletClient, eid, minimumWei, owner, relayer, pauser } = settings
  const deployer = walletClient.account.address
  const endpoint = getContractAddress({ from: deployer, nonce: BigInt(await nextNonce(settings)) })
  const [, receipt] = await sendInOrder(settings, [
    endpointCreation(eid, deployer),
    {
      label: 'deploying the hub',
      data: encodeDeployData({
        abi: hubAbi,
        bytecode: hubBytecode,
        args: [endpoint, owner, relayer, pauser, minimumWei, settings.deliverLimitWei ?? DEFAULT_DELIVER_LIMIT_WEI],
      }),
      gas: HUB_GAS,
    },
  ])
  return { endpoint, hub: receipt!.contractAddress!, block: receipt!.blockNumber }
}

export interface SpokeSettings extends DeployClient {
  /** LayerZero's endpoint id of the spoke's chain. */
  readonly eid: number
  /** LayerZero's endpoint id of the hub's chain. */
  readonly hubEid: number
  /** Least bid, wei on the hub. */
  readonly minimumWei: bigint
  readonly owner: Address
  readonly pauser: Address
}

/** Deploys LayerZero's EndpointV2 and a spoke on it; `block` is the one that holds the spoke's deployment. */
export async function deploySpoke(
  settings: SpokeSettings,
): Promise<{ endpoint: Address; spoke: Address; block: bigint }> {
  const { walletClient, eid, hubEid, minimumWei, owner, pauser } = settings
  const deployer = walletClient.account.address
  const endpoint = getContractAddress({ from: deployer, nonce: BigInt(await nextNonce(settings)) })
  const [, receipt] = await sendInOrder(settings, [
    endpointCreation(eid, deployer),
    {
      label: 'deploying a spoke',
      data: encodeDeployData({
        abi: spokeAbi,
        bytecode: spokeBytecode,
        args: [endpoint, hubEid, owner, pauser, minimumWei],
      }),
      gas: SPOKE_GAS,
    },
  ])
  return { endpoint, spoke: receipt!.contractAddress!, block: receipt!.blockNumber }
}

/**
 * Deploys the local message library and registers it with an endpoint that the client's account owns. `verifier` is the
 * only account whose packets it believes.
 */
export async function deployMessageLibrary(
  client: DeployClient,
  endpoint: Address,
  verifier: Address,
): Promise<Address> {
  const deployer = client.walletClient.account.address
  const library = getContractAddress({ from: deployer, nonce: BigInt(await nextNonce(client)) })
  const args = [endpoint, deployer, verifier] as const
  await sendInOrder(client, [
    {
      label: 'deploying the message library',
      data: encodeDeployData({ abi: localMessageLibAbi, bytecode: localMessageLibBytecode, args }),
      gas: LIBRARY_GAS,
    },
    {
      label: 'registering the message library',
      to: endpoint,
      data: encodeFunctionData({ abi: endpointAbi, functionName: 'registerLibrary', args: [library] }),
      gas: SETTING_GAS,
    },
  ])
  return library
}

/** One end of a bridge. The client's account owns endpoint, library and application. */
export interface BridgeEnd extends DeployClient {
  readonly eid: number
  readonly endpoint: Address
  readonly library: Address
  /** The hub or the spoke. */
  readonly app: Address
}

/** What messages to a chain cost: `baseWei` of the sending chain, and for each delivered wei numerator / denominator. */
export interface BridgePrice {
  readonly baseWei: bigint
  readonly numerator: bigint
  readonly denominator: bigint
}

/** About what a bridge takes; both chains' gas is ETH. */
export const ETH_PRICE: BridgePrice = { baseWei: 2n * 10n ** 14n, numerator: 1n, denominator: 1n }

/**
 * Makes hub and spoke peers: default libraries, prices and peers, both ways. `price` is what the spoke's messages cost.
 * To be called for one spoke after the other, since each takes nonces of the hub's client.
 */
export async function connect(hub: BridgeEnd, spoke: BridgeEnd, price: BridgePrice = ETH_PRICE): Promise<void> {
  await Promise.all([
    sendInOrder(hub, connectingSteps(hub, spoke, ETH_PRICE)),
    sendInOrder(spoke, connectingSteps(spoke, hub, price)),
  ])
}

function connectingSteps(
  near: BridgeEnd,
  far: BridgeEnd,
  { baseWei: base, numerator, denominator }: BridgePrice,
): Step[] {
  const { endpoint, library, app } = near
  const price = { base, numerator, denominator }
  return [
    {
      label: 'setting the send library',
      to: endpoint,
      data: encodeFunctionData({ abi: endpointAbi, functionName: 'setDefaultSendLibrary', args: [far.eid, library] }),
      gas: SETTING_GAS,
    },
    {
      label: 'setting the receive library',
      to: endpoint,
      data: encodeFunctionData({
        abi: endpointAbi,
        functionName: 'setDefaultReceiveLibrary',
        args: [far.eid, library, 0n],
      }),
      gas: SETTING_GAS,
    },
    {
      label: 'setting the price of messages',
      to: library,
      data: encodeFunctionData({ abi: localMessageLibAbi, functionName: 'setPrice', args: [far.eid, price] }),
      gas: SETTING_GAS,
    },
    {
      label: 'setting the peer',
      to: app,
      data: encodeFunctionData({ abi: hubAbi, functionName: 'setPeer', args: [far.eid, pad(far.app)] }),
      gas: SETTING_GAS,
    },
  ]
}
