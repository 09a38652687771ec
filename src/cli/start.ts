import { setFlagsFromString } from 'node:v8'
import { readConfig } from '../config/index.js'
import { startDaemon } from '../daemon.js'
import { hasProcess } from '../ops/hasProcess.js'
import { createLog } from '../ops/log.js'

const PARENT_POLL_MS = 1_000
/**
 * How far the heap may grow over what was alive at the last full collection. V8's own choice is up to fourfold on machines
 * with much memory: a long catch-up then held 80 MiB of garbage more than a short one.
 */
const HEAP_GROWTH_PERCENT = 100

/** `clusterd start`: the daemon in the foreground until SIGTERM or SIGINT, or until the launcher it belongs to is gone. */
export async function start(): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
  const config = readConfig()
  const log = createLog({ level: config.logLevel, format: config.logFormat })
  const isAskedToStop = untilAskedToStop(config.parentPid)
  const starting = startDaemon(config, log)
  starting.catch(() => {}) // thrown below, unless it was to stop anyway
  await Promise.race([starting.then(tellLauncher), isAskedToStop])
  await isAskedToStop
  const daemon = await starting
  await daemon.stop()
  process.exit(0)
}

/** The launcher of a local world waits for this: both ports are bound by us, not by a stranger. */
function tellLauncher(): void {
  process.send?.('up', () => {})
}

function untilAskedToStop(parentPid: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
    if (parentPid === undefined) return
    // A launcher that has opened a channel to us is heard ending at once; the poll is for one that has not.
    process.once('disconnect', () => resolve())
    setInterval(() => {
      if (!hasProcess(parentPid)) resolve()
    }, PARENT_POLL_MS).unref()
  })
}
