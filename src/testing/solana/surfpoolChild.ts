import { createRequire } from 'node:module'

/** Message that configures the child process of `startSurfpool`. The child ends with its parent. */

export interface SurfpoolRequest {
  /** Path of the native module. */
  module: string
  slotMs: number
}

export type SurfpoolAnswer = { rpcUrl: string; wsUrl: string } | { error: string }

/**
 * The part of surfpool-sdk-* that we use, which has no types. `offline` ignores public clusters, and `clock` makes
 * slots by time.
 */
interface SurfpoolSdk {
  Surfnet: {
    startWithConfig(config: {
      offline: true
      slotTimeMs: number
      blockProductionMode: 'clock'
    }): Surfnet
  }
}

interface Surfnet {
  rpcUrl: string
  wsUrl: string
  /** Returns the events since the last call. A full queue blocks the cluster for good. */
  drainEvents(): unknown[]
  /** Advances the clock. @throws Error for a time before its own */
  timeTravelToTimestamp(ms: number): unknown
}

const TEND_EVERY_MS = 500
/** Largest lag of the clock, ms. It counts slots, which are late under load, and payments would get earlier times. */
const CLOCK_LAG_MS = 500

/** Keeps references to the clusters: garbage collection would end them. */
const running: Surfnet[] = []
setInterval(() => {
  for (const net of running) {
    net.drainEvents()
    try {
      net.timeTravelToTimestamp(Date.now() - CLOCK_LAG_MS)
    } catch {}
  }
}, TEND_EVERY_MS).unref()

process.once('disconnect', () => process.exit(0))
process.once('message', ({ module, slotMs }: SurfpoolRequest) => {
  const answer = start(module, slotMs)
  process.send?.(answer)
})

function start(module: string, slotMs: number): SurfpoolAnswer {
  try {
    const sdk: SurfpoolSdk = createRequire(import.meta.url)(module)
    const net = sdk.Surfnet.startWithConfig({
      offline: true,
      slotTimeMs: slotMs,
      blockProductionMode: 'clock',
    })
    running.push(net)
    return { rpcUrl: net.rpcUrl, wsUrl: net.wsUrl }
  } catch (cause) {
    return { error: cause instanceof Error ? cause.message : String(cause) }
  }
}
