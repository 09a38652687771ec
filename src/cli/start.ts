import { setFlagsFromString } from 'node:v8'
import { findAmbiguousEnvLines, isStartedByLocalWorld } from '../config/environment.js'
import { type Config, readConfig, readMirrorConfig } from '../config/index.js'
import { startDaemon } from '../daemon/index.js'
import { createLogger, exitOnUncaughtErrors } from '../ops/logger/logger.js'
import { withTimeout } from '../ops/waiting.js'
import { throwWithDatabaseAdvice } from './database.js'
import { collectHeapWhenIdle } from './memory.js'
import { type NetworkOptions, networksOfOptions } from './values.js'

/** Time limit for stopping a daemon that has not started yet. It equals the daemon's own time limit for a stop. */
const UNSTARTED_STOP_LIMIT_MS = 8_000
/**
 * Growth of the heap, in percent of the live objects, at which V8 runs the next full collection. By V8's default a heap
 * may grow fourfold on machines with much memory, which kept 80 MiB more garbage during a long catch-up.
 */
const HEAP_GROWTH_PERCENT = 100

/** Options of `clusterd start`. They take precedence over the environment. */
interface StartOptions {
  /** Roles of the daemon, joined by commas. */
  roles?: string
  /** Whether a process without the relayer's keys leads the outbox too, to raise alarms. */
  watch?: boolean
  /** false with `--no-migrate`. */
  migrate?: boolean
}

/** Options of `clusterd mirror`. */
interface MirrorOptions extends NetworkOptions, Pick<StartOptions, 'migrate'> {
  key?: string
  domain?: string
  accept?: string
  witness?: string
}

/** `clusterd start`: runs the daemon. */
export const runStartCommand = ({ roles, watch, migrate }: StartOptions = {}): Promise<void> =>
  runDaemon(() =>
    readConfig(undefined, {
      ROLES: roles,
      RELAY_WATCH: watch ? 'true' : undefined,
      MIGRATE: migrate === false ? 'off' : undefined,
    }),
  )

/** `clusterd mirror`: runs the daemon as a mirror, which copies the log of another service. */
export const runMirrorCommand = (
  url: string | undefined,
  { key, domain, accept, witness, migrate, ...networks }: MirrorOptions,
): Promise<void> =>
  runDaemon(() =>
    readMirrorConfig(networksOfOptions(networks), undefined, {
      MIRROR_URL: url,
      MIRROR_KEY: key,
      MIRROR_DOMAIN: domain,
      MIRROR_ACCEPT: accept,
      MIRROR_WITNESS: witness,
      MIGRATE: migrate === false ? 'off' : undefined,
    }),
  )

/**
 * Runs the daemon until SIGTERM, SIGINT, SIGHUP or, in a local world, the end of its launcher (`clusterd dev`). Then
 * stops it, and exits the process.
 * @throws ConfigError; errors of the start
 */
async function runDaemon(read: () => Config): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
  collectHeapWhenIdle()
  // warn about ambiguous lines before the configuration is read: they may make it invalid
  for (const { about, found, remedy } of findAmbiguousEnvLines())
    console.error(`clusterd: ${about} ${found}. ${remedy}`)
  const config = read()
  const log = createLogger({ level: config.logLevel, format: config.logFormat })
  exitOnUncaughtErrors(log)
  const stopRequest = waitForStopRequest(isStartedByLocalWorld())
  const stop = new AbortController()
  void stopRequest.then(() => stop.abort())
  const starting = startDaemon(config, log, stop.signal)
  starting.catch(() => {}) // the race below throws an error of the start, unless a stop was requested
  await Promise.race([
    starting.then((daemon) => {
      reportToLauncher()
      return daemon.outdated
    }, throwWithDatabaseAdvice(config.databaseDirectUrl)),
    stopRequest,
  ])
  await stopRequest
  // abandon a start that still waits, for the lock of migrations or for a server that does not answer
  const daemon = await withTimeout(
    UNSTARTED_STOP_LIMIT_MS,
    starting.catch(() => null),
    null,
  )
  await daemon?.stop()
  process.exit(0)
}

/** Reports to the launcher, such as `clusterd dev`, that the daemon listens on its ports (API and operator). */
function reportToLauncher(): void {
  process.send?.('up', () => {})
}

function waitForStopRequest(isChild: boolean): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.once(signal, () => resolve())
    // a disconnect ends this process only in a local world: the IPC channel of another supervisor may close and reopen
    if (isChild) process.once('disconnect', () => resolve())
  })
}
