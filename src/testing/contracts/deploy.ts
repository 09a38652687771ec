import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Abi, type Address, type Hex, isAddressEqual } from 'viem'
import { localMessageLibBytecode } from '../../../contracts/evm/artifacts/local/LocalMessageLib.js'
import {
  localTokenAbi,
  localTokenBytecode,
} from '../../../contracts/evm/artifacts/local/LocalToken.js'
import {
  hubAbi,
  layerZeroEndpointAbi,
  localMessageLibAbi,
} from '../../chains/evm/contracts/index.js'
import { encodeContractCall } from '../../chains/evm/contracts/read.js'
import {
  hubCreationCode,
  paymentsCreationCode,
  spokeCreationCode,
} from '../../chains/evm/deployment/creation.js'
import {
  contractCreationTransaction,
  type DeployerClients,
  type DeploymentTransaction,
  deployContract,
  nextContractAddress,
  sendTransactionsInOrder,
} from '../chains/send.js'
import { addressAsBytes32 } from '../world.js'

const ENDPOINT_ARTIFACT_PATH =
  '@layerzerolabs/lz-evm-protocol-v2/artifacts/contracts/EndpointV2.sol/EndpointV2.json'

const DEFAULT_DELIVER_LIMIT_WEI = 1_000n * 10n ** 18n

/** Settings to deploy a hub or a spoke (LayerZero applications). */
interface BridgeAppSettings extends DeployerClients {
  /** LayerZero's endpoint id of the chain. */
  readonly eid: number
  /** Minimum bid, in wei of the hub's chain. */
  readonly minimumWei: bigint
  readonly owner: Address
  readonly pauser: Address
}

export interface HubDeploymentSettings extends BridgeAppSettings {
  readonly relayer: Address
  /** Limit on the value of deliveries per UTC day, wei. Default: 1,000 ether. */
  readonly deliverLimitWei?: bigint
}

/** Deploys LayerZero's EndpointV2 and a hub on it. `app` is the hub, and `block` the number of the block with it. */
export const deployHub = ({
  deliverLimitWei = DEFAULT_DELIVER_LIMIT_WEI,
  ...settings
}: HubDeploymentSettings) =>
  deployEndpointAndApp(settings, (endpoint) => ({
    label: 'deploying the hub',
    data: hubCreationCode({ ...settings, deliverLimitWei, endpoint }),
  }))

/**
 * Deploys LayerZero's EndpointV2 and a spoke on it. `app` is the spoke, and `block` the number of the block with it.
 * @param settings also have `hubEid`, LayerZero's endpoint id of the hub's chain
 */
export const deploySpoke = (settings: BridgeAppSettings & { readonly hubEid: number }) =>
  deployEndpointAndApp(settings, (endpoint) => ({
    label: 'deploying a spoke',
    data: spokeCreationCode({ ...settings, endpoint }, settings.hubEid),
  }))

async function deployEndpointAndApp(
  settings: BridgeAppSettings,
  app: (endpoint: Address) => DeploymentTransaction,
) {
  const endpoint = await nextContractAddress(settings)
  const steps = [
    endpointCreationTransaction(settings.eid, settings.walletClient.account.address),
    app(endpoint),
  ]
  const [, receipt] = await sendTransactionsInOrder(settings, steps)
  return { endpoint, app: receipt!.contractAddress!, block: receipt!.blockNumber }
}

/**
 * Deploys the local message library and registers it with an endpoint owned by the client's account.
 * @param verifier the only account from which the library accepts packets
 */
export async function deployMessageLibrary(
  client: DeployerClients,
  endpoint: Address,
  verifier: Address,
): Promise<Address> {
  const library = await nextContractAddress(client)
  const args = [endpoint, client.walletClient.account.address, verifier] as const
  const code = { abi: localMessageLibAbi, bytecode: localMessageLibBytecode, args }
  await sendTransactionsInOrder(client, [
    contractCreationTransaction('deploying the message library', code),
    {
      label: 'registering the message library',
      to: endpoint,
      data: encodeContractCall(layerZeroEndpointAbi, 'registerLibrary', [library]),
    },
  ])
  return library
}

/** Time after which payments for community names can be reclaimed: a week. */
const RECLAIM_SECONDS = 604_800n

