import type { z } from 'zod'
import type { Family } from '../registry/families.js'
import type { DraftChain } from './evmChain.js'

/**
 * A section of the chains file for a family that has at most one cluster a network, whose payments are quoted and
 * delivered at the hub.
 */
export interface ClusterSection<Draft extends object = object> {
  readonly family: Family
  /** Settings of one network's cluster. */
  readonly cluster: z.ZodType<Draft>
  /** Fills in what is known of the clusters beside a public hub. */
  withPresets(own: Draft, hub: DraftChain): Draft
  /** A setting that does not go with the hub. @param isLocal whether the hub is of a local world */
  refusal(own: Draft, isLocal: boolean): { field: string; message: string } | null
  /** Fields that only a draft may leave out, and what to do about each. */
  readonly missing: Readonly<Record<string, string>>
}
