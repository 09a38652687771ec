import { describe, expect, it } from 'vitest'
import { createRangeWidth } from './width.js'

describe('the width of a range', () => {
  it('grows fourfold over empty answers, up to 10,000 blocks', () => {
    const width = createRangeWidth(8)
    const widths = Array.from({ length: 7 }, () => {
      width.answered(width.blocks, 0)
      return width.blocks
    })
    expect(widths).toEqual([32, 128, 512, 2_048, 8_192, 10_000, 10_000])
  })

  it('aims at 3,000 logs per answer', () => {
    const width = createRangeWidth(100)
    width.answered(100, 12_000)
    expect(width.blocks).toBe(25)
    width.answered(25, 1_500)
    expect(width.blocks).toBe(50)
    width.answered(50, 1_000_000)
    expect(width.blocks).toBe(1)
  })

  it('halves where a node says "too much", for long, and doubles again once that has held', () => {
    const width = createRangeWidth(100)
    width.tooMuch(100)
    width.answered(50, 0)
    expect(width.blocks).toBe(50)
    width.tooMuch(1)
    width.answered(1, 0)
    expect(width.blocks).toBe(1)
    // a node that was overloaded, or lied, a few times
    for (let n = 0; n < 3_000; n++) width.answered(width.blocks, 0)
    expect(width.blocks).toBeGreaterThan(1_000)
    width.tooMuch(width.blocks)
    const least = width.blocks
    for (let n = 0; n < 200; n++) width.answered(width.blocks, 0)
    expect(width.blocks).toBe(least)
  })
})
