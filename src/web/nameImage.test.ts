import { describe, expect, it } from 'vitest'
import { nameImage } from './nameImage.js'

describe('nameImage', () => {
  it('is the same for the same name, and its own mirror image', () => {
    expect(nameImage('foobar')).toBe(nameImage('foobar'))
    const cells = [...nameImage('foobar').matchAll(/M(\d+) (\d+)/g)]
    expect(cells.length).toBeGreaterThan(0)
    const drawn = new Set(cells.map(([, x, y]) => `${x},${y}`))
    expect(new Set(cells.map(([, x, y]) => `${340 - Number(x)},${y}`))).toEqual(drawn)
  })

  it('escapes what it is given', () => {
    expect(nameImage(`<a href="x">'&`)).toContain(
      '<title>&lt;a href=&quot;x&quot;&gt;&#39;&amp;</title>',
    )
  })
})
