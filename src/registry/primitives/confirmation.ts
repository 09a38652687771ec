import { z } from 'zod'

/**
 * Default of a bridge's `confirmations`, by the chain's confirmation tag: how many blocks LayerZero's verifiers wait.
 * 64 blocks are two epochs of Ethereum.
 */
const BRIDGE_BLOCKS_BY_TAG = { finalized: 64, safe: 64 } as const
type ConfirmationTag = keyof typeof BRIDGE_BLOCKS_BY_TAG
/** Block tags that stand for a confirmed block. */
export const CONFIRMED_BLOCK_TAGS = Object.keys(BRIDGE_BLOCKS_BY_TAG) as [
  ConfirmationTag,
  ...ConfirmationTag[],
]

/**
 * Form of a confirmation policy in the chains file: a block tag of the node, or the number of blocks on top of a
 * confirmed block.
 */
export const confirmationSchema = z.union([
  z.enum(CONFIRMED_BLOCK_TAGS).transform((tag) => ({ kind: 'tag' as const, tag })),
  z
    .strictObject({ blocks: z.int().nonnegative() })
    .transform(({ blocks }) => ({ kind: 'depth' as const, blocks })),
])

/** Rule by which blocks of an EVM chain count as confirmed. */
export type ConfirmationPolicy = z.output<typeof confirmationSchema>

/** Rules that follow from a confirmation policy. */
export interface ConfirmationRules {
  /** Tag of the block to read besides the latest block; null for a policy without a tag. */
  tag: ConfirmationTag | null
  /**
   * Number of the newest confirmed block; negative for none.
   * @param latest number of the latest block
   * @param tagged number of the tag's block, undefined where the node has none
   */
  confirmedOf(latest: number, tagged: number | undefined): number
  /** How many blocks LayerZero's verifiers wait, unless the chain's `bridge.confirmations` is set. */
  bridgeBlocks: number
}

export function confirmationRulesOf(policy: ConfirmationPolicy): ConfirmationRules {
  if (policy.kind === 'tag') {
    const { tag } = policy
    return { tag, confirmedOf: (_, tagged = -1) => tagged, bridgeBlocks: BRIDGE_BLOCKS_BY_TAG[tag] }
  }
  const { blocks } = policy
  return {
    tag: null,
    confirmedOf: (latest) => latest - blocks,
    bridgeBlocks: Math.max(1, blocks),
  }
}

const FINALIZED_POLICY: ConfirmationPolicy = { kind: 'tag', tag: 'finalized' }

/**
 * Chains whose `safe` block is in data posted to L1, and can only be reorged together with L1's block: OP Stack and
 * Arbitrum Nitro. Before `safe`, a sequencer could revert a payment for a community name that is already granted.
 * `finalized` takes ten minutes longer on these chains. On other chains `finalized` takes seconds, or `safe` is
 * weaker.
 */
const LABELS_WITH_RELIABLE_SAFE_BLOCK: ReadonlySet<string> = new Set([
  '10',
  '8453',
  '81457',
  '42161',
])

/**
 * Confirmation policy of a chain that configures none. A hub decides names, so it waits for `finalized`. A spoke waits
 * for `safe` where that is reliable, for 10 blocks if it is not a public chain, and otherwise for `finalized`.
 * @param label of a public chain; undefined for a chain whose id is not that of its label's preset, such as a local one
 */
export function defaultConfirmationPolicy(
  role: 'hub' | 'spoke',
  label: string | undefined,
): ConfirmationPolicy {
  if (role === 'hub') return FINALIZED_POLICY
  if (label === undefined) return { kind: 'depth', blocks: 10 }
  return LABELS_WITH_RELIABLE_SAFE_BLOCK.has(label)
    ? { kind: 'tag', tag: 'safe' }
    : FINALIZED_POLICY
}
