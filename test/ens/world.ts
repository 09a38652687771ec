import { encodeDeployData, encodeFunctionData, type Hex, namehash } from 'viem'
import {
  localEnsRegistryAbi,
  localEnsRegistryBytecode,
} from '../../contracts/evm/artifacts/local/LocalEnsRegistry.js'
import {
  localUniversalResolverAbi,
  localUniversalResolverBytecode,
} from '../../contracts/evm/artifacts/local/LocalUniversalResolver.js'
import { createEnsGateway, type EnsGateway } from '../../src/ens/gateway.js'
import { createPrimaryNameTransactionsBuilder } from '../../src/ens/primary.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { memberOf } from '../api/members.js'
import { bid, randomAddress, startApi } from '../api/support.js'
import { solanaAccount } from '../api/wallets.js'
import { startEnsWorld as startContracts } from '../contracts/support/ens.js'
import { ENS_CHAIN_ID, ensClients, ensKey, parentsWith } from '../support/ens.js'

/** Reverse registrar of a chain that does not run. */
export const L2_REGISTRAR = `0x${'12'.repeat(20)}` as const

export type EnsWorld = Awaited<ReturnType<typeof startEnsWorld>>

/**
 * A chain with ENS's contracts (doubles) and the resolver of `bundles.eth` and `testers.eth`, an API as its gateway,
 * and ordinary clients. `serve` replaces the gateway.
 */
export async function startEnsWorld() {
  const url = `http://127.0.0.1:${await chooseFreePort()}`
  const contracts = await startContracts([`${url}/ens/{sender}/{data}.json`])
  const { rpcUrl, owner, resolver } = contracts
  const registry = await contracts.deploy(
    encodeDeployData({ abi: localEnsRegistryAbi, bytecode: localEnsRegistryBytecode }),
  )
  const universalResolver = await contracts.deploy(
    encodeDeployData({
      abi: localUniversalResolverAbi,
      bytecode: localUniversalResolverBytecode,
      args: [resolver],
    }),
  )
  for (const parent of ['bundles.eth', 'testers.eth']) {
    const node = [namehash(parent), resolver] as const
    const data = encodeFunctionData({
      abi: localEnsRegistryAbi,
      functionName: 'setResolver',
      args: node,
    })
    await contracts.succeed({ from: owner, to: registry, data })
  }
  const reverseRegistrar = (
    await contracts.publicClient.readContract({
      address: universalResolver,
      abi: localUniversalResolverAbi,
      functionName: 'reverseRegistrar',
    })
  ).toLowerCase() as Hex
  const parents = parentsWith(resolver)
  const right = createEnsGateway(parents, ensKey.signTypedData)
  const reverseRegistrars = { [ENS_CHAIN_ID]: reverseRegistrar, 8453: L2_REGISTRAR }
  let gateway: EnsGateway = right
  const api = await startApi({
    port: Number(new URL(url).port),
    siteUrl: url,
    ens: (asked, lookups) => gateway(asked, lookups),
    primaryNames: createPrimaryNameTransactionsBuilder({
      mainnet: { ...parents.mainnet, reverseRegistrars },
      testnet: parents.testnet,
    }),
  })
  const clients = ensClients({ rpcUrl, chainId: ENS_CHAIN_ID }, { registry, universalResolver })
  return {
    contracts,
    resolver,
    reverseRegistrar,
    url,
    api,
    ...clients,
    people: await plant(api),
    serve(other: EnsGateway = right) {
      gateway = other
    },
    async stop() {
      clients.ethers.destroy()
      await Promise.all([api.stop(), contracts.stop()])
    },
  }
}

/** Names on the hub, wallets of every visibility, a name below a community, and a name on testnet. */
async function plant(api: Awaited<ReturnType<typeof startApi>>) {
  const alice = await memberOf(api)
  const hot = await memberOf(api)
  const bob = await memberOf(api)
  const secret = await memberOf(api)
  const late = await memberOf(api)
  const quiet = await memberOf(api)
  const young = await memberOf(api)
  const sol = await memberOf(api, solanaAccount())
  const payer = await memberOf(api, solanaAccount())
  const at = { atMs: Date.now() }
  await api.append('mainnet', [
    bid({ from: alice.address, name: 'seedling', ...at }),
    bid({ from: payer.address, name: 'sunny', ...at }),
  ])
  await api.append('testnet', [bid({ from: bob.address, name: 'tester', ...at })])
  const join = async (of: typeof alice, member: typeof alice, name: string, isPrivate = false) => {
    await of.call('POST', '/v1/clusters/wallets', [{ address: member.address, name, isPrivate }])
    const { clusterId } = (await api.get(`/v1/clusters/address/${of.address}`)).body
    await member.call('POST', `/v1/clusters/verify/${clusterId}`)
  }
  await join(alice, sol, 'sol')
  await join(alice, secret, 'secret', true)
  await alice.call('POST', '/v1/clusters/wallets', [
    { address: randomAddress(), name: 'unverified' },
  ])
  await alice.call('PUT', '/v1/clusters/wallets/names', [{ address: alice.address, name: 'first' }])
  await join(alice, late, 'main')
  // older wallets of its kind, which must not be resolved
  await payer.call('POST', '/v1/clusters/wallets', [
    { address: randomAddress(), name: 'unverified' },
  ])
  await join(payer, quiet, 'quiet', true)
  await join(payer, hot, 'hot')
  await join(payer, young, 'young')
  await alice.call('PUT', '/v1/communities/seedling', {})
  await bob.call('POST', '/v1/names/community/seedling/register', { name: 'bob' })
  return { alice, late, secret, hot, bob, sol, payer }
}
