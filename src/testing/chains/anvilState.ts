import fs from 'node:fs'
import { writeAtomically } from '../processes/files.js'

interface State {
  best_block_number?: unknown
  accounts?: unknown
  blocks?: { header: { number: string; timestamp: string } }[]
}

/**
 * Repairs the state file at `statePath` so that anvil can start from it. An empty file is removed.
 * @returns block number of the state; undefined for a fresh chain
 * @throws Error for a file that a kill has truncated: the chain is lost
 */
export function repairAnvilStateFile(statePath: string): number | undefined {
  const bytes = fs.existsSync(statePath) ? fs.readFileSync(statePath) : Buffer.alloc(0)
  if (bytes.length === 0) {
    fs.rmSync(statePath, { force: true }) // created but never written
    return undefined
  }
  const state = stateOf(bytes)
  const block = Number(state?.best_block_number)
  const isHeld = state?.blocks?.some(({ header }) => Number(header?.number) === block)
  if (!isHeld || typeof state?.accounts !== 'object')
    throw new Error(`restoring a local chain: ${statePath} is no state of a chain; delete it`)
  const blocks = withOneGenesis(state.blocks!)
  if (blocks.length < state.blocks!.length)
    writeAtomically(statePath, JSON.stringify({ ...state, blocks }))
  return block
}

/**
 * Removes additional genesis blocks, since anvil may load any of them. Each start of anvil creates a genesis block
 * before it loads the saved state, and saves both blocks later. The chain's own genesis block is the oldest.
 */
function withOneGenesis(blocks: NonNullable<State['blocks']>): NonNullable<State['blocks']> {
  const geneses = blocks.filter(({ header }) => Number(header.number) === 0)
  const oldest = geneses.sort((a, b) => Number(a.header.timestamp) - Number(b.header.timestamp))[0]
  return blocks.filter((block) => block === oldest || !geneses.includes(block))
}

function stateOf(bytes: Buffer): State | undefined {
  try {
    return JSON.parse(bytes.toString('utf8')) as State
  } catch {
    return undefined
  }
}
