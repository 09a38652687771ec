import { type Address, encodeDeployData, getContractAddress } from 'viem'
import { hubAbi, hubBytecode } from '../chains/evm/contracts/index.js'
import { endpointCreation } from './layerzero.js'
import { type DeployClient, nextNonce, sendInOrder } from './send.js'

/** The hub's deployment takes about 2 million gas. */
const HUB_GAS = 5_000_000n

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
