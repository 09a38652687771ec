import { setFlagsFromString } from 'node:v8'
import { isOfLocalWorld } from '../config/environment.js'
import { type Config, readConfig, readMirrorConfig } from '../config/index.js'
import { startDaemon } from '../daemon/index.js'
import { createLog, endOnBugs } from '../ops/log/log.js'
import { withTimeout } from '../ops/notify.js'
import { explain } from './database.js'
import { giveMemoryBack } from './memory.js'
import { type NetworkOptions, networksOf } from './values.js'

/** Time after which a stop gives up a start that waits; a daemon's own limit is as long. */
const GIVE_UP_MS = 8_000
/**
 * Heap growth allowed over the live set of the last full collection. V8's own limit is up to fourfold on machines with
 * much memory, which held 80 MiB more garbage during a long catch-up.
 */
const HEAP_GROWTH_PERCENT = 100

/** Options of `clusterd start`; they come before the environment. */
export interface StartOptions {
  /** Roles, joined by commas. */
  roles?: string
  watch?: boolean
  /** false: `--no-migrate`. */
  migrate?: boolean
}

/** Options of `clusterd mirror`. */
export interface MirrorOptions extends NetworkOptions, Pick<StartOptions, 'migrate'> {
  key?: string
  domain?: string
  accept?: string
}

/** `clusterd start` */
export const start = ({ roles, watch, migrate }: StartOptions = {}): Promise<void> =>
  run(() =>
    readConfig(undefined, {
      ROLES: roles,
      RELAY_WATCH: watch ? 'true' : undefined,
      MIGRATE: migrate === false ? 'off' : undefined,
    }),
  )

/** `clusterd mirror` */
export const mirror = (
  url: string | undefined,
  { key, domain, accept, migrate, ...networks }: MirrorOptions,
): Promise<void> =>
  run(() =>
    readMirrorConfig(networksOf(networks), undefined, {
      MIRROR_URL: url,
      MIRROR_KEY: key,
      MIRROR_DOMAIN: domain,
      MIRROR_ACCEPT: accept,
      MIGRATE: migrate === false ? 'off' : undefined,
    }),
  )

/** Runs the daemon until SIGTERM, SIGINT, SIGHUP or the end of its launcher. @throws ConfigError */
async function run(read: () => Config): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
  giveMemoryBack()
  const config = read()
  const log = createLog({ level: config.logLevel, format: config.logFormat })
  endOnBugs(log)
  const isAskedToStop = untilAskedToStop(isOfLocalWorld())
  const stop = new AbortController()
  void isAskedToStop.then(() => stop.abort())
  const starting = startDaemon(config, log, stop.signal)
  starting.catch(() => {}) // thrown below, unless a stop was requested
  await Promise.race([
    starting.then(tellLauncher, explain(config.databaseDirectUrl)),
    isAskedToStop,
  ])
  await isAskedToStop
  // a start that still waits, for a lock of the migrations or a silent server, ends without a daemon
  const daemon = await withTimeout(
    GIVE_UP_MS,
    starting.catch(() => null),
    null,
  )
  await daemon?.stop()
  process.exit(0)
}

/** Reports to the launcher of a local world that this process has bound both ports. */
function tellLauncher(): void {
  process.send?.('up', () => {})
}

function untilAskedToStop(isChild: boolean): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.once(signal, () => resolve())
    // the end of a local world's launcher; a supervisor with an IPC channel may go and come back
    if (isChild) process.once('disconnect', () => resolve())
  })
}
