import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Figure, lowered, regressions, unheld } from '../../scripts/bench/figure.js'

const figure = (
  title: string,
  ratios: number[],
  measure: Figure['measure'] = 'processor',
): Figure => ({ title, floor: 'a loop', measure, ratios })

it('a median much above the recorded ratio is a regression, and a single slow run is not', () => {
  const held = { 'index, processor': 1, 'api, processor': 2 }
  expect(regressions([figure('index', [1.1, 9, 1.2]), figure('api', [0.5])], held)).toEqual([])
  expect(regressions([figure('index', [1.1, 1.4, 1.5])], held)).toEqual([
    'index, processor: 1.40 times its floor, 1.00 are held',
  ])
})

it('wall-clock time is shown and not compared, since it depends on other processes', () => {
  const held = { 'index, clock': 1, 'index, processor': 1 }
  const slow = [9, 9, 9]
  expect(regressions([figure('index', slow, 'clock')], held)).toEqual([])
  expect(regressions([figure('index', slow)], held)).toHaveLength(1)
})

it('a figure without a recorded ratio is reported', () => {
  const held = { 'index, processor': 1 }
  expect(unheld([figure('new', [1]), figure('index', [1])], held)).toEqual([
    'new, processor: no ratio is held for it',
  ])
})

it('a better run lowers the recorded ratio, and a worse run leaves it', () => {
  const held = { 'index, processor': 1.5, 'api, processor': 2 }
  const figures = [figure('index', [1.7, 1.8]), figure('api', [1.234]), figure('new', [3])]
  const ratios = { 'index, processor': 1.5, 'api, processor': 1.23, 'new, processor': 3 }
  expect(lowered(figures, held)).toEqual(ratios)
})

it('the recorded ratios are those of performance.md', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const page = read('docs/measure/performance.md')
  const table = /<!-- figures -->\n([^<]*)<!-- end -->/.exec(page)![1]!
  const rows = [...table.matchAll(/^\| ([^|]+) \|(?: [\d.]+ \|){3} ([\d.]+) \|/gm)]
  const shown = rows.map(([, name, ratio]) => [name, Number(ratio)])
  expect(shown.length).toBeGreaterThan(5)
  expect(JSON.parse(read('scripts/bench/ratios.json'))).toEqual(Object.fromEntries(shown))
})
