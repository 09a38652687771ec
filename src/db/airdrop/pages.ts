import { nodeCount, parentOf, siblingOf } from '../../registry/airdrop/tree.js'

/**
 * Stored form of an airdrop's tree: pages of five levels. A page is named by the position of the node on top of it,
 * which lies in the page above, and holds the up to 62 nodes below, level by level; the root is in no page. A proof in
 * a tree of a million leaves is read from four rows instead of twenty with a row per node, and a page (1,984 bytes)
 * still fits into its row.
 */
export const PAGE_LEVELS = 5
export const NODE_BYTES = 32

/** Location of a stored node: its page and its first byte there. */
export interface NodeOffset {
  page: number
  offset: number
}

/** Location of the node at a position. @throws RangeError for position 0, the root */
export function offsetOf(position: number): NodeOffset {
  if (position < 1) throw new RangeError('the root is in no page')
  const depth = depthOf(position)
  const below = ((depth - 1) % PAGE_LEVELS) + 1
  let page = position
  for (let level = 0; level < below; level++) page = parentOf(page)
  const before = 2 ** below - 2 + (position - firstBelow(page, below))
  return { page, offset: before * NODE_BYTES }
}

/** Nodes that a proof takes from one page. */
export interface ProofStep {
  page: number
  /** Indexes of its nodes in the page (0 to 61), in the order of the proof: at most five. */
  slots: number[]
}

/** Steps of the proof of the node at a position, page by page, lowest first. */
export function proofSteps(position: number): ProofStep[] {
  const steps: ProofStep[] = []
  for (let at = position; at > 0; ) {
    const below = ((depthOf(at) - 1) % PAGE_LEVELS) + 1
    // the ancestor `below` levels up, as in a complete tree
    const page = Math.floor((at + 1) / 2 ** below) - 1
    const slots: number[] = []
    for (let level = below; level > 0; level--) {
      slots.push(2 ** level - 2 + siblingOf(at) - firstBelow(page, level))
      at = parentOf(at)
    }
    steps.push({ page, slots })
  }
  return steps
}

/**
 * Gathers nodes into pages, in any order; in the order of a tree builder only a few pages are open at a time.
 * @param onPage called once per page, with its last node
 * @returns `put` takes a node (the root is skipped), `open` counts the open pages
 */
export function createPageWriter(leafCount: number, onPage: (page: number, nodes: Buffer) => void) {
  const open = new Map<number, { nodes: Buffer; missing: number }>()
  return {
    put(position: number, hash: Buffer): void {
      if (position === 0) return
      const { page, offset } = offsetOf(position)
      const entry = open.get(page) ?? newPage(page)
      entry.nodes.set(hash, offset)
      entry.missing -= 1
      if (entry.missing > 0) return
      open.delete(page)
      onPage(page, entry.nodes)
    },
    open: () => open.size,
  }

  function newPage(page: number) {
    const count = nodesBelow(page, leafCount)
    const entry = { nodes: Buffer.alloc(count * NODE_BYTES), missing: count }
    open.set(page, entry)
    return entry
  }
}

/** Number of nodes in a page. Levels fill from the left, so a page's last slots may be empty. */
function nodesBelow(page: number, leafCount: number): number {
  const total = nodeCount(leafCount)
  let count = 0
  for (let level = 1; level <= PAGE_LEVELS; level++) {
    count += Math.min(Math.max(total - firstBelow(page, level), 0), 2 ** level)
  }
  return count
}

const depthOf = (position: number): number => 31 - Math.clz32(position + 1)
/** Leftmost position `levels` below a node. */
const firstBelow = (position: number, levels: number): number => (position + 1) * 2 ** levels - 1
