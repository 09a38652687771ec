import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import {
  type BackfillProgress,
  createBackfillProgressLog,
  measureBackfillProgress,
} from './progress.js'

const progress = (doneBlocks: number): BackfillProgress => ({
  network: 'mainnet',
  label: '1',
  doneBlocks,
  totalBlocks: 4_000,
  registrations: 5_321,
  registrationsPerS: 443,
  secondsLeft: 12,
})

describe('the progress of a backfill', () => {
  it('is a log line every two seconds, and one at the end', () => {
    const lines: string[] = []
    const show = createBackfillProgressLog(
      pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) }),
    )
    for (const block of [1_200, 1_300, 4_000]) show(progress(block))
    expect(lines).toEqual(['backfilling', 'backfilling'])
  })

  it('has a speed, and a time left once blocks are done', () => {
    const of = { network: 'mainnet', label: '1', totalBlocks: 300, registrations: 1_000 } as const
    expect(measureBackfillProgress({ ...of, doneBlocks: 0 }, Date.now() - 10_000)).toMatchObject({
      secondsLeft: null,
    })
    const done = measureBackfillProgress({ ...of, doneBlocks: 100 }, Date.now() - 10_000)
    expect(done.secondsLeft).toBe(20)
    expect(done.registrationsPerS).toBeGreaterThanOrEqual(99)
    expect(done.registrationsPerS).toBeLessThanOrEqual(100)
  })
})
