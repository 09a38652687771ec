import type { Logger } from '../ops/log/log.js'
import { createProgressBar } from '../ops/progressBar.js'
import type { Network } from '../registry/primitives/network.js'

const LOG_EVERY_MS = 2_000

/** Progress of a backfill. */
export interface Progress {
  network: Network
  label: string
  /** Unit of `doneBlocks` and `totalBlocks`, default blocks. */
  unit?: 'blocks' | 'transactions'
  doneBlocks: number
  totalBlocks: number
  registrations: number
  registrationsPerS: number
  /** null until the first blocks are done. */
  secondsLeft: number | null
}

/** Adds the speed and the time left. @param startedMs Unix time of the first block, ms */
export function measure(done: Omit<Progress, 'registrationsPerS' | 'secondsLeft'>, startedMs: number): Progress {
  const { doneBlocks, totalBlocks, registrations } = done
  const seconds = Math.max(0.001, (Date.now() - startedMs) / 1_000)
  return {
    ...done,
    registrationsPerS: Math.round(registrations / seconds),
    secondsLeft: doneBlocks > 0 ? Math.round(((totalBlocks - doneBlocks) * seconds) / doneBlocks) : null,
  }
}

/** Shows a backfill: a bar on a terminal, a log line every two seconds elsewhere. */
export function createProgressLog(log: Logger, stream: NodeJS.WriteStream = process.stderr): (now: Progress) => void {
  const bar = createProgressBar(stream)
  let loggedMs = 0
  return (now) => {
    const isDone = now.doneBlocks >= now.totalBlocks
    if (stream.isTTY) {
      bar.show(`${now.network} "${now.label}"`, now.doneBlocks / Math.max(1, now.totalBlocks), noteOf(now))
      if (isDone) bar.end()
    } else if (now.totalBlocks > 1 && (isDone || Date.now() - loggedMs >= LOG_EVERY_MS)) {
      loggedMs = Date.now()
      log.info(now, 'backfilling')
    }
  }
}

/** `1200/4000 blocks, 5321 registrations/s, 12 s left` */
function noteOf({ doneBlocks, totalBlocks, unit = 'blocks', registrationsPerS, secondsLeft }: Progress): string {
  const left = secondsLeft === null ? '' : `, ${secondsLeft} s left`
  return `${doneBlocks}/${totalBlocks} ${unit}, ${registrationsPerS} registrations/s${left}`
}
