import type { z } from 'zod'
import type { ChainFamily } from '../registry/families.js'
import type { DraftChainConfig } from './evmChain.js'

/**
 * A section of the chains file, for a chain family with at most one chain per network (such as Solana). Payments on
 * such a chain are quoted, and relayed to the hub.
 */
export interface NonEvmSection<Draft extends object = object> {
  readonly family: ChainFamily
  /** Schema of the settings of one network's chain. */
  readonly settings: z.ZodType<Draft>
  /** Fills in missing settings of a chain that belongs to a public hub. */
  withPresets(draft: Draft, hub: DraftChainConfig): Draft
  /**
   * The setting of `draft` that the network's hub does not allow, with the reason; null for none.
   * @param isLocal true for a hub of local tests
   */
  refusal(draft: Draft, isLocal: boolean): { field: string; message: string } | null
  /** Fields that only a draft of the chains file may leave out, with advice for each. */
  readonly missing: Readonly<Record<string, string>>
}

/** Settings of a non-EVM chain in a complete chains file. */
export type CompleteNonEvmSettings<
  Section extends NonEvmSection,
  Draft = z.output<Section['settings']>,
> = Draft & Readonly<Required<Pick<Draft, keyof Section['missing'] & keyof Draft>>>
