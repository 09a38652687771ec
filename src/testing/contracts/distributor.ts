import { type Address, type Hex, zeroAddress } from 'viem'
import { localTokenAbi } from '../../../contracts/evm/artifacts/local/LocalToken.js'
import {
  airdropDistributorAbi,
  airdropDistributorBytecode,
} from '../../chains/evm/contracts/index.js'
import {
  contractCall,
  creation,
  type DeployClient,
  nextContract,
  sendInOrder,
} from '../chains/send.js'

const DEFAULT_DURATION_S = 30n * 86_400n

export interface DistributorSettings extends DeployClient {
  /** An ERC-20. */
  readonly token: Address
  readonly merkleRoot: Hex
  /** Unix seconds; default: a month after the newest block. */
  readonly endsAtS?: bigint
  /** Signer of permissions; default: none. */
  readonly operator?: Address
  /** Amount minted to the distributor, for a local `token`, which anybody may mint. */
  readonly mints?: bigint
}

/** `block` holds the deployment. */
export async function deployDistributor(settings: DistributorSettings) {
  const { token, merkleRoot, mints = 0n, operator = zeroAddress } = settings
  const deployer = settings.walletClient.account.address
  const endsAtS =
    settings.endsAtS ?? (await settings.publicClient.getBlock()).timestamp + DEFAULT_DURATION_S
  const distributor = await nextContract(settings)
  const args = [token, merkleRoot, endsAtS, deployer, operator] as const
  const code = { abi: airdropDistributorAbi, bytecode: airdropDistributorBytecode, args }
  const steps = [creation('deploying a distributor', code)]
  if (mints > 0n)
    steps.push(
      contractCall('minting what a distributor gives out', token, {
        abi: localTokenAbi,
        functionName: 'mint',
        args: [distributor, mints],
      }),
    )
  const [receipt] = await sendInOrder(settings, steps)
  return { distributor, block: receipt!.blockNumber, endsAtS }
}
