import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vector from '../../../test/vectors/feed/checkpoint.json' with { type: 'json' }
import { canonicalJson, FEED_START, feedHash } from './feedHash.js'

describe('the hash of the feed', () => {
  it('is that of the vectors', () => {
    let hash = FEED_START
    const hashes = vector.events.map((event) => {
      hash = feedHash(hash, JSON.stringify(event))
      return `0x${hash.toString('hex')}`
    })
    expect(hashes).toEqual(vector.hashes)
  })

  it('differs by each event, and by their order', () => {
    const [first, second] = vector.events.map((event) => JSON.stringify(event))
    const over = (...events: string[]) => events.reduce(feedHash, FEED_START).toString('hex')
    const all = [over(), over(first!), over(second!), over(first!, second!), over(second!, first!)]
    expect(new Set(all).size).toBe(all.length)
  })

  it('says the same of copies that order fields in another way', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const text = canonicalJson(value)
        expect(canonicalJson(turn(value))).toBe(text)
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
    )
  })

  it('orders fields as RFC 8785 does, by UTF-16 code units', () => {
    // the example of RFC 8785, 3.2.3
    const value = JSON.parse(
      '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}',
    )
    const words = [...canonicalJson(value).matchAll(/:"([^" ]*)/g)].map(([, word]) => word)
    expect(words).toEqual(['Carriage', 'One', 'Control', 'Latin', 'Euro', 'Emoji:', 'Hebrew'])
  })
})

/** The same value with the fields of its objects in the other order. */
function turn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(turn)
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, one]) => [key, turn(one)]),
  )
}
