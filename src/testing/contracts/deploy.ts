import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  isAddressEqual,
  pad,
} from 'viem'
import { localMessageLibBytecode } from '../../../contracts/evm/artifacts/local/LocalMessageLib.js'
import { localTokenAbi, localTokenBytecode } from '../../../contracts/evm/artifacts/local/LocalToken.js'
import {
  communityPaymentsAbi,
  communityPaymentsBytecode,
  endpointAbi,
  hubAbi,
  hubBytecode,
  localMessageLibAbi,
  spokeAbi,
  spokeBytecode,
} from '../../chains/evm/contracts/index.js'
import { type DeployClient, nextNonce, type Step, sendInOrder } from '../chains/send.js'
import { endpointCreation } from './layerzero.js'

// Gas of the steps, measured plus a margin: a step that relies on an unmined one can't be estimated.
const HUB_GAS = 5_000_000n
const SPOKE_GAS = 4_000_000n
const LIBRARY_GAS = 3_000_000n
const PAYMENTS_GAS = 3_000_000n
const TOKEN_GAS = 2_000_000n
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
  /** Limit on deliveries per day (UTC), wei; default 1,000 ether. */
  readonly deliverLimitWei?: bigint
}

/** Deploys LayerZero's EndpointV2 and a hub on it; `block` holds the hub's deployment. */
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

/** Deploys LayerZero's EndpointV2 and a spoke on it; `block` holds the spoke's deployment. */
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
 * Deploys the local message library and registers it with an endpoint owned by the client's account.
 * @param verifier the only account whose packets the library accepts
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

/** Default hold of payments for community names: an hour. */
const HOLD_SECONDS = 3_600n

export interface PaymentsSettings extends DeployClient {
  readonly owner: Address
  readonly relayer: Address
  readonly pauser: Address
  /** Period in which the relayer may refuse a payment, seconds; default an hour. */
  readonly holdSeconds?: bigint
}

/** Deploys the contract for community payments; `block` holds the deployment. */
export async function deployCommunityPayments(
  settings: PaymentsSettings,
): Promise<{ payments: Address; block: bigint }> {
  const { owner, relayer, pauser, holdSeconds = HOLD_SECONDS } = settings
  const [receipt] = await sendInOrder(settings, [
    {
      label: 'deploying the payments of communities',
      data: encodeDeployData({
        abi: communityPaymentsAbi,
        bytecode: communityPaymentsBytecode,
        args: [owner, relayer, pauser, holdSeconds],
      }),
      gas: PAYMENTS_GAS,
    },
  ])
  return { payments: receipt!.contractAddress!, block: receipt!.blockNumber }
}

/** Deploys a token that anybody may mint. */
export async function deployLocalToken(client: DeployClient): Promise<Address> {
  const data = encodeDeployData({ abi: localTokenAbi, bytecode: localTokenBytecode })
  const [receipt] = await sendInOrder(client, [{ label: 'deploying a token', data, gas: TOKEN_GAS }])
  return receipt!.contractAddress!
}

/** One end of a bridge. The client's account owns endpoint and library. */
export interface BridgeEnd extends DeployClient {
  readonly eid: number
  readonly endpoint: Address
  readonly library: Address
  /** The hub or the spoke. */
  readonly app: Address
  /** Client of the application's owner, where that is another account. */
  readonly owner?: DeployClient['walletClient']
}

/** Price of messages to a chain: `baseWei` of the sending chain, plus numerator / denominator per delivered wei. */
export interface BridgePrice {
  readonly baseWei: bigint
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Typical bridge price; both chains' gas is ETH. */
export const ETH_PRICE: BridgePrice = { baseWei: 2n * 10n ** 14n, numerator: 1n, denominator: 1n }

/** Destination of a bridge, and the price of messages to it. */
export interface BridgeTarget {
  readonly eid: number
  readonly app: Address
  readonly price: BridgePrice
}

/**
 * Makes hub and spoke peers, both ways: default libraries, prices and peers. Calls for several spokes have to be
 * sequential, since each takes nonces of the hub's client.
 * @param price of the spoke's messages
 */
export async function connect(hub: BridgeEnd, spoke: BridgeEnd, price: BridgePrice = ETH_PRICE): Promise<void> {
  await Promise.all([
    connectEnd(hub, [{ eid: spoke.eid, app: spoke.app, price: ETH_PRICE }]),
    connectEnd(spoke, [{ eid: hub.eid, app: hub.app, price }]),
  ])
}

/** Sets libraries, prices and peers of one end for all its destinations at once, skipping what is set. */
export async function connectEnd(near: BridgeEnd, targets: readonly BridgeTarget[]): Promise<void> {
  const missing = await Promise.all(
    targets.map(async (target) => {
      const [library, peer] = await Promise.all([
        near.publicClient.readContract({
          address: near.endpoint,
          abi: endpointAbi,
          functionName: 'defaultSendLibrary',
          args: [target.eid],
        }),
        near.publicClient.readContract({
          address: near.app,
          abi: hubAbi, // same for hub and spoke: OAppCore
          functionName: 'peers',
          args: [target.eid],
        }),
      ])
      return {
        library: isAddressEqual(library, near.library) ? [] : librarySteps(near, target),
        peer: peer === peerWord(target.app) ? [] : [peerStep(near, target)],
      }
    }),
  )
  const librarySettings = missing.flatMap(({ library }) => library)
  const peers = missing.flatMap(({ peer }) => peer)
  if (!near.owner) await sendInOrder(near, [...librarySettings, ...peers])
  else
    await Promise.all([
      sendInOrder(near, librarySettings),
      sendInOrder({ walletClient: near.owner, publicClient: near.publicClient }, peers),
    ])
}

/** An address as LayerZero's peer word. */
const peerWord = (app: Address): Hex => pad(app).toLowerCase() as Hex

function librarySteps({ endpoint, library }: BridgeEnd, { eid, price }: BridgeTarget): Step[] {
  const { baseWei: base, numerator, denominator } = price
  return [
    {
      label: 'setting the send library',
      to: endpoint,
      data: encodeFunctionData({ abi: endpointAbi, functionName: 'setDefaultSendLibrary', args: [eid, library] }),
      gas: SETTING_GAS,
    },
    {
      label: 'setting the receive library',
      to: endpoint,
      data: encodeFunctionData({
        abi: endpointAbi,
        functionName: 'setDefaultReceiveLibrary',
        args: [eid, library, 0n],
      }),
      gas: SETTING_GAS,
    },
    {
      label: 'setting the price of messages',
      to: library,
      data: encodeFunctionData({
        abi: localMessageLibAbi,
        functionName: 'setPrice',
        args: [eid, { base, numerator, denominator }],
      }),
      gas: SETTING_GAS,
    },
  ]
}

function peerStep({ app }: BridgeEnd, target: BridgeTarget): Step {
  return {
    label: 'setting the peer',
    to: app,
    data: encodeFunctionData({ abi: hubAbi, functionName: 'setPeer', args: [target.eid, peerWord(target.app)] }),
    gas: SETTING_GAS,
  }
}
