import { z } from 'zod'

/** A block that the node names by a tag, or a number of blocks on top (`readHeads`). Solana's is `commitment`. */
export const confirmation = z.union([
  z.enum(['finalized', 'safe']),
  z.strictObject({ blocks: z.int().nonnegative() }),
])

export type Confirmation = z.output<typeof confirmation>

/**
 * Chains whose `safe` block stands in data posted to L1, and falls only with L1's own block: OP Stack and Arbitrum
 * Nitro. A sequencer that takes a block back before could take back a payment for a community name that is granted
 * already. `finalized` comes ten minutes later there. Elsewhere `finalized` takes seconds, or `safe` means less.
 */
const SAFE_LABELS: ReadonlySet<string> = new Set(['10', '8453', '81457', '42161'])

/** Policy of a chain that names none, by its preset's label: a hub decides names, and waits for `finalized`. */
export function defaultConfirmation(
  role: 'hub' | 'spoke',
  label: string | undefined,
): Confirmation {
  if (role === 'hub') return 'finalized'
  if (label === undefined) return { blocks: 10 }
  return SAFE_LABELS.has(label) ? 'safe' : 'finalized'
}

/** Blocks that LayerZero's verifiers wait for: two epochs of Ethereum where the policy is a tag. */
export const bridgeConfirmations = (policy: Confirmation | undefined): number =>
  typeof policy === 'object' ? Math.max(1, policy.blocks) : 64
