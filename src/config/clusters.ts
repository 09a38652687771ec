import { z } from 'zod'
import type { LabelledKey } from '../registry/families.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'
import type { ClusterSection, CompleteCluster } from './clusterSection.js'
import type { DraftChain } from './evmChain.js'
import { chainPresetOf } from './presets.js'
import { solanaSection } from './solana.js'

type PerNetwork<Settings> = Readonly<Partial<Record<Network, Settings | undefined>>>

/** Settings of each configured network. */
export const settingsPerNetwork = <Settings extends z.ZodType>(settings: Settings) =>
  z.strictObject({ mainnet: settings.optional(), testnet: settings.optional() }).prefault({})

/** Sections of the chains file by their keys. */
const SECTIONS = { solana: solanaSection } satisfies Record<LabelledKey, ClusterSection>
type Sections = typeof SECTIONS
type Key = keyof Sections
const KEYS = Object.keys(SECTIONS) as Key[]

type Shape<Settings> = Settings extends z.ZodType
  ? ReturnType<typeof settingsPerNetwork<Settings>>
  : never

/** Schemas of the sections. */
export const clusterShape = Object.fromEntries(
  Object.entries<ClusterSection>(SECTIONS).map(([key, { cluster }]) => [
    key,
    settingsPerNetwork(cluster),
  ]),
) as { [K in Key]: Shape<Sections[K]['cluster']> }

/** Settings of all sections in a complete chains file. */
export type ClusterSections = { readonly [K in Key]: PerNetwork<CompleteCluster<Sections[K]>> }
type Drafts = Readonly<Record<Key, PerNetwork<object>>>

export const emptyClusterSections = z.object(clusterShape).parse({}) as ClusterSections

/** A network's configured cluster of nodes (such as Solana's), with its section of the chains file. */
interface Found {
  readonly key: Key
  readonly network: Network
  readonly section: ClusterSection
  readonly own: object
}

/** The configured clusters of all sections. */
export const configuredClusters = (drafts: Drafts): Found[] =>
  KEYS.flatMap((key) =>
    NETWORKS.flatMap((network) => {
      const own = drafts[key][network]
      return own ? [{ key, network, section: SECTIONS[key], own }] : []
    }),
  )

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
  for (const { key, network, section, own } of configuredClusters(file)) {
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
  for (const { key, network, section, own } of configuredClusters(file)) {
    const hub = findHubDraft(file.chains, network)
    if (hub?.watchOnly) issue([key, network], 'can pay for nothing: the hub is watch-only')
    const refusal = section.refusal(own, hub?.local ?? false)
    if (refusal) issue([key, network, refusal.field], refusal.message)
  }
}

/** Sentences about missing settings in drafts of clusters. */
export const missingSettings = (drafts: Drafts): string[] =>
  configuredClusters(drafts).flatMap(({ key, network, section, own }) =>
    Object.entries(section.missing)
      .filter(([field]) => Reflect.get(own, field) === undefined)
      .map(([field, advice]) => `${key}.${network}.${field} is missing: ${advice}`),
  )
