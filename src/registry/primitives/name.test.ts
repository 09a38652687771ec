import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  alphabet,
  capitals,
  longest,
  malformed,
  rule,
  wellFormed,
} from '../../../test/support/names.js'
import {
  nameToWord,
  nameWordText,
  numberedName,
  parseClusterName,
  parseFullName,
  parseName,
  wordToName,
} from './name.js'

const name = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: longest })

describe('parseName', () => {
  it.each(wellFormed)('accepts %j unchanged', (input) => {
    expect(parseName(input)).toBe(input)
  })

  it.each([...capitals, 'FooBar-9_Z'])(
    'converts the ASCII capitals of %j to lower case',
    (input) => {
      expect(parseName(input)).toBe(input.toLowerCase())
    },
  )

  it.each([...malformed, 'a\0'])('refuses %j', (input) => {
    expect(parseName(input)).toBeNull()
  })

  it('accepts exactly the texts of the alphabet', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ maxLength: 40 }),
      name,
    )
    fc.assert(
      fc.property(text, (input) => {
        const fits = input.length >= 1 && input.length <= longest
        const isOfLetters = [...input].every((c) => alphabet.includes(c) || (c >= 'A' && c <= 'Z'))
        expect(parseName(input) !== null).toBe(fits && isOfLetters)
      }),
      { numRuns: 500 },
    )
  })
})

describe('the forms that name a cluster', () => {
  it.each(['foobar', 'foobar/', 'FooBar', 'FOOBAR/'])('parses %s as foobar', (text) => {
    expect(parseClusterName(text)).toBe('foobar')
  })

  it.each(['', '/', '//', 'foo//', '/foo', 'foo/bar'])('refuses %j', (input) => {
    expect(parseClusterName(input)).toBeNull()
  })

  it('splits full names', () => {
    expect(parseFullName('foo')).toEqual({ cluster: 'foo', wallet: null })
    expect(parseFullName('Foo/')).toEqual({ cluster: 'foo', wallet: null })
    expect(parseFullName('foo/Main')).toEqual({ cluster: 'foo', wallet: 'main' })
  })

  it.each([
    '',
    '/',
    '/main',
    'foo//',
    'foo/main/',
    'foo/main/x',
    'foo/ma in',
    'fo o/main',
    '//main',
  ])('refuses the full name %j', (input) => {
    expect(parseFullName(input)).toBeNull()
  })
})

describe('the word of a name', () => {
  it('is its bytes, left-aligned, zero-filled', () => {
    expect(nameToWord('foobar').toString('hex')).toBe('666f6f626172'.padEnd(64, '0'))
  })

  it('is decoded to the name', () => {
    fc.assert(
      fc.property(name, (text) => {
        expect(wordToName(nameToWord(text))).toBe(text)
      }),
    )
  })

  it.each([...capitals, ...malformed])('is refused for %j', (text) => {
    expect(() => nameToWord(text)).toThrow(new RangeError(`"${text}" is not a name of ${rule}`))
  })

  it('is refused when any one byte is outside the alphabet, in any place', () => {
    for (let position = 0; position < longest; position++) {
      for (let byte = 0; byte < 256; byte++) {
        const word = nameToWord('a'.repeat(longest))
        word[position] = byte
        const allowed = alphabet.includes(String.fromCharCode(byte))
        // a zero byte ends a name only if all later bytes are zero
        const ends = byte === 0 && position === longest - 1
        expect(wordToName(word) !== null, `byte ${byte} at ${position}`).toBe(allowed || ends)
      }
    }
  })

  it('is refused when empty, with gaps, right-aligned or truncated', () => {
    expect(wordToName(Buffer.alloc(32))).toBeNull()
    expect(wordToName(Buffer.from('6100'.padEnd(60, '0').concat('6100'), 'hex'))).toBeNull()
    expect(wordToName(Buffer.from('666f6f'.padStart(64, '0'), 'hex'))).toBeNull()
    expect(wordToName(nameToWord('a'.repeat(32)).subarray(0, 31))).toBeNull()
  })

  it('is decoded exactly if it is the word of a name', () => {
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
  expect(nameWordText(nameToWord('foo'))).toBe('foo')
  expect(nameWordText(Buffer.alloc(32, 0xab))).toBe(`0x${'ab'.repeat(32)}`)
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

  it('becomes a name that the rule accepts', () => {
    fc.assert(
      fc.property(name, (text) => {
        const numbered = numberedName(text, (candidate) => candidate === text)
        expect(parseName(numbered)).toBe(numbered)
      }),
    )
  })
})
