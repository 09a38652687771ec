import { createRequire } from 'node:module'

/**
 * Program of the child process of `startSurfpool`. The parent sends a `SurfpoolRequest` first. The child ends with its
 * parent.
 */

export interface SurfpoolRequest {
  /** Path of the native module. */
  module: string
  slotMs: number
}

export type SurfpoolAnswer = { rpcUrl: string; wsUrl: string } | { error: string }

/**
 * Types of the used part of the npm packages surfpool-sdk-*, which come without types. With `offline`, the chain uses
 * no public chain. With `clock`, the chain makes a slot every `slotTimeMs`.
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
  /** Returns the events since the last call. A full queue blocks the chain for good. */
  drainEvents(): unknown[]
  /** Advances the chain's clock. @throws Error for a time that is earlier than the clock's time */
  timeTravelToTimestamp(ms: number): unknown
}

const CLOCK_UPDATE_PAUSE_MS = 500
/**
 * Number of ms behind the system's time to which the chain's clock is advanced regularly. By default the clock counts
 * slots. These are late under load, so payments would get too early times.
 */
const CLOCK_LAG_MS = 500

/** Keeps references to the chains: garbage collection would end them. */
const runningSurfnets: Surfnet[] = []
setInterval(() => {
  for (const net of runningSurfnets) {
    net.drainEvents()
    try {
      net.timeTravelToTimestamp(Date.now() - CLOCK_LAG_MS)
    } catch {
      // the chain's clock is later already
    }
  }
}, CLOCK_UPDATE_PAUSE_MS).unref()

process.once('disconnect', () => process.exit(0))
process.once('message', ({ module, slotMs }: SurfpoolRequest) => {
  const answer = startSurfnet(module, slotMs)
  process.send?.(answer)
})

function startSurfnet(module: string, slotMs: number): SurfpoolAnswer {
  try {
    const sdk: SurfpoolSdk = createRequire(import.meta.url)(module)
    const net = sdk.Surfnet.startWithConfig({
      offline: true,
      slotTimeMs: slotMs,
      blockProductionMode: 'clock',
    })
    runningSurfnets.push(net)
    return { rpcUrl: net.rpcUrl, wsUrl: net.wsUrl }
  } catch (cause) {
    return { error: cause instanceof Error ? cause.message : String(cause) }
  }
}
