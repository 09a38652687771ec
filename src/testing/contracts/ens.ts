import { namehash } from 'viem'
import {
  ensResolverAbi,
  ensResolverBytecode,
} from '../../../contracts/evm/artifacts/EnsResolver.js'
import {
  localEnsRegistryAbi,
  localEnsRegistryBytecode,
} from '../../../contracts/evm/artifacts/local/LocalEnsRegistry.js'
import {
  localUniversalResolverAbi,
  localUniversalResolverBytecode,
} from '../../../contracts/evm/artifacts/local/LocalUniversalResolver.js'
import { encodeContractCall } from '../../chains/evm/contracts/read.js'
import {
  contractCreationTransaction,
  type DeployerClients,
  nextContractAddress,
  sendTransactionsInOrder,
} from '../chains/send.js'
import { lowerCaseAddress, operatorAccount, type WorldEns } from '../world.js'

const resolverCode = { abi: ensResolverAbi, bytecode: ensResolverBytecode }
const registryCode = { abi: localEnsRegistryAbi, bytecode: localEnsRegistryBytecode }
const universalResolverCode = {
  abi: localUniversalResolverAbi,
  bytecode: localUniversalResolverBytecode,
}

/**
 * Deploys a local ENS, with this project's resolver for the names below `parent`. The client's account owns the
 * resolver.
 */
export async function deployEns(client: DeployerClients, parent: string): Promise<WorldEns> {
  const owner = client.walletClient.account.address
  const signer = operatorAccount('ensGateway').address
  const resolver = await nextContractAddress(client)
  const [, registry, universal] = await sendTransactionsInOrder(client, [
    contractCreationTransaction('deploying the resolver of ENS names', {
      ...resolverCode,
      args: [owner, signer, []],
    }),
    contractCreationTransaction('deploying ENS’s registry', registryCode),
    contractCreationTransaction('deploying ENS’s universal resolver', {
      ...universalResolverCode,
      args: [resolver],
    }),
  ])
  const universalResolver = lowerCaseAddress(universal!.contractAddress!)
  const reverseRegistrar = await client.publicClient.readContract({
    address: universalResolver,
    abi: localUniversalResolverAbi,
    functionName: 'reverseRegistrar',
  })
  return {
    parent,
    resolver: lowerCaseAddress(resolver),
    registry: lowerCaseAddress(registry!.contractAddress!),
    universalResolver,
    reverseRegistrar: lowerCaseAddress(reverseRegistrar),
  }
}

/**
 * Makes the names below `parent` resolve through the ENS gateway of the API at `api`. `client` is the client that was
 * passed to `deployEns`.
 */
export async function setEnsGateway(
  client: DeployerClients,
  { parent, registry, resolver }: WorldEns,
  api: string,
): Promise<void> {
  await sendTransactionsInOrder(client, [
    {
      label: 'setting the resolver of an ENS name',
      to: registry,
      data: encodeContractCall(localEnsRegistryAbi, 'setResolver', [namehash(parent), resolver]),
    },
    {
      label: 'setting the URL of the gateway',
      to: resolver,
      data: encodeContractCall(ensResolverAbi, 'setUrls', [[`${api}/ens/{sender}/{data}.json`]]),
    },
  ])
}
