import { describe, expect, it } from 'vitest'
import {
  breaches,
  createCourse,
  judge,
  type Kind,
  type Outcome,
  type Series,
} from '../../scripts/soak/course.js'
import { createHistogram } from '../../scripts/soak/histogram.js'

const MINUTE_MS = 60_000
const MINUTES = 120

/** Noise in [-1, 1] that is the same in every run of the tests. */
const noise = (minute: number): number => Math.sin(minute * 12.9898) * Math.cos(minute * 78.233)

/** A series of a value for each minute of a run of two hours. */
function seriesOf(kind: Kind, valueAt: (minute: number) => number): Series {
  const course = createCourse(MINUTES * MINUTE_MS)
  for (let minute = 0; minute < MINUTES; minute++)
    course.add(minute * MINUTE_MS, [{ name: 'a series', kind, value: valueAt(minute) }])
  return course.series()[0]!
}

describe('a series is flat', () => {
  it.each<[what: string, kind: Kind, valueAt: (minute: number) => number]>([
    ['memory with noise of 4 %', 'mib', (minute) => 150 * (1 + 0.04 * noise(minute))],
    ['memory that grows in the first half', 'mib', (minute) => Math.min(150, 80 + 2 * minute)],
    ['memory that shrinks', 'mib', (minute) => 200 - minute],
    ['a few rows with noise', 'count', (minute) => 4 + Math.round(2 * noise(minute))],
    ['a table that is full before the last half', 'count', (minute) => Math.min(256, 8 * minute)],
    ['rows for each registration', 'ratio', (minute) => 0.1 + 0.02 * noise(minute)],
    ['processor time, which is not judged', 'shown', (minute) => minute],
  ])('%s', (_, kind, valueAt) => {
    const series = seriesOf(kind, valueAt)
    expect(judge(series)).toMatchObject({ isFlat: true })
    expect(breaches([series], PASSED)).toEqual([])
  })
})

describe('a series grows', () => {
  it.each<[what: string, kind: Kind, valueAt: (minute: number) => number]>([
    ['memory by 1 MiB a minute', 'mib', (minute) => 100 + minute],
    ['memory by 1 MiB a minute under noise', 'mib', (minute) => 100 + minute + 5 * noise(minute)],
    ['a step of memory in the last quarter', 'mib', (minute) => (minute < 110 ? 150 : 170)],
    ['a handle every three minutes', 'count', (minute) => 40 + Math.floor(minute / 3)],
    ['two connections with each fault', 'count', (minute) => 20 + 2 * Math.floor(minute / 5)],
    ['a row a minute', 'count', (minute) => minute],
    ['more rows for each registration', 'ratio', (minute) => 1 + minute / 100],
    ['values that are missing at the end', 'mib', (minute) => (minute < 90 ? 150 : Number.NaN)],
  ])('%s', (_, kind, valueAt) => {
    const series = seriesOf(kind, valueAt)
    expect(judge(series)).toMatchObject({ isFlat: false })
    expect(breaches([series], PASSED)).toHaveLength(1)
  })
})

it('a refusal names the series, its peaks and the limit', () => {
  const series = seriesOf('mib', (minute) => 100 + minute)
  expect(breaches([series], PASSED)).toEqual([
    'a series: the peak grew from 189 to 219, 208 is allowed',
  ])
})

const PASSED: Outcome = {
  failed: 0,
  failure: null,
  sent: 100,
  finalized: 100,
  lost: null,
}

it.each<[what: string, outcome: Partial<Outcome>, sentences: string[]]>([
  ['all passed', {}, []],
  [
    'a failed look-up',
    { failed: 2, failure: '/v1/names: 503' },
    ['2 look-ups failed outside of faults, the first by: /v1/names: 503'],
  ],
  [
    'an open registration',
    { finalized: 99 },
    ['99 of 100 registrations are final: the others are still open'],
  ],
  [
    'a lost registration',
    { finalized: 99, lost: '0xab is lost_bid' },
    ['99 of 100 registrations are final: 0xab is lost_bid'],
  ],
  ['a run without registrations', { sent: 0, finalized: 0 }, ['no registration was sent']],
])('%s', (_, outcome, sentences) => {
  expect(breaches([], { ...PASSED, ...outcome })).toEqual(sentences)
})

it('a histogram has percentiles that are at most 5 % too high', () => {
  const histogram = createHistogram()
  for (let ms = 1; ms <= 1_000; ms++) histogram.add(ms)
  expect(histogram.count()).toBe(1_000)
  for (const [share, ms] of [
    [0.5, 500],
    [0.99, 990],
  ] as const) {
    expect(histogram.percentile(share)).toBeGreaterThanOrEqual(ms)
    expect(histogram.percentile(share)).toBeLessThan(ms * 1.06)
  }
  expect(createHistogram().percentile(0.5)).toBeNaN()
})
