import { confirmationRulesOf } from '../registry/primitives/confirmation.js'
import type { Network } from '../registry/primitives/network.js'
import type { DraftChainsFile } from './chainsFile.js'
import { ConfigError } from './error.js'
import { chainPresetOf } from './presets.js'

const DAY_SECONDS = 86_400
/** Default daily limit of deliveries, as a multiple of the minimum bid. */
const DELIVER_LIMIT_IN_MINIMUM_BIDS = 100n

type DeploymentSource = Pick<DraftChainsFile, 'chains' | 'deployment'>
type Hex = `0x${string}`

/**
 * Desired settings of a chain's contracts, from the chains file. `contract` and `communityPayments`, their addresses,
 * are null before the deployment.
 */
export type DesiredChainDeployment = ReturnType<typeof desiredChainDeployments>[number]

/** Desired settings of the bridge on one chain. Each setting replaces a default of LayerZero. */
export type DesiredBridgeSettings = NonNullable<ReturnType<typeof desiredBridgeSettings>>

/**
 * Desired settings of a network's contracts, hub first, from a chains file or its draft.
 * @throws ConfigError with one sentence where a setting is missing or contradicts another
 */
export function desiredChainDeployments(
  { chains, deployment }: DeploymentSource,
  network: Network,
) {
  const common = deployment[network]
  if (!common)
    throw new ConfigError(
      `The chains file has no \`deployment.${network}\`: say owner and relayer there (docs/run/deploying.md). A local world deploys its contracts itself; \`clusterd rehearse\` has chains to deploy on.`,
    )
  const ours = chains.filter((chain) => chain.network === network && !chain.watchOnly)
  const desired = ours.map((chain) => {
    const { label, role, endpoint, eid, contract, communityPayments } = chain
    if (!endpoint || !eid)
      throw new ConfigError(
        `Chain "${label}" has no \`endpoint\` or no \`eid\`: name LayerZero's endpoint there. A plain anvil has none: \`clusterd rehearse\` starts chains that do (docs/run/deploying.md).`,
      )
    const { owner, pauser, relayer, payments } = { ...common, ...chain.deployment }
    return {
      label,
      role,
      endpoint,
      eid,
      owner,
      pauser,
      relayer,
      hasPayments: payments,
      minimumWei: common.minimumWei,
      deliverLimitWei: common.deliverLimitWei ?? DELIVER_LIMIT_IN_MINIMUM_BIDS * common.minimumWei,
      reclaimSeconds: BigInt(Math.round(common.reclaimDays * DAY_SECONDS)),
      salt: common.salt,
      contract: contract ?? null,
      communityPayments: communityPayments ?? null,
      // null: LayerZero's defaults apply
      bridge: desiredBridgeSettings(chain),
    }
  })
  if (desired.filter(({ role }) => role === 'hub').length !== 1)
    throw new ConfigError(`The chains file has no hub of the ${network} to deploy.`)
  checkBridges(desired)
  return desired.sort((a, b) => Number(b.role === 'hub') - Number(a.role === 'hub'))
}

function desiredBridgeSettings({
  label,
  chainId,
  bridge,
  confirmation,
}: DeploymentSource['chains'][number]) {
  const preset = chainPresetOf(label)
  // a local chain with the label of a public chain has none of the public chain's LayerZero contracts
  const known = chainId === preset?.chainId ? preset.layerZero : undefined
  if (!bridge && !known) return null
  const { optionalDvns = [], optionalThreshold = 0 } = bridge ?? {}
  const addressOf = (field: 'sendLibrary' | 'receiveLibrary' | 'executor'): Hex => {
    const address = bridge?.[field] ?? known?.[field]
    if (!address)
      throw new ConfigError(
        `\`bridge\` of chain "${label}" has no \`${field}\`, and no preset knows it.`,
      )
    return address
  }
  const required = bridge?.requiredDvns ?? (known ? [known.dvn] : [])
  if (required.length + optionalThreshold === 0)
    throw new ConfigError(
      `\`bridge\` of chain "${label}" names no verifiers: say \`requiredDvns\`.`,
    )
  if (
    optionalThreshold > optionalDvns.length ||
    (optionalThreshold === 0) !== (optionalDvns.length === 0)
  )
    throw new ConfigError(
      `\`bridge\` of chain "${label}": \`optionalThreshold\` is 1 to the number of \`optionalDvns\`.`,
    )
  return {
    sendLibrary: addressOf('sendLibrary'),
    receiveLibrary: addressOf('receiveLibrary'),
    executor: addressOf('executor'),
    // LayerZero's message library requires unique addresses in ascending order
    requiredDvns: sortedUnique(required),
    optionalDvns: sortedUnique(optionalDvns),
    optionalThreshold,
    confirmations: bridge?.confirmations ?? confirmationRulesOf(confirmation).bridgeBlocks,
  }
}

const sortedUnique = (addresses: readonly Hex[]): Hex[] => [...new Set(addresses)].sort()

/**
 * Checks that both ends of each bridge require the same number of verifiers, and have the same threshold of optional
 * verifiers: with different numbers no message passes. A verifier's address differs by chain and is not compared.
 */
function checkBridges(desired: readonly DesiredChainDeployment[]): void {
  const hub = desired.find(({ role }) => role === 'hub')?.bridge
  for (const { label, role, bridge } of desired) {
    if (role === 'hub') continue
    if (!hub !== !bridge)
      throw new ConfigError(`Chain "${label}" and its hub need \`bridge\` both, or neither.`)
    if (!hub || !bridge) continue
    if (
      hub.requiredDvns.length !== bridge.requiredDvns.length ||
      hub.optionalThreshold !== bridge.optionalThreshold
    )
      throw new ConfigError(
        `\`bridge\` of chain "${label}" names other verifiers than its hub's: as many required ones, and the same threshold.`,
      )
  }
}
