import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BACKOFF_PAUSES_MS, backoffPauseMs } from '../../ops/waiting.js'
import { RpcError, transientError } from './errors.js'
import { type RpcCall, RpcPool } from './nodes.js'

/** How soon two nodes answer again after an outage of one of them, measured by a clock of the test. */

const MINUTE_MS = 60_000
/** Longest time from a node's return until the first step that has both answers. */
const MAX_RECOVERY_MS = 10_000

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const pauseFor = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Kinds of outages. */
const OUTAGES: Record<string, () => Promise<never>> = {
  fails: async () => {
    throw transientError('HTTP 502')
  },
  'hangs until the time limit of a light question': async () => {
    await pauseFor(3_000)
    throw transientError('timed out')
  },
  'is rate limited without a time': async () => {
    throw new RpcError('rate_limited', 'HTTP 429')
  },
}

/**
 * Repeats the step of a worker until it has two answers.
 * @returns the times of the success and of the calls to the second node
 */
async function recover(outage: () => Promise<never>, returnsMs: number) {
  const startedMs = performance.now()
  const elapsedMs = () => performance.now() - startedMs
  const askedMs: number[] = []
  const second: RpcCall = async <T>() => {
    askedMs.push(elapsedMs())
    if (elapsedMs() < returnsMs) return outage()
    return 1 as T
  }
  const pool = new RpcPool<string>({
    label: '1',
    urls: ['http://first', 'http://second'],
    behindBlocks: 3,
    connect: (url): RpcCall => (url.endsWith('first') ? async <T>() => 1 as T : second),
    readGenesis: (_, call) => call('genesis', []),
    headOf: async () => ({ height: 1, timeMs: null }),
  })
  for (let failures = 1; ; failures++) {
    try {
      const { nodes } = await pool.agreed((call) => call('eth_call', []))
      return { nodes, atMs: elapsedMs(), askedMs }
    } catch {
      await pauseFor(backoffPauseMs(failures, BACKOFF_PAUSES_MS.step))
    }
  }
}

async function withTimeLimit<T>(work: Promise<T>, ms: number): Promise<T> {
  await vi.advanceTimersByTimeAsync(ms)
  return work
}

describe.each(Object.entries(OUTAGES))('a node that %s', (_, outage) => {
  it.each([1_000, 37_000, 10 * MINUTE_MS, 120 * MINUTE_MS])(
    'for %i ms is asked soon after its return, where a second answer is needed',
    async (returnsMs) => {
      const work = recover(outage, returnsMs)
      const { nodes, atMs } = await withTimeLimit(work, returnsMs + MINUTE_MS)
      expect(nodes).toBe(2)
      expect(atMs).toBeGreaterThanOrEqual(returnsMs)
      expect(atMs - returnsMs).toBeLessThan(MAX_RECOVERY_MS)
    },
  )

  it('is not asked continuously meanwhile', async () => {
    const work = recover(outage, 10 * MINUTE_MS)
    const { askedMs } = await withTimeLimit(work, 11 * MINUTE_MS)
    const perMinute = askedMs.length / 10
    expect(perMinute).toBeLessThan(13)
  })
})

it('a node that asked to wait is asked only after that time, though a second answer is needed', async () => {
  const work = recover(async () => {
    throw new RpcError('rate_limited', 'HTTP 429', 20_000)
  }, 10 * MINUTE_MS)
  const { nodes, atMs, askedMs } = await withTimeLimit(work, 11 * MINUTE_MS)
  expect(nodes).toBe(2)
  expect(atMs - 10 * MINUTE_MS).toBeLessThan(20_000 + MAX_RECOVERY_MS)
  const pauses = askedMs.flatMap((ms, i) =>
    i > 0 && ms < 10 * MINUTE_MS ? [ms - askedMs[i - 1]!] : [],
  )
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(20_000)
})

it('a node that asked to wait is not asked sooner because an earlier call succeeds meanwhile', async () => {
  let limited = 0
  const pool = new RpcPool<string>({
    label: '1',
    urls: ['http://first', 'http://second'],
    behindBlocks: 3,
    connect: (url): RpcCall =>
      url.endsWith('second')
        ? async <T>() => 'second' as T
        : async <T>(method: string) => {
            if (method === 'slow') await pauseFor(100)
            if (method !== 'fast') return 'first' as T
            limited += 1
            throw new RpcError('rate_limited', 'HTTP 429', 20_000)
          },
    readGenesis: async () => 'genesis',
    headOf: async () => ({ height: 1, timeMs: null }),
  })
  const answers = Promise.all(
    ['slow', 'fast'].map((method) => pool.onOneNode((call) => call<string>(method, []))),
  )
  await vi.advanceTimersByTimeAsync(200)
  expect(await answers).toEqual(['first', 'second'])
  expect(await pool.onOneNode((call) => call('fast', []))).toBe('second')
  expect(limited).toBe(1)
})
