import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameToWord, numberedName, parseClusterName, parseFullName, parseName, wordText, wordToName } from './name.js'
import { NAME_MAX_BYTES } from './nameRule.js'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789_-'
const name = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 1, maxLength: NAME_MAX_BYTES })

describe('parseName', () => {
  it.each(['a', '0', '-', '_', 'foobar', 'x'.repeat(32)])('takes %j as it is', (input) => {
    expect(parseName(input)).toBe(input)
  })

  it('lowers ASCII capitals', () => {
    expect(parseName('FooBar-9_Z')).toBe('foobar-9_z')
  })

  it.each([
    '',
    ' ',
    'a b',
    ' a',
    'a ',
    'a\n',
    '\na',
    'a\0',
    'a.b',
    'a/b',
    'é',
    'x'.repeat(33),
    'a@b',
    '\u212a', // KELVIN SIGN, which Unicode lower-cases to "k"
    '\u0130', // I with a dot above, which lower-cases to "i" and a combining dot
    '\u017f', // long s, which upper-cases to "S"
    '\uff41', // full-width a
    'а', // Cyrillic
    'a\u200b',
    'a\u0301',
    '😀',
  ])('refuses %j', (input) => {
    expect(parseName(input)).toBeNull()
  })

  it('takes exactly what the alphabet allows, whatever the text', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ maxLength: 40 }), name)
    fc.assert(
      fc.property(text, (input) => {
        const wellFormed =
          input.length >= 1 &&
          input.length <= NAME_MAX_BYTES &&
          [...input].every((c) => ALPHABET.includes(c) || (c >= 'A' && c <= 'Z'))
        expect(parseName(input) !== null).toBe(wellFormed)
      }),
      { numRuns: 500 },
    )
  })
})

describe('the forms that name a cluster', () => {
  it('reads foobar, foobar/ and FooBar as the same name', () => {
    expect(['foobar', 'foobar/', 'FooBar', 'FOOBAR/'].map(parseClusterName)).toEqual(Array(4).fill('foobar'))
  })

  it.each(['', '/', '//', 'foo//', '/foo', 'foo/bar'])('refuses %j', (input) => {
    expect(parseClusterName(input)).toBeNull()
  })

  it('takes full names apart', () => {
    expect(parseFullName('foo')).toEqual({ cluster: 'foo', wallet: null })
    expect(parseFullName('Foo/')).toEqual({ cluster: 'foo', wallet: null })
    expect(parseFullName('foo/Main')).toEqual({ cluster: 'foo', wallet: 'main' })
  })

  it.each(['', '/', '/main', 'foo//', 'foo/main/', 'foo/main/x', 'foo/ma in', 'fo o/main', '//main'])(
    'refuses the full name %j',
    (input) => {
      expect(parseFullName(input)).toBeNull()
    },
  )
})

describe('the word of a name', () => {
  it('is its bytes, left-aligned, zero-filled', () => {
    expect(nameToWord('foobar').toString('hex')).toBe('666f6f626172'.padEnd(64, '0'))
  })

  it('comes back as the name', () => {
    fc.assert(
      fc.property(name, (text) => {
        expect(wordToName(nameToWord(text))).toBe(text)
      }),
    )
  })

  it.each(['', 'Foo', 'a b', 'x'.repeat(33), 'é'])('is refused for %j', (text) => {
    expect(() => nameToWord(text)).toThrow(
      new RangeError(`"${text}" is not a name of 1 to 32 characters of a-z, 0-9, _ and -`),
    )
  })

  it('is refused when any one byte is outside the alphabet, in any place', () => {
    for (let position = 0; position < NAME_MAX_BYTES; position++) {
      for (let byte = 0; byte < 256; byte++) {
        const word = nameToWord('a'.repeat(NAME_MAX_BYTES))
        word[position] = byte
        const allowed = ALPHABET.includes(String.fromCharCode(byte))
        // a zero byte ends a name only where nothing but zeros follows it
        const ends = byte === 0 && position === NAME_MAX_BYTES - 1
        expect(wordToName(word) !== null, `byte ${byte} at ${position}`).toBe(allowed || ends)
      }
    }
  })

  it('is refused when empty, gapped, right-aligned or cut short', () => {
    expect(wordToName(Buffer.alloc(32))).toBeNull()
    expect(wordToName(Buffer.from('6100'.padEnd(60, '0').concat('6100'), 'hex'))).toBeNull()
    expect(wordToName(Buffer.from('666f6f'.padStart(64, '0'), 'hex'))).toBeNull()
    expect(wordToName(nameToWord('a'.repeat(32)).subarray(0, 31))).toBeNull()
  })

  it('is read for exactly the words that some name has', () => {
    const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))
    fc.assert(
      fc.property(fc.oneof(word, name.map(nameToWord)), (bytes) => {
        const read = wordToName(bytes)
        if (read !== null) expect(nameToWord(read).equals(bytes)).toBe(true)
      }),
    )
  })
})

it('the text of a word is its name, or the word in hex', () => {
  expect(wordText(nameToWord('foo'))).toBe('foo')
  expect(wordText(Buffer.alloc(32, 0xab))).toBe(`0x${'ab'.repeat(32)}`)
})

describe('a name that is taken', () => {
  it.each([
    ['main', [], 'main'],
    ['main', ['main'], 'main-2'],
    ['main', ['main', 'main-2', 'main-4'], 'main-3'],
    ['main', ['main', ...Array.from({ length: 8 }, (_, i) => `main-${i + 2}`)], 'main-10'],
    ['x'.repeat(32), ['x'.repeat(32)], `${'x'.repeat(30)}-2`],
    ['x'.repeat(31), ['x'.repeat(31)], `${'x'.repeat(30)}-2`],
  ])('%s, beside %j, becomes %s', (text, taken, free) => {
    expect(numberedName(text, (candidate) => taken.includes(candidate))).toBe(free)
  })
})
