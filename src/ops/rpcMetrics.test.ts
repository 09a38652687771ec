import { expect, it } from 'vitest'
import { createMetrics } from './metrics.js'

it('shows each node by chain, consumer and host', async () => {
  const { registry, rpc } = createMetrics()
  const node = { requests: 7, errors: 2, latencyMs: 30, restMs: 500, isWrong: false }
  rpc.watch('1', () => [
    { use: 'index', nodes: [{ ...node, host: 'a.example', head: 'doubtful' }] },
    { use: 'api', nodes: [{ ...node, host: 'b.example', head: null, latencyMs: null }] },
  ])
  const text = await registry.metrics()
  const of = (use: string, host: string) => `{chain="1",use="${use}",host="${host}"}`
  expect(text).toContain(`clusterd_rpc_errors${of('index', 'a.example')} 2`)
  expect(text).toContain(`clusterd_rpc_latency_seconds${of('index', 'a.example')} 0.03`)
  expect(text).toContain(`clusterd_rpc_rest_seconds${of('api', 'b.example')} 0.5`)
  expect(text).not.toContain(`clusterd_rpc_latency_seconds${of('api', 'b.example')}`)
})
