import { compareEnsDeployment, ensResolverChainOf } from '../../chains/evm/deployment/ens.js'
import type { DraftChainsFile } from '../../config/chainsFile.js'
import { ConfigError, readEnvironment } from '../../config/index.js'
import { addressOfSigningKey, readRelayerOrEnsKey } from '../../config/relayerKey.js'
import { NETWORKS } from '../../registry/primitives/network.js'

/**
 * Opens the chain of an ENS name's resolver. `compare` compares the chain with the desired resolver. `desired` is null:
 * no hub, spoke or payments contract belongs to this deployment.
 * @param parent the ENS name
 * @throws ConfigError
 */
export function openEnsDeployment({ chains, deployment, ens }: DraftChainsFile, parent: string) {
  const { siteUrl, ensKeySources } = readEnvironment()
  const network = NETWORKS.find((one) => ens[one]?.parent === parent)
  const [entry, common] = network ? [ens[network], deployment[network]] : []
  if (!entry || !common)
    throw new ConfigError(
      `Missing in the chains file: \`ens\` of ${parent}, or \`deployment\` (docs/use/ens.md).`,
    )
  const chain = ensResolverChainOf(chains, entry)
  if (!siteUrl)
    throw new ConfigError('SITE_URL is not set: clients of ENS ask for answers below it.')
  // the settings hold only the signer's address, so its key need not be on the machine that deploys
  const key = ensKeySources.address ? null : readRelayerOrEnsKey('ENS', ensKeySources)
  const signer = key ? addressOfSigningKey(key) : ensKeySources.address
  if (!signer)
    throw new ConfigError(
      'ENS_ADDRESS is not set: it is the address of the key that signs answers.',
    )
  const { label } = chain
  const { owner, salt } = { ...common, ...chains.find((one) => one.label === label)?.deployment }
  const url = `${siteUrl.replace(/\/+$/, '')}/ens/{sender}/{data}.json`
  const desired = { ...entry, chain: label, owner, salt, signer, url }
  return {
    desired: null,
    chains: new Map([[label, chain]]),
    owners: new Map([[label, owner]]),
    compare: () => chain.rpc.onOneNode((ask) => compareEnsDeployment(ask, desired)),
  }
}
