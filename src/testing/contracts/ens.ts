import { encodeDeployData, encodeFunctionData, type Hex, namehash } from 'viem'
import { ensResolverAbi, ensResolverBytecode } from '../../../contracts/evm/artifacts/EnsResolver.js'
import {
  localEnsRegistryAbi,
  localEnsRegistryBytecode,
} from '../../../contracts/evm/artifacts/local/LocalEnsRegistry.js'
import {
  localUniversalResolverAbi,
  localUniversalResolverBytecode,
} from '../../../contracts/evm/artifacts/local/LocalUniversalResolver.js'
import { type DeployClient, sendInOrder } from '../chains/send.js'
import { lowerCase, operatorAccount, type WorldEns } from '../world.js'

/** Deploys ENS's contracts, and a resolver for the names below `parent` that the client's account owns. */
export async function deployEns(client: DeployClient, parent: string): Promise<WorldEns> {
  const [owner, signer] = [client.walletClient.account.address, operatorAccount('ensGateway').address]
  const resolving = encodeDeployData({ abi: ensResolverAbi, bytecode: ensResolverBytecode, args: [owner, signer, []] })
  const created = await sendInOrder(client, [
    {
      label: 'deploying ENS’s registry',
      data: encodeDeployData({ abi: localEnsRegistryAbi, bytecode: localEnsRegistryBytecode }),
    },
    { label: 'deploying the resolver of ENS names', data: resolving },
  ])
  const [registry, resolver] = created.map(({ contractAddress }) => lowerCase(contractAddress!)) as [Hex, Hex]
  const [abi, bytecode] = [localUniversalResolverAbi, localUniversalResolverBytecode]
  const naming = { abi: localEnsRegistryAbi, functionName: 'setResolver', args: [namehash(parent), resolver] } as const
  const [universal] = await sendInOrder(client, [
    { label: 'deploying ENS’s universal resolver', data: encodeDeployData({ abi, bytecode, args: [resolver] }) },
    { label: 'setting the resolver of an ENS name', to: registry, data: encodeFunctionData(naming) },
  ])
  return { parent, registry, resolver, universalResolver: lowerCase(universal!.contractAddress!) }
}

/** Has a resolver of the client's account send clients to the gateway of an API. */
export async function setGateway(client: DeployClient, resolver: Hex, api: string): Promise<void> {
  const urls = [`${api}/ens/{sender}/{data}.json`]
  const data = encodeFunctionData({ abi: ensResolverAbi, functionName: 'setUrls', args: [urls] })
  await sendInOrder(client, [{ label: 'setting the URL of the gateway', to: resolver, data }])
}
