/** Progress of a long task: a bar that is redrawn in place on a terminal, a line every few seconds elsewhere. */
export interface ProgressBar {
  /** @param share of the step that is done, 0 to 1 */
  show(step: string, share: number, note?: string): void
  /** Clears the bar. */
  end(): void
}

const WIDTH = 30
const DRAW_EVERY_MS = 100
const LINE_EVERY_MS = 5_000

/** Draws on stderr, so that the output of a command stays clean. */
export function createProgressBar(stream: NodeJS.WriteStream = process.stderr): ProgressBar {
  let step = ''
  let shownMs = 0
  return {
    show(now, share, note = '') {
      const ms = Date.now()
      const isDue = ms - shownMs >= (stream.isTTY ? DRAW_EVERY_MS : LINE_EVERY_MS)
      if (now === step && !isDue) return
      step = now
      shownMs = ms
      const percent = `${Math.floor(100 * share)}%`.padStart(4)
      if (!stream.isTTY) stream.write(`${now}:${percent}${note && `, ${note}`}\n`)
      else {
        const full = Math.round(WIDTH * share)
        stream.write(`\r\x1b[K${now.padEnd(16)} ${'█'.repeat(full)}${'░'.repeat(WIDTH - full)}${percent}  ${note}`)
      }
    },
    end() {
      if (stream.isTTY) stream.write('\r\x1b[K')
    },
  }
}

/** A progress callback over journal entries, shown on a terminal only. */
export function countEntries(step: string): (done: number, total: number) => void {
  const bar = createProgressBar()
  return (done, total) => {
    if (!process.stderr.isTTY) return
    if (done < total) bar.show(step, done / total, `${done} of ${total} entries`)
    else bar.end()
  }
}
