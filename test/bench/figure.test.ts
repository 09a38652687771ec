import { expect, test } from 'vitest'
import { regressions, unheld } from '../../scripts/bench/figure.js'

const figure = (title: string, ratios: number[]) => ({ title, floor: 'a loop', ratios })

test('a median that is much above what holds is a regression, and one slow run is none', () => {
  const held = { index: 1, api: 2 }
  expect(regressions([figure('index', [1.1, 9, 1.2]), figure('api', [0.5])], held)).toEqual([])
  expect(regressions([figure('index', [1.1, 1.4, 1.5])], held)).toEqual([
    'index: 1.40 times its floor, 1.00 are held',
  ])
})

test('a figure of which nothing is held is told', () => {
  expect(unheld([figure('new', [1]), figure('index', [1])], { index: 1 })).toEqual([
    'new: no ratio is held for it',
  ])
})
