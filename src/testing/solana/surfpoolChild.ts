import { createRequire } from 'node:module'

/** Started by `startSurfpool`, configured by one message, ended with its parent. */

export interface SurfpoolRequest {
  /** Path of the native module. */
  module: string
  slotMs: number
}

export type SurfpoolAnswer = { rpcUrl: string; wsUrl: string } | { error: string }

/** Subset in use of surfpool-sdk-*, untyped; `offline` ignores public clusters, `clock` makes slots by time. */
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
  /** Takes the events since the last call. An undrained queue fills up and blocks the cluster for good. */
  drainEvents(): unknown[]
  /** Moves the clock on. @throws Error for a time before its own */
  timeTravelToTimestamp(ms: number): unknown
}

const TEND_EVERY_MS = 500
/** Most that the clock may lag: it counts slots, which come late under load, and payments would be dated back. */
const CLOCK_LAG_MS = 500

/** Protects the clusters from garbage collection, which would end them. */
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
