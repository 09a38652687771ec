import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createFaultLog, FAULT_WINDOW_MS } from './faultLog.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

it('of equal faults one is logged in each window', () => {
  const lines: Record<string, unknown>[] = []
  const sink = new Writable({
    write: (chunk, _encoding, done) => done(void lines.push(JSON.parse(String(chunk)))),
  })
  const logFault = createFaultLog(pino(sink))
  const fault = (route: string, status: number) =>
    logFault(`${route} ${status}`, { route, status, err: new Error('away') })
  for (let i = 0; i < 4_000; i++) fault('/a', 503)
  fault('/a', 500)
  fault('/b', 503)
  expect(lines.map(({ route, status, level }) => [route, status, level])).toEqual([
    ['/a', 503, 40],
    ['/a', 500, 40],
    ['/b', 503, 40],
  ])
  vi.advanceTimersByTime(FAULT_WINDOW_MS)
  for (let i = 0; i < 10; i++) fault('/a', 503)
  expect(lines.slice(3)).toMatchObject([{ route: '/a', status: 503 }])
})