/** Deploys the contract that takes payments for names below communities. */
export function deployCommunityPayments(
  settings: DeployerClients & Pick<HubDeploymentSettings, 'owner' | 'relayer' | 'pauser'>,
): Promise<Address> {
  return deployContract(settings, {
    label: 'deploying the payments of communities',
    data: paymentsCreationCode({ ...settings, reclaimSeconds: RECLAIM_SECONDS }),
  })
}

/** Deploys a token that anybody may mint. */
export const deployLocalToken = (client: DeployerClients): Promise<Address> =>
  deployContract(
    client,
    contractCreationTransaction('deploying a token', {
      abi: localTokenAbi,
      bytecode: localTokenBytecode,
    }),
  )

/** One end of a bridge: a chain's contracts. The client's account owns `endpoint` and `library`. */
export interface BridgeEnd extends DeployerClients {
  readonly endpoint: Address
  readonly library: Address
  /** Address of the hub or the spoke. */
  readonly app: Address
  /** Wallet client of the owner of `app`, if that is another account. */
  readonly owner?: DeployerClients['walletClient']
}

/** Price of a message, wei of the sending chain: `baseWei`, plus `numerator / denominator` per delivered wei. */
export interface BridgeMessagePrice {
  readonly baseWei: bigint
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Typical bridge price between two chains whose gas token is ETH. */
export const ETH_TO_ETH_MESSAGE_PRICE: BridgeMessagePrice = {
  baseWei: 2n * 10n ** 14n,
  numerator: 1n,
  denominator: 1n,
}

interface RemoteBridgeEnd {
  readonly eid: number
  readonly app: Address
  readonly price: BridgeMessagePrice
}

/**
 * Connects one end of a bridge to the other ends: sets the peers and, where they are not set yet, the libraries with
 * the prices of messages. May be called again.
 */
export async function connectBridgeEnd(
  near: BridgeEnd,
  targets: readonly RemoteBridgeEnd[],
): Promise<void> {
  const libraries: DeploymentTransaction[] = []
  for (const target of targets) {
    const library = await near.publicClient.readContract({
      address: near.endpoint,
      abi: layerZeroEndpointAbi,
      functionName: 'defaultSendLibrary',
      args: [target.eid],
    })
    // the endpoint refuses a library that is set already
    if (!isAddressEqual(library, near.library)) libraries.push(...librarySteps(near, target))
  }
  await sendTransactionsInOrder(near, libraries)
  const peers = targets.map(({ eid, app }) => ({
    label: 'setting the peer',
    to: near.app,
    // hub and spoke both inherit `setPeer` from OAppCore, so the hub's ABI fits both
    data: encodeContractCall(hubAbi, 'setPeer', [eid, addressAsBytes32(app)]),
  }))
  await sendTransactionsInOrder({ ...near, walletClient: near.owner ?? near.walletClient }, peers)
}

function librarySteps(
  { endpoint, library }: BridgeEnd,
  { eid, price }: RemoteBridgeEnd,
): DeploymentTransaction[] {
  const { baseWei: base, numerator, denominator } = price
  return [
    {
      label: 'setting the send library',
      to: endpoint,
      data: encodeContractCall(layerZeroEndpointAbi, 'setDefaultSendLibrary', [eid, library]),
    },
    {
      label: 'setting the receive library',
      to: endpoint,
      data: encodeContractCall(layerZeroEndpointAbi, 'setDefaultReceiveLibrary', [
        eid,
        library,
        0n,
      ]),
    },
    {
      label: 'setting the price of messages',
      to: library,
      data: encodeContractCall(localMessageLibAbi, 'setPrice', [
        eid,
        { base, numerator, denominator },
      ]),
    },
  ]
}

/**
 * Transaction that creates LayerZero's EndpointV2 with this endpoint id, as compiled by LayerZero. Its licence is
 * LZBL-1.2, so the artifact is read from the optional dependency and is not part of this project.
 * @throws Error if the package is not installed
 */
export function endpointCreationTransaction(eid: number, owner: Address): DeploymentTransaction {
  let file: string
  try {
    file = createRequire(import.meta.url).resolve(ENDPOINT_ARTIFACT_PATH)
  } catch {
    throw new Error(
      'LayerZero contracts are not installed: run `npm install @layerzerolabs/lz-evm-protocol-v2@3.0.168` (needed by local chains only)',
    )
  }
  const { abi, bytecode } = JSON.parse(readFileSync(file, 'utf8')) as { abi: Abi; bytecode: Hex }
  return contractCreationTransaction('deploying EndpointV2', { abi, bytecode, args: [eid, owner] })
}
