import { z } from 'zod'
import type { Family, LabelledKey } from '../registry/families.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'
import type { ClusterSection } from './clusterSection.js'
import type { DraftChain } from './evmChain.js'
import { chainPresetOf } from './presets.js'
import { type SolanaConfig, solanaSection } from './solana.js'

type PerNetwork<Settings> = Readonly<Partial<Record<Network, Settings | undefined>>>

/** Settings of each configured network. */
export const perNetwork = <Settings extends z.ZodType>(settings: Settings) =>
  z.strictObject({ mainnet: settings.optional(), testnet: settings.optional() }).prefault({})

/** Schemas of the families' sections, by their keys in the chains file. */
export const clusterShape = {
  solana: perNetwork(solanaSection.cluster),
} satisfies Record<LabelledKey, z.ZodType>

/** Settings of all sections in a complete chains file. */
export interface ClusterSections {
  readonly solana: PerNetwork<SolanaConfig>
}
type Key = keyof typeof clusterShape
type Drafts = Readonly<Record<Key, PerNetwork<object>>>

const SECTIONS: Readonly<Record<Key, ClusterSection>> = { solana: solanaSection }

export const noClusters: ClusterSections = { solana: {} }

/** A network's configured cluster of nodes (such as Solana's), with its section of the chains file. */
interface Found {
  readonly key: Key
  readonly network: Network
  readonly section: ClusterSection
  readonly own: object
}

const clustersOf = (drafts: Drafts): Found[] =>
  (Object.keys(SECTIONS) as Key[]).flatMap((key) =>
    NETWORKS.flatMap((network) => {
      const own = drafts[key][network]
      return own ? [{ key, network, section: SECTIONS[key], own }] : []
    }),
  )

/** Chain families with a configured cluster of nodes (such as Solana's). */
export const familiesWithCluster = (drafts: Drafts): Family[] =>
  clustersOf(drafts).map(({ section }) => section.family)

export const hasConfiguredCluster = (drafts: Drafts, network: Network): boolean =>
  clustersOf(drafts).some((found) => found.network === network)

/** The hub of a network; undefined where the network has none. */
export const findHubDraft = (
  chains: readonly DraftChain[],
  network: Network,
): DraftChain | undefined =>
  chains.find((chain) => chain.network === network && chain.role === 'hub')

/** Fills in the clusters' presets, by network and hub. A local hub has none. */
export function withClusterPresets<Sections extends Drafts & { chains: readonly DraftChain[] }>(
  file: Sections,
): Sections {
  const known: Record<string, object> = {}
  for (const { key, network, section, own } of clustersOf(file)) {
    const hub = findHubDraft(file.chains, network)
    const isPublic =
      hub !== undefined && !hub.local && hub.chainId === chainPresetOf(hub.label)?.chainId
    known[key] = { ...known[key], [network]: isPublic ? section.withPresets(own, hub) : own }
  }
  return { ...file, ...known }
}

/** Reports clusters whose settings contradict their hub. */
export function checkClusters(
  file: Drafts & { chains: readonly DraftChain[] },
  issue: (path: string[], message: string) => void,
): void {
  for (const { key, network, section, own } of clustersOf(file)) {
    const hub = findHubDraft(file.chains, network)
    if (hub?.watchOnly) issue([key, network], 'can pay for nothing: the hub is watch-only')
    const refusal = section.refusal(own, hub?.local ?? false)
    if (refusal) issue([key, network, refusal.field], refusal.message)
  }
}

/** Sentences about missing settings in drafts of clusters. */
export const missingSettings = (drafts: Drafts): string[] =>
  clustersOf(drafts).flatMap(({ key, network, section, own }) =>
    Object.entries(section.missing)
      .filter(([field]) => Reflect.get(own, field) === undefined)
      .map(([field, advice]) => `${key}.${network}.${field} is missing: ${advice}`),
  )
