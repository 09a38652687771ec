import fs from 'node:fs'
import { writeAtomically } from '../processes/files.js'
import { sleep } from '../processes/processes.js'

/** Polling interval of the file's size and time, which is much cheaper than a copy. */
const LOOK_MS = 200
/** Pause after a copy, as a multiple of its duration, so copying costs 5 % of a core at most. */
const PAUSE_PER_COST = 20

/** Path of the checked copy of an anvil state file. */
export function checkedCopyOf(statePath: string): string {
  return `${statePath}.checked`
}

/**
 * Makes `statePath` a file that anvil can start from. anvil writes in place, so a kill can truncate the file; the
 * checked copy replaces it then. Of the two, the one that parses and is at the higher block is used.
 * @returns block number of the state, undefined for a fresh chain
 * @throws Error when files exist but none is usable: the chain is lost
 */
export function restoreState(statePath: string): number | undefined {
  const copyPath = checkedCopyOf(statePath)
  const file = readState(statePath)
  const copy = readState(copyPath)
  if (!file && !copy) {
    const left = [statePath, copyPath].filter((name) => fs.existsSync(name) && fs.statSync(name).size > 0)
    if (left.length > 0) throw new Error(`restoring a local chain: ${left.join(' and ')} can't be parsed; delete them`)
    fs.rmSync(statePath, { force: true }) // created but never written
    return undefined
  }
  const useCopy = copy !== undefined && (!file || copy.block > file.block)
  const newest = useCopy ? copy : (file as State)
  const bytes = withOneGenesis(newest.bytes)
  if (useCopy || bytes !== newest.bytes) writeAtomically(statePath, bytes)
  return newest.block
}

/**
 * Drops superfluous genesis blocks, since loading picks any. Each anvil creates one before it loads a state and saves
 * both; the chain's own is the oldest.
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

/** Each change of the state file is checked, written beside and renamed. */
export function keepCheckedCopy(statePath: string) {
  let stopped = false
  let seen = ''
  const copyIfNew = () => {
    const stamp = stampOf(statePath)
    if (stamp === undefined || stamp === seen) return
    const bytes = fs.readFileSync(statePath)
    // a write during the read could mix two valid states: only an untouched file counts
    if (!stateOf(bytes) || stampOf(statePath) !== stamp) return
    writeAtomically(checkedCopyOf(statePath), bytes)
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
    /** Copies a changed file, if it parses, and ends the polling. */
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

/** Undefined when absent, truncated, or without the block that the file claims to be at. */
function readState(file: string): State | undefined {
  return fs.existsSync(file) ? stateOf(fs.readFileSync(file)) : undefined
}

function stateOf(bytes: Buffer): State | undefined {
  try {
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
