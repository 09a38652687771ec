import fs from 'node:fs'
import { writeAtomically } from '../processes/files.js'
import { sleep } from '../processes/processes.js'

/** How often the file's size and time are looked at: much cheaper than a copy. */
const LOOK_MS = 200
/** A copy that took t is followed by a pause of at least 20 t, so that reading and parsing cost 5 % of a core at most. */
const PAUSE_PER_COST = 20

export interface StateKeeper {
  /** Copies what is new, if the file parses, and stops looking. */
  stop(): Promise<void>
}

/** Where the checked copy of an anvil state file is kept. */
export function checkedCopyOf(statePath: string): string {
  return `${statePath}.checked`
}

/**
 * Makes `statePath` a file that anvil can start from: anvil writes it in place, so a kill can leave half of it; then the
 * checked copy takes its place. Whichever of the two parses and is at the higher block is used; none: nothing to start from.
 * @returns the block number of the state to start from, undefined for a fresh chain
 * @throws when files exist and none of them can be used: the chain is lost, and that has to be said
 */
export function restoreState(statePath: string): number | undefined {
  const copyPath = checkedCopyOf(statePath)
  const file = readState(statePath)
  const copy = readState(copyPath)
  if (!file && !copy) {
    const left = [statePath, copyPath].filter((name) => fs.existsSync(name) && fs.statSync(name).size > 0)
    if (left.length > 0) throw new Error(`restoring a local chain: ${left.join(' and ')} can't be parsed; delete them`)
    fs.rmSync(statePath, { force: true }) // created and never written
    return undefined
  }
  const useCopy = copy !== undefined && (!file || copy.block > file.block)
  const newest = useCopy ? copy : (file as State)
  const bytes = withOneGenesis(newest.bytes)
  if (useCopy || bytes !== newest.bytes) writeAtomically(statePath, bytes)
  return newest.block
}

/**
 * Every anvil makes a genesis block of its own before it loads a state, and writes it into its next one beside the
 * state's; from several, loading takes any. The chain's own is the oldest.
 */
function withOneGenesis(bytes: Buffer): Buffer {
  const state = JSON.parse(bytes.toString('utf8')) as { blocks: { header: { number: string; timestamp: string } }[] }
  const isGenesis = ({ header }: (typeof state.blocks)[number]) => Number(header.number) === 0
  const geneses = state.blocks.filter(isGenesis)
  if (geneses.length < 2) return bytes
  const oldest = geneses.reduce((a, b) => (Number(b.header.timestamp) < Number(a.header.timestamp) ? b : a))
  const blocks = [oldest, ...state.blocks.filter((block) => !isGenesis(block))]
  return Buffer.from(JSON.stringify({ ...state, blocks }))
}

/**
 * Keeps a checked copy of the state file while anvil runs: read, parsed, written beside and renamed, whenever the file
 * has changed. At every instant the copy, if there is one, is whole.
 */
export function keepCheckedCopy(statePath: string): StateKeeper {
  let stopped = false
  let seen = ''
  const copyIfNew = () => {
    const stamp = stampOf(statePath)
    if (stamp === undefined || stamp === seen) return
    const state = readState(statePath)
    // A write during the read could mix two states that both look whole: only an untouched file counts.
    if (!state || stampOf(statePath) !== stamp) return
    writeAtomically(checkedCopyOf(statePath), state.bytes)
    seen = stamp
  }
  const loop = (async () => {
    while (!stopped) {
      const start = performance.now()
      copyIfNew()
      await sleep(Math.max(LOOK_MS, (performance.now() - start) * PAUSE_PER_COST))
    }
  })()
  return {
    async stop() {
      stopped = true
      await loop
      copyIfNew()
    },
  }
}

interface State {
  bytes: Buffer
  block: number
}

/** Reads a state file; undefined when it is absent, cut off, or doesn't hold the block it claims to be at. */
function readState(file: string): State | undefined {
  try {
    const bytes = fs.readFileSync(file)
    const state = JSON.parse(bytes.toString('utf8')) as {
      best_block_number?: unknown
      accounts?: unknown
      blocks?: { header?: { number?: unknown } }[]
    }
    const block = Number(state.best_block_number)
    if (!Number.isSafeInteger(block) || typeof state.accounts !== 'object' || !Array.isArray(state.blocks)) {
      return undefined
    }
    const held = state.blocks.some((one) => Number(one.header?.number) === block)
    return held ? { bytes, block } : undefined
  } catch {
    return undefined
  }
}

function stampOf(file: string): string | undefined {
  try {
    const { mtimeNs, size, ino } = fs.statSync(file, { bigint: true })
    return `${ino}.${mtimeNs}.${size}`
  } catch {
    return undefined
  }
}
