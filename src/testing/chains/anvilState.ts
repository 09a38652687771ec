import fs from 'node:fs'
import { writeFileAtomically } from '../../config/files.js'
import { readFileOrUndefined } from '../processes/files.js'

interface AnvilState {
  blocks?: { header: { number: string; timestamp: string } }[]
}

/**
 * Repairs the state file at `statePath` so that anvil can start from it: removes an empty file, and all genesis blocks
 * but the oldest, which is the chain's own. Each start of anvil creates another genesis block and later saves it too.
 * The next start might load any of them.
 * @throws Error for a file that a kill has truncated: the chain is lost
 */
export function repairAnvilStateFile(statePath: string): void {
  const text = readFileOrUndefined(statePath)
  if (!text) {
    fs.rmSync(statePath, { force: true }) // created but never written
    return
  }
  const state = parseState(statePath, text)
  const blocks = state.blocks ?? []
  const geneses = blocks.filter(({ header }) => Number(header.number) === 0)
  if (geneses.length < 2) return
  geneses.sort((a, b) => Number(a.header.timestamp) - Number(b.header.timestamp))
  const additional = geneses.slice(1)
  const repaired = { ...state, blocks: blocks.filter((block) => !additional.includes(block)) }
  writeFileAtomically(statePath, JSON.stringify(repaired))
}

function parseState(statePath: string, text: string): AnvilState {
  try {
    return JSON.parse(text) as AnvilState
  } catch {
    throw new Error(`restoring a local chain: ${statePath} is no state of a chain; delete it`)
  }
}
