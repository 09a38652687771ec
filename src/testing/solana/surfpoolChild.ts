import { createRequire } from 'node:module'

/** The process that Surfpool runs in: started by `startSurfpool`, told what to do by one message, ends with its parent. */

export interface SurfpoolRequest {
  /** Path of the native module. */
  module: string
  slotMs: number
}

export type SurfpoolAnswer = { rpcUrl: string; wsUrl: string } | { error: string }

interface SurfnetConfig {
  /** Asks no public cluster for accounts. */
  offline: boolean
  slotTimeMs: number
  /** `clock`: a slot every so many milliseconds; `transaction`, its default, makes none without transactions. */
  blockProductionMode: 'clock' | 'transaction' | 'manual'
}

/** What is used of surfpool-sdk-*, which has no types of its own. */
interface SurfpoolSdk {
  Surfnet: {
    startWithConfig(config: SurfnetConfig): Surfnet
  }
}

interface Surfnet {
  rpcUrl: string
  wsUrl: string
  /** Takes what happened since the last call. Undrained, its queue fills up, and the whole cluster stands still for good. */
  drainEvents(): unknown[]
}

const DRAIN_EVERY_MS = 500

/** Kept from the garbage collector: the cluster ends with it. */
const running: Surfnet[] = []
setInterval(() => {
  for (const net of running) net.drainEvents()
}, DRAIN_EVERY_MS).unref()

process.once('disconnect', () => process.exit(0))
process.once('message', ({ module, slotMs }: SurfpoolRequest) => {
  const answer = start(module, slotMs)
  process.send?.(answer)
})

function start(module: string, slotMs: number): SurfpoolAnswer {
  try {
    const sdk: SurfpoolSdk = createRequire(import.meta.url)(module)
    const net = sdk.Surfnet.startWithConfig({ offline: true, slotTimeMs: slotMs, blockProductionMode: 'clock' })
    running.push(net)
    return { rpcUrl: net.rpcUrl, wsUrl: net.wsUrl }
  } catch (cause) {
    return { error: cause instanceof Error ? cause.message : String(cause) }
  }
}
