import { expect, test } from 'vitest'
import { drawPlot } from '../../scripts/bench/plot.js'

const plot = (isLogX: boolean, ...lines: [number, number][][]): string =>
  drawPlot({
    title: 'T',
    x: 'a & b',
    y: 'ms',
    isLogX,
    series: lines.map((points, i) => ({ name: `line ${i}`, points })),
  })

const circles = (svg: string) => [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map((m) => [+m[1]!, +m[2]!])

test('powers of ten stand as far apart from one another on a logarithmic axis, values on the other', () => {
  const even = circles(
    plot(true, [
      [10, 1],
      [100, 2],
      [1_000, 4],
    ]),
  )
  expect(even[1]![0]! - even[0]![0]!).toBeCloseTo(even[2]![0]! - even[1]![0]!, 0)
  expect(even[1]![1]! - even[2]![1]!).toBeCloseTo(2 * (even[0]![1]! - even[1]![1]!), 0)
})

test('lines that end at one point are named below one another, and texts are escaped', () => {
  const svg = plot(false, [[1, 5]], [[1, 5]], [[1, 5]])
  const heights = [...svg.matchAll(/y="([\d.]+)"[^>]*>line/g)].map((m) => +m[1]!)
  expect(heights[1]! - heights[0]!).toBe(15)
  expect(heights[2]! - heights[1]!).toBe(15)
  expect(svg).toContain('a &amp; b')
})
