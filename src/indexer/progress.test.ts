import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createProgressLog, measure, type Progress } from './progress.js'

const progress = (doneBlocks: number): Progress => ({
  ...{ network: 'mainnet', label: '1', doneBlocks, totalBlocks: 4_000, registrations: 5_321 },
  ...{ registrationsPerS: 443, secondsLeft: 12 },
})

function shown(isTTY: boolean, blocks: number[]) {
  const lines: string[] = []
  const out = Object.assign(new PassThrough(), { isTTY })
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
  const show = createProgressLog(log, out as unknown as NodeJS.WriteStream)
  for (const block of blocks) show(progress(block))
  let drawn = ''
  // Node 26 reads a chunk at a time, earlier ones all at once
  for (let chunk = out.read(); chunk !== null; chunk = out.read()) drawn += String(chunk)
  return { lines, drawn }
}

describe('the progress of a backfill', () => {
  it('is a bar on a terminal, cleared at the end', () => {
    const { lines, drawn } = shown(true, [1_200, 4_000])
    expect(lines).toEqual([])
    expect(drawn).toContain('mainnet "1"')
    expect(drawn).toContain('30%  1200/4000 blocks, 443 registrations/s, 12 s left')
    expect(drawn.endsWith('\r\x1b[K')).toBe(true)
  })

  it('is a log line every two seconds elsewhere, and one at the end', () => {
    expect(shown(false, [1_200, 1_300, 4_000])).toEqual({ lines: ['backfilling', 'backfilling'], drawn: '' })
  })

  it('has a speed, and a time left once blocks are done', () => {
    const of = { network: 'mainnet', label: '1', totalBlocks: 300, registrations: 1_000 } as const
    expect(measure({ ...of, doneBlocks: 0 }, Date.now() - 10_000)).toMatchObject({ secondsLeft: null })
    const done = measure({ ...of, doneBlocks: 100 }, Date.now() - 10_000)
    expect(done.secondsLeft).toBe(20)
    expect(done.registrationsPerS).toBeGreaterThanOrEqual(99)
    expect(done.registrationsPerS).toBeLessThanOrEqual(100)
  })
})
