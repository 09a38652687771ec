import { z } from 'zod'

/** Confirmation policy of an EVM chain: a block that the node names by a tag, or a number of blocks on top. */
export const confirmation = z.union([z.enum(['finalized', 'safe']), z.strictObject({ blocks: z.int().nonnegative() })])

export type Confirmation = z.output<typeof confirmation>

/** A spoke of which no preset is known. */
const DEPTH_OF_SPOKE = { blocks: 10 } as const
/**
 * Chains whose `safe` block stands in data posted to L1, and falls only with L1's own block: OP Stack and Arbitrum
 * Nitro. A sequencer that takes a block back before could take back a payment for a community name that is granted
 * already. `finalized` comes ten minutes later there. Elsewhere `finalized` takes seconds, or `safe` means less.
 */
const SAFE_LABELS: ReadonlySet<string> = new Set(['10', '8453', '81457', '42161'])
/** Blocks that LayerZero's verifiers wait for where the policy is no number: two epochs of Ethereum. */
const BLOCKS_OF_TAG = 64

/**
 * Policy of a chain that names none: a hub decides names, and waits for `finalized` everywhere.
 * @param label of the chain's preset, undefined where it has none
 */
export function defaultConfirmation(role: 'hub' | 'spoke', label: string | undefined): Confirmation {
  if (role === 'hub') return 'finalized'
  if (label === undefined) return DEPTH_OF_SPOKE
  return SAFE_LABELS.has(label) ? 'safe' : 'finalized'
}

/** Tag of the confirmed block that a node is asked for; null where it follows from the newest one. */
export const confirmedTag = (policy: Confirmation) => (typeof policy === 'string' ? policy : null)

/** Number of the newest confirmed block, negative while there is none. @param tagged number of the tag's block */
export const confirmedBlock = (policy: Confirmation, latest: number, tagged: number | undefined): number =>
  typeof policy === 'string' ? (tagged ?? -1) : latest - policy.blocks

/** Blocks that LayerZero's verifiers wait for. */
export const bridgeConfirmations = (policy: Confirmation | undefined): number =>
  typeof policy === 'object' ? Math.max(1, policy.blocks) : BLOCKS_OF_TAG
