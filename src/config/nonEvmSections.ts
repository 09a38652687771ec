import { z } from 'zod'
import type { LabelledFamilyKey } from '../registry/families.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'
import type { DraftChainConfig } from './evmChain.js'
import type { CompleteNonEvmSettings, NonEvmSection } from './nonEvmSection.js'
import { chainPresetOf } from './presets.js'
import { solanaSection } from './solana.js'

type PerNetwork<Settings> = Readonly<Partial<Record<Network, Settings | undefined>>>

/** Schema of settings per network. Either network may be left out. */
export const schemaPerNetwork = <Settings extends z.ZodType>(settings: Settings) =>
  z.strictObject({ mainnet: settings.optional(), testnet: settings.optional() }).prefault({})

/** Sections of the chains file for chain families other than EVM, by section key. */
const NON_EVM_SECTIONS = { solana: solanaSection } satisfies Record<
  LabelledFamilyKey,
  NonEvmSection
>
type NonEvmSectionTable = typeof NON_EVM_SECTIONS
type NonEvmSectionKey = keyof NonEvmSectionTable
const NON_EVM_SECTION_KEYS = Object.keys(NON_EVM_SECTIONS) as NonEvmSectionKey[]

type SectionSchema<Settings> = Settings extends z.ZodType
  ? ReturnType<typeof schemaPerNetwork<Settings>>
  : never

/** Schemas of the chains file's sections for non-EVM families, by section key. */
export const nonEvmSectionSchemas = Object.fromEntries(
  Object.entries<NonEvmSection>(NON_EVM_SECTIONS).map(([key, { settings }]) => [
    key,
    schemaPerNetwork(settings),
  ]),
) as { [K in NonEvmSectionKey]: SectionSchema<NonEvmSectionTable[K]['settings']> }

/** Settings of all non-EVM chains in a complete chains file, by section key. */
export type NonEvmSections = {
  readonly [K in NonEvmSectionKey]: PerNetwork<CompleteNonEvmSettings<NonEvmSectionTable[K]>>
}
type SectionDrafts = Readonly<Record<NonEvmSectionKey, PerNetwork<object>>>

export const emptyNonEvmSections = z.object(nonEvmSectionSchemas).parse({}) as NonEvmSections

/** Settings of one non-EVM chain (such as Solana devnet) in a draft of the chains file, and the rules for them. */
interface ConfiguredSection {
  readonly key: NonEvmSectionKey
  readonly network: Network
  readonly section: NonEvmSection
  readonly draft: object
}

/** The non-EVM chains that a chains file configures, in all sections and networks. */
export const configuredNonEvmSections = (drafts: SectionDrafts): ConfiguredSection[] =>
  NON_EVM_SECTION_KEYS.flatMap((key) =>
    NETWORKS.flatMap((network) => {
      const draft = drafts[key][network]
      return draft ? [{ key, network, section: NON_EVM_SECTIONS[key], draft }] : []
    }),
  )

/** The hub of a network in a draft of the chains file; undefined where the network has none. */
export const findHubDraft = (
  chains: readonly DraftChainConfig[],
  network: Network,
): DraftChainConfig | undefined =>
  chains.find((chain) => chain.network === network && chain.role === 'hub')

/**
 * Fills in missing settings of non-EVM chains from the presets of their network's hub. Only a public hub has presets.
 */
export function withNonEvmPresets<
  Sections extends SectionDrafts & { chains: readonly DraftChainConfig[] },
>(file: Sections): Sections {
  const known: Record<string, object> = {}
  for (const { key, network, section, draft } of configuredNonEvmSections(file)) {
    const hub = findHubDraft(file.chains, network)
    const isPublic =
      hub !== undefined && !hub.local && hub.chainId === chainPresetOf(hub.label)?.chainId
    known[key] = { ...known[key], [network]: isPublic ? section.withPresets(draft, hub) : draft }
  }
  return { ...file, ...known }
}

/** Reports non-EVM chains whose settings contradict the hub of their network. */
export function checkNonEvmSections(
  file: SectionDrafts & { chains: readonly DraftChainConfig[] },
  issue: (path: string[], message: string) => void,
): void {
  for (const { key, network, section, draft } of configuredNonEvmSections(file)) {
    const hub = findHubDraft(file.chains, network)
    if (hub?.watchOnly) issue([key, network], 'can pay for nothing: the hub is watch-only')
    const refusal = section.refusal(draft, hub?.local ?? false)
    if (refusal) issue([key, network, refusal.field], refusal.message)
  }
}

/** Sentences about the missing settings of non-EVM chains in a draft of the chains file. */
export const missingNonEvmSettings = (drafts: SectionDrafts): string[] =>
  configuredNonEvmSections(drafts).flatMap(({ key, network, section, draft }) =>
    Object.entries(section.missing)
      .filter(([field]) => Reflect.get(draft, field) === undefined)
      .map(([field, advice]) => `${key}.${network}.${field} is missing: ${advice}`),
  )
