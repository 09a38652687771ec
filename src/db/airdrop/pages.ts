import { nodeCount, parentOf, siblingOf } from '../../registry/airdrop/tree.js'

/**
 * The nodes of an airdrop's tree, as they are stored: in pages of five levels. A page is named by the position of the node
 * on top of it, which lies in the page above, and holds the up to 62 nodes below, level by level. So a proof in a tree of a
 * million leaves is read from four rows rather than twenty, and a page (1,984 bytes) still lies in its row, not out of line.
 * The root itself is in no page.
 */
export const PAGE_LEVELS = 5
export const NODE_BYTES = 32

/** Where a node is stored: its page, and its first byte there. */
export interface NodePlace {
  page: number
  offset: number
}

/** The place of a node, position 1 or more. */
export function placeOf(position: number): NodePlace {
  if (position < 1) throw new RangeError('the root is in no page')
  const depth = depthOf(position)
  const below = ((depth - 1) % PAGE_LEVELS) + 1
  let page = position
  for (let level = 0; level < below; level++) page = parentOf(page)
  const before = 2 ** below - 2 + (position - firstBelow(page, below))
  return { page, offset: before * NODE_BYTES }
}

/** What a proof takes from one page. */
export interface ProofStep {
  page: number
  /** Places of its nodes there, counted in nodes from the page's start (0 to 61), in the order of the proof: at most five. */
  slots: number[]
}

/** The proof of the node at a position, page by page, lowest first: where only its own nodes are to be read. */
export function proofSteps(position: number): ProofStep[] {
  const steps: ProofStep[] = []
  for (let at = position; at > 0; ) {
    const below = ((depthOf(at) - 1) % PAGE_LEVELS) + 1
    // so many levels up: the ancestor of a complete tree
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
 * Gathers nodes into pages, in whatever order they come. From a tree builder they come so that only a few pages are ever
 * open.
 * @param onPage told each page once, when its last node is in
 * @returns takes the nodes (the root is passed over), and tells how many pages are open
 */
export function createPageWriter(leafCount: number, onPage: (page: number, nodes: Buffer) => void) {
  const open = new Map<number, { nodes: Buffer; missing: number }>()
  return {
    put(position: number, hash: Buffer): void {
      if (position === 0) return
      const { page, offset } = placeOf(position)
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

/** Levels fill from the left, so the nodes that a page has are the first of those it has room for. */
function nodesBelow(page: number, leafCount: number): number {
  const total = nodeCount(leafCount)
  let count = 0
  for (let level = 1; level <= PAGE_LEVELS; level++) {
    count += Math.min(Math.max(total - firstBelow(page, level), 0), 2 ** level)
  }
  return count
}

const depthOf = (position: number): number => 31 - Math.clz32(position + 1)
/** The leftmost position so many levels below a node. */
const firstBelow = (position: number, levels: number): number => (position + 1) * 2 ** levels - 1
