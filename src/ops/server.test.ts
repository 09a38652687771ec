import http from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createMetrics } from './metrics.js'
import { startOpsServer } from './server.js'

let ops: Awaited<ReturnType<typeof startOpsServer>>
beforeAll(async () => {
  const answers = { '/health': () => ({ isGood: true }) }
  ops = await startOpsServer({ port: 0, host: '127.0.0.1', metrics: createMetrics(() => {}), answers })
})
afterAll(() => ops.close())

const statusFor = (host: string, path: string) =>
  new Promise<number>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: ops.port, path, headers: { host }, agent: false }
    http.get(options, (res) => resolve(res.resume().statusCode!)).on('error', reject)
  })

it('the operator’s port answers on loopback addresses and localhost alone, so that no page of another site reads it', async () => {
  const own = ['127.0.0.1', '[::1]', '10.1.2.3', 'localhost', 'LOCALHOST']
  const foreign = ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'evil.example.', 'x:y']
  for (const path of ['/health', '/metrics'])
    for (const port of ['', `:${ops.port}`]) {
      for (const name of own) expect(await statusFor(name + port, path), name).toBe(200)
      for (const name of foreign) expect(await statusFor(name + port, path), name).toBe(421)
    }
})
