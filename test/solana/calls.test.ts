import { pino } from 'pino'
import { it, onTestFinished, vi } from 'vitest'
import { createPaymentWatcherWorker } from '../../src/indexer/solana/worker.js'
import { WorkerLoops } from '../../src/ops/loops.js'
import { createMetrics } from '../../src/ops/metrics.js'
import { expectDocumentedCalls } from '../support/documentedCalls.js'
import { readEpoch } from '../support/epoch.js'
import { startSolanaProxy } from './solanaProxy.js'
import { useSolanaWorld } from './solanaWorld.js'

/** JSON-RPC calls, for which an operator pays, of a watcher on a quiet cluster with two nodes. */

const world = await useSolanaWorld()

const MINUTE_MS = 60_000
const MINUTES = 10

/** The worker runs in a time of its own. */
it.each([true, false])(
  'a quiet cluster, WebSocket: %s, costs the documented calls a day',
  async (hasSocket) => {
    const nodes = [0, 1].map(() => startSolanaProxy(world.solana.rpcUrl))
    const proxies = await Promise.all(nodes)
    onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.stop()))))
    const wsUrls = hasSocket ? [world.solana.wsUrl] : []
    const rpcUrls = proxies.map(({ url }) => url)
    const source = await world.open({ rpcUrls, wsUrls, commitment: 'finalized' })
    const { signal } = new AbortController()
    const { pool } = world.hub
    const ctx = {
      pool,
      epoch: await readEpoch(pool, 'mainnet', 'index'),
      network: 'mainnet',
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
      loops: new WorkerLoops(),
      signal,
    } as const
    let nowMs = Date.now()
    for (const clock of [Date, performance])
      vi.spyOn(clock as typeof Date, 'now').mockImplementation(() => nowMs)
    onTestFinished(() => void vi.restoreAllMocks())
    const reporting = { onStart() {}, onAdvance() {}, onProgress() {} }
    const worker = createPaymentWatcherWorker(ctx, source, reporting)
    const run = async (forMs: number) => {
      for (const endMs = nowMs + forMs; nowMs < endMs; ) {
        const outcome = await worker.step(signal, () => {})
        nowMs += outcome === 'idle' ? worker.idleMs! : worker.pollMs
      }
    }
    await run(MINUTE_MS)
    for (const { counts } of proxies) counts.clear()
    await run(MINUTES * MINUTE_MS)

    const calls = proxies.flatMap(({ counts }) => [...counts.values()]).reduce((a, b) => a + b)
    expectDocumentedCalls(`Solana${hasSocket ? ', `wsUrls`' : ''}`, calls, MINUTES * MINUTE_MS)
  },
)
