import { describe, expect, it } from 'vitest'
import { nameImage } from './nameImage.js'

describe('nameImage', () => {
  it('is the same for the same name, and symmetric', () => {
    expect(nameImage('foobar')).toBe(nameImage('foobar'))
    const cells = [...nameImage('foobar').matchAll(/M(\d+) (\d+)/g)]
    expect(cells.length).toBeGreaterThan(0)
    const drawn = new Set(cells.map(([, x, y]) => `${x},${y}`))
    expect(new Set(cells.map(([, x, y]) => `${340 - Number(x)},${y}`))).toEqual(drawn)
  })

  it('escapes the name', () => {
    expect(nameImage(`<a href="x">'&`)).toContain(
      '<title>&lt;a href=&quot;x&quot;&gt;&#39;&amp;</title>',
    )
  })
})
