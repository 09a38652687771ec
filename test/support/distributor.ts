import { type Address, type Hex, zeroAddress } from 'viem'
import { localTokenAbi } from '../../contracts/evm/artifacts/local/LocalToken.js'
import {
  airdropDistributorAbi,
  airdropDistributorBytecode,
} from '../../src/chains/evm/contracts/index.js'
import { encodeContractCall } from '../../src/chains/evm/contracts/read.js'
import {
  contractCreationTransaction,
  type DeployerClients,
  nextContractAddress,
  sendTransactionsInOrder,
} from '../../src/testing/chains/send.js'

const DEFAULT_DURATION_S = 30n * 86_400n

export interface DistributorSettings extends DeployerClients {
  /** Address of an ERC-20 token. */
  readonly token: Address
  readonly merkleRoot: Hex
  /** End of the claims, Unix seconds. Default: 30 days after the newest block. */
  readonly endsAtS?: bigint
  /** Signer of the permissions that Solana accounts need for claims. Default: none. */
  readonly operator?: Address
  /** Amount of the token to mint to the distributor. Only for a local token, which anybody may mint. */
  readonly mints?: bigint
}

/** Deploys an airdrop distributor. The returned `block` is the block of its deployment. */
export async function deployDistributor(settings: DistributorSettings) {
  const { token, merkleRoot, mints = 0n, operator = zeroAddress } = settings
  const deployer = settings.walletClient.account.address
  const endsAtS =
    settings.endsAtS ?? (await settings.publicClient.getBlock()).timestamp + DEFAULT_DURATION_S
  const distributor = await nextContractAddress(settings)
  const args = [token, merkleRoot, endsAtS, deployer, operator] as const
  const code = { abi: airdropDistributorAbi, bytecode: airdropDistributorBytecode, args }
  const steps = [contractCreationTransaction('deploying a distributor', code)]
  if (mints > 0n)
    steps.push({
      label: 'minting what a distributor gives out',
      to: token,
      data: encodeContractCall(localTokenAbi, 'mint', [distributor, mints]),
    })
  const [receipt] = await sendTransactionsInOrder(settings, steps)
  return { distributor, block: receipt!.blockNumber, endsAtS }
}
