import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { serve, serveInTest } from '../../test/support/httpServer.js'
import { until } from './until.js'

/** An API that answers each request by the next of its steps. The last step is repeated. */
const apiOf = async (...steps: ((res: ServerResponse) => void)[]): Promise<{ api: string }> => ({
  api: await serveInTest((_, res) => (steps.length > 1 ? steps.shift()! : steps[0]!)(res)),
})
const jsonStep = (status: number, body: object) => (res: ServerResponse) =>
  void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

describe('until.status', () => {
  it('waits while a daemon restarts', async () => {
    const at = await apiOf(
      (res) => res.destroy(),
      jsonStep(503, { error: 'unavailable' }),
      jsonStep(200, { tx: '0x1', status: 'finalized' }),
    )
    expect(await until.status(at, '0x1', 'finalized')).toMatchObject({ status: 'finalized' })
  })

  it('ends at its deadline, even without any answer', async () => {
    const at = await apiOf(() => {})
    const waited = until.status(at, '0x1', 'finalized', { deadlineMs: 200 })
    await expect(waited).rejects.toThrow('waiting 0.2 s for 0x1 to be finalized')
  }, 3_000)

  it('ends before the limit of its test, with the last answer', { timeout: 2_000 }, async () => {
    const at = await apiOf(jsonStep(200, { tx: '0x1', status: 'pending' }))
    const waited = until.status(at, '0x1', 'finalized')
    await expect(waited).rejects.toThrow('last seen {"tx":"0x1","status":"pending"}')
  })

  it('throws a refusal at once', async () => {
    const at = await apiOf(jsonStep(400, { error: 'invalid_request' }))
    await expect(until.status(at, 'x', 'finalized')).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })
})

describe('until.status in a hook', () => {
  vi.setConfig({ hookTimeout: 2_000 })
  afterAll(() => vi.resetConfig())
  let thrown: unknown

  beforeAll(async () => {
    const { url, stop } = await serve((_, res) =>
      jsonStep(200, { tx: '0x1', status: 'pending' })(res),
    )
    thrown = await until.status({ api: url }, '0x1', 'finalized').catch((error: Error) => error)
    await stop()
  })

  it('ends before the limit of hooks, with the last answer', () => {
    expect(String(thrown)).toContain('last seen {"tx":"0x1","status":"pending"}')
  })
})
