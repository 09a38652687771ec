/** Processor time of the work below, ms, at which one test file at once would be enough. */
const FILES_MS = 64
const TRIES = 4

/** A piece of work such as a fold's: texts, a Map, integers. @returns processor time that it took, ms */
function workMs(): number {
  const before = process.cpuUsage()
  const sums = new Map<string, number>()
  for (let i = 0; i < 400_000; i++) {
    const key = `key ${i % 5_000}`
    sums.set(key, Math.imul((sums.get(key) ?? 0) ^ i, 0x01000193))
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

const coreMs = Math.min(...Array.from({ length: TRIES }, workMs))

/**
 * Test files of a project that run at once. Most of their time goes to waiting for blocks and for time limits, the more
 * of it the quicker the cores are: files more keep quick ones busy, and make slow ones miss those limits.
 */
export const filesAtOnce = Math.min(4, Math.max(2, Math.round(FILES_MS / coreMs)))

/** Whether this machine's cores are quick. */
export const isQuick = filesAtOnce === 4
