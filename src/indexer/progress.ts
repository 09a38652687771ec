import type { Logger } from '../ops/log.js'
import type { Progress } from './evm/types.js'

const LOG_EVERY_MS = 2_000
const BAR_EVERY_MS = 100
const BAR_WIDTH = 30

/** Shows a backfill: a bar that redraws itself on a terminal, a log line every two seconds otherwise. */
export function createProgressLog(log: Logger, out: NodeJS.WriteStream = process.stderr): (progress: Progress) => void {
  const useBar = out.isTTY === true
  let shownMs = 0
  return (progress) => {
    const isDone = progress.doneBlocks >= progress.totalBlocks
    if (!isDone && Date.now() - shownMs < (useBar ? BAR_EVERY_MS : LOG_EVERY_MS)) return
    shownMs = Date.now()
    if (useBar) out.write(`\r${bar(progress)}\x1b[K${isDone ? '\n' : ''}`)
    else if (progress.totalBlocks > 1) log.info(progress, 'backfilling')
  }
}

/** One line: `mainnet "1" [=====>    ] 1200/4000 blocks, 5321 registrations/s, 12 s left`. */
export function bar(progress: Progress): string {
  const filled = Math.round((BAR_WIDTH * progress.doneBlocks) / Math.max(1, progress.totalBlocks))
  const drawn = `${'='.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}`
  const left = progress.secondsLeft === null ? '' : `, ${progress.secondsLeft} s left`
  return `${progress.network} "${progress.label}" [${drawn}] ${progress.doneBlocks}/${progress.totalBlocks} ${progress.unit ?? 'blocks'}, ${progress.registrationsPerS} registrations/s${left}`
}
