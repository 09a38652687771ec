import { inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { nameImage, nameImagePng } from './nameImage.js'

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

  it('draws the same cells as PNG', () => {
    const png = nameImagePng('foobar')
    expect(png.subarray(1, 4).toString()).toBe('PNG')
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([400, 400])
    const at = png.indexOf('IDAT')
    const pixels = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)))
    const isSet = (x: number, y: number) =>
      ((pixels[y * 51 + 1 + (x >> 3)]! >> (7 - (x & 7))) & 1) === 1
    const cells = [...nameImage('foobar').matchAll(/M(\d+) (\d+)/g)].map(([, x, y]) => `${x},${y}`)
    for (let y = 50; y < 350; y += 60)
      for (let x = 50; x < 350; x += 60)
        expect(isSet(x + 1, y + 1), `${x},${y}`).toBe(cells.includes(`${x},${y}`))
    expect(isSet(10, 10)).toBe(false)
  })
})
