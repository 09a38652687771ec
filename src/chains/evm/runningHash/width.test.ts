import { describe, expect, it } from 'vitest'
import { createLogRangeWidth } from './width.js'

describe('the width of a range', () => {
  it('grows fourfold over empty answers, up to 10,000 blocks', () => {
    const width = createLogRangeWidth(8)
    const widths = Array.from({ length: 7 }, () => {
      width.answered(width.blocks, 0)
      return width.blocks
    })
    expect(widths).toEqual([32, 128, 512, 2_048, 8_192, 10_000, 10_000])
  })

  it('aims at 3,000 logs per answer', () => {
    const width = createLogRangeWidth(100)
    width.answered(100, 12_000)
    expect(width.blocks).toBe(25)
    width.answered(25, 1_500)
    expect(width.blocks).toBe(50)
    width.answered(50, 1_000_000)
    expect(width.blocks).toBe(1)
  })

  it('aims at 500 logs while the process serves requests', () => {
    let isServing = true
    const width = createLogRangeWidth(100, () => isServing)
    width.answered(100, 2_000)
    expect(width.blocks).toBe(25)
    isServing = false
    width.answered(25, 1_000)
    expect(width.blocks).toBe(75)
  })

  it('is halved after "too much", and doubled again after enough good answers', () => {
    const width = createLogRangeWidth(100)
    width.tooMuch(100)
    width.answered(50, 0)
    expect(width.blocks).toBe(50)
    width.tooMuch(1)
    width.answered(1, 0)
    expect(width.blocks).toBe(1)
    // a node that was overloaded, or returned wrong errors, a few times gets wide ranges again
    for (let n = 0; n < 3_000; n++) width.answered(width.blocks, 0)
    expect(width.blocks).toBeGreaterThan(1_000)
    width.tooMuch(width.blocks)
    const least = width.blocks
    for (let n = 0; n < 200; n++) width.answered(width.blocks, 0)
    expect(width.blocks).toBe(least)
  })

  it('grows soon after consecutive failures, and later after each further failure', () => {
    const width = createLogRangeWidth(8_192)
    const answersUntil = (blocks: number) => {
      let answers = 0
      for (; width.blocks < blocks; answers++) width.answered(width.blocks, 0)
      return answers
    }
    // an overloaded node refuses every range as too large
    while (width.blocks > 1) width.tooMuch(width.blocks)
    expect(answersUntil(8_192)).toBe(13 * 4)
    width.tooMuch(8_192)
    expect(answersUntil(8_192)).toBe(32)
    width.tooMuch(8_192)
    expect(answersUntil(8_192)).toBe(256)
  })

  /** Reads 200,000 blocks of a node that fails, without a reason, for more than its limit. */
  function readAll(limit: number) {
    const width = createLogRangeWidth()
    let requests = 0
    let failures = 0
    for (let block = 0; block < 200_000; requests++) {
      const asked = width.blocks
      if (asked > limit) {
        failures += 1
        width.failed(asked)
        continue
      }
      width.answered(asked, 0)
      block += asked
    }
    return { requests, failures }
  }

  it.each([1, 7, 100, 900, 1_000, 5_000, 10_000])(
    'finds an undocumented limit of %i blocks, and stays below it',
    (limit) => {
      const { requests, failures } = readAll(limit)
      // the width is a power of two below the limit, which may be half of it
      expect(requests - failures).toBeLessThanOrEqual(2 * Math.ceil(200_000 / limit) + 60)
      expect(failures).toBeLessThanOrEqual(10 + requests / 100)
    },
  )

  it('forgets an outage in which all widths fail', () => {
    const width = createLogRangeWidth(8_192)
    for (let n = 0; n < 30; n++) width.failed(width.blocks)
    expect(width.blocks).toBe(1)
    for (let n = 0; n < 8; n++) width.answered(width.blocks, 0)
    expect(width.blocks).toBe(10_000)
  })
})
