import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { breaches, heldSentence, type Load, nextRate } from '../../scripts/bench/gate.js'

const GENERATOR = fileURLToPath(new URL('../../scripts/bench/generator.ts', import.meta.url))

const load = (own: Partial<Load>): Load => ({
  sent: 1_000,
  failed: 0,
  failure: null,
  p50: 1,
  p95: 2,
  p99: 3,
  ...own,
})

it.each<[what: string, load: Load, sentences: string[]]>([
  ['all within', load({ p50: 5, p95: 10, p99: 25 }), []],
  ['a slow median', load({ p50: 5.1 }), ['look-ups: p50 is 5.1 ms, 5 are allowed']],
  ['a slow tail', load({ p99: 25.2 }), ['look-ups: p99 is 25.2 ms, 25 are allowed']],
  [
    'a failed request',
    load({ failed: 1, failure: '/v1/names: HTTP 503' }),
    ['look-ups: 1 requests failed, the first by: /v1/names: HTTP 503'],
  ],
])('%s', (_, measured, sentences) => {
  expect(breaches('look-ups', measured)).toEqual(sentences)
})

it.each([
  ['a fifth idle is enough', 2_000, 0.2, 2_000],
  ['a machine that is full carries less', 2_000, 0, 1_520],
  ['a tenth idle is too little', 2_000, 0.1, 1_688],
])('%s', (_, rate, idle, next) => {
  expect(nextRate(rate, idle)).toBe(next)
})

it.each([
  [0.21, "this machine can't carry 2,000/s with its generator: 1,500/s left 21 % idle"],
  [
    0.12,
    "this machine can't carry 2,000/s with its generator: 1,500/s, the lowest rate that was tried, left 12 % idle, less than 20 %",
  ],
])('the sentence on a sustained rate states how much it left idle: %s', (idle, sentence) => {
  expect(heldSentence({ wanted: 2_000, held: 1_500, idle })).toBe(sentence)
})

/** Runs a generator against a server that answers 200, and stalls the server meanwhile. */
async function generateAt(job: object, pauseMs: number): Promise<Load> {
  let isHeld = false
  const server = createServer(async (_, response) => {
    while (isHeld) await sleep(5)
    response.writeHead(200).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const home = mkdtempSync(join(tmpdir(), 'clusterd-gate-'))
  onTestFinished(() => {
    server.close()
    rmSync(home, { recursive: true, force: true })
  })
  server.once('request', async () => {
    await sleep(200)
    isHeld = true
    await sleep(pauseMs)
    isHeld = false
  })
  const file = join(home, 'job.json')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  writeFileSync(file, JSON.stringify({ url, apiKey: 'none', requests: [{ path: '/' }], ...job }))
  const args = ['--import', 'tsx', GENERATOR, file]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout) as Load
}

it('a stall shows in all requests that were due meanwhile', async () => {
  // stalls for half of the time: a closed loop waits with its next request and has only one slow request for each
  // connection
  const stalled = await generateAt({ rate: 400, seconds: 1 }, 500)
  expect(stalled).toMatchObject({ sent: 400, failed: 0 })
  expect(stalled.p95).toBeGreaterThan(350)
  // 200 of 400 requests were due during the stall, and waited for half of it on average
  expect(stalled.p50).toBeLessThan(stalled.p95)
})

it('a service without pause answers at once', async () => {
  const { p50, failed } = await generateAt({ rate: 200, seconds: 1 }, 0)
  expect(failed).toBe(0)
  expect(p50).toBeLessThan(100)
})
