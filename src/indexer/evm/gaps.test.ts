import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Counted, gapsIn, isFilled, isInside } from './gaps.js'

const PATHS = ['native', '0xa', '0xb']
/** Items of a chain on several paths, each counted from 1. */
const chains = fc.array(fc.record({ path: fc.constantFrom(...PATHS), blocks: fc.nat(3) }), { maxLength: 40 })

function countedOf(made: readonly { path: string; blocks: number }[]): Counted[] {
  const counts = new Map<string, bigint>()
  let block = 1
  return made.map(({ path, blocks }) => {
    block += blocks
    counts.set(path, (counts.get(path) ?? 0n) + 1n)
    return { path, number: counts.get(path)!, block }
  })
}

const newestOf = (items: readonly Counted[]): Counted[] => [...new Map(items.map((item) => [item.path, item])).values()]
const keyOf = ({ path, number }: Counted) => `${path} ${number}`

describe('gapsIn', () => {
  it('finds nothing where nothing is missing, wherever the chain is cut, or cut again', () => {
    fc.assert(
      fc.property(chains, fc.nat(), fc.nat(), (made, at, back) => {
        const items = countedOf(made)
        const cut = at % (items.length + 1)
        const again = Math.max(0, cut - (back % 5))
        expect(gapsIn(newestOf(items.slice(0, cut)), items.slice(again))).toEqual([])
      }),
    )
  })

  it('finds everything that is missing before a later item of its path, and the blocks that it is in', () => {
    fc.assert(
      fc.property(chains, fc.nat(), fc.func(fc.boolean()), (made, at, isMissing) => {
        const items = countedOf(made)
        const cut = at % (items.length + 1)
        const [before, after] = [items.slice(0, cut), items.slice(cut)]
        const given = after.filter((item) => !isMissing(keyOf(item)))
        const gaps = gapsIn(newestOf(before), given)
        const followed = (item: Counted) => given.some(({ path, number }) => path === item.path && number > item.number)
        const missing = after.filter((item) => !given.includes(item) && followed(item))
        const found = items.filter((item) => gaps.some((gap) => isInside(gap, item)))
        expect(found.map(keyOf)).toEqual(missing.map(keyOf))
        for (const gap of gaps) {
          for (const { block } of missing.filter((item) => isInside(gap, item)))
            expect(block >= (gap.from?.block ?? 1) && block <= gap.to.block).toBe(true)
          expect([isFilled(gap, given), isFilled(gap, items), isFilled(gap, [...items, ...items])]).toEqual([
            ...[false, true, true],
          ])
        }
      }),
    )
  })

  it('a tail may lack the first numbers, but none between', () => {
    const item = (number: bigint): Counted => ({ path: 'native', number, block: Number(number) })
    const [gap] = gapsIn([], [item(5n)])
    expect(isFilled(gap!, [], true)).toBe(true)
    expect(isFilled(gap!, [item(4n), item(3n)], true)).toBe(true)
    expect(isFilled(gap!, [item(4n), item(2n)], true)).toBe(false)
    expect(isFilled(gap!, [item(4n), item(3n)])).toBe(false)
  })
})
