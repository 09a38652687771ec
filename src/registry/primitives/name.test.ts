import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { name } from '../../../test/support/arbitraries.js'
import {
  alphabet,
  capitals,
  everAccepted,
  isName,
  longest,
  malformed,
  rules,
  wellFormed,
} from '../../../test/support/names.js'
import {
  firstFreeName,
  nameToWord,
  nameWordText,
  parseClusterName,
  parseFullName,
  wordToName,
} from './name.js'
import {
  NAME_PATTERN,
  NAME_RULES,
  NAME_RULES_TEXT,
  NEW_NAME_PATTERN,
  parseName,
  parseNewName,
} from './nameRule.js'

describe('the rules for names', () => {
  it('have cases in test/vectors/names.json', () => {
    expect(rules.map(({ text }) => text)).toEqual(NAME_RULES.map(({ text }) => text))
  })

  it.each(rules.flatMap(({ text, others }) => others.map((other) => [text, other] as const)))(
    '“%s” refuses %j, and no other rule does',
    (text, other) => {
      const broken = NAME_RULES.filter(({ pattern }) => !RegExp(`^${pattern}$`).test(other))
      expect(broken.map((rule) => rule.text)).toEqual([text])
    },
  )
})

describe('parseNewName', () => {
  it.each(wellFormed)('accepts %j unchanged', (input) => {
    expect(parseNewName(input)).toBe(input)
  })

  it.each([...capitals, 'FooBar-9_Z'])(
    'converts the ASCII capitals of %j to lower case',
    (input) => {
      expect(parseNewName(input)).toBe(input.toLowerCase())
    },
  )

  it.each([...malformed, 'a\0'])('refuses %j', (input) => {
    expect(parseNewName(input)).toBeNull()
  })

  it('accepts exactly the names, with ASCII letters in upper or lower case', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ maxLength: 40 }),
      name,
    )
    fc.assert(
      fc.property(text, (input) => {
        const lower = input.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
        expect(parseNewName(input)).toBe(isName(lower) ? lower : null)
      }),
      { numRuns: 500 },
    )
  })
})

/** Stored entries, look-ups and paths accept such a name for good. */
describe('a name that any version has accepted', () => {
  it.each(everAccepted)('is read: %j', (text) => {
    expect(parseName(text)).toBe(text)
    expect(wordToName(nameToWord(text))).toBe(text)
  })
})

/** HTML's attribute `pattern` is read with the flag `v`. */
describe('the pattern of inputs', () => {
  const matches = (pattern: string, text: string) => new RegExp(`^(?:${pattern})$`, 'v').test(text)

  it.each([...wellFormed, ...capitals])(
    'accepts %j, and in lists of clusters its slash',
    (text) => {
      expect(matches(NEW_NAME_PATTERN, text)).toBe(true)
      expect(matches(NEW_NAME_PATTERN, `${text}/`)).toBe(false)
      expect(matches(NAME_PATTERN, text)).toBe(true)
      expect(matches(NAME_PATTERN, `${text}/`)).toBe(true)
      expect(matches(NAME_PATTERN, `${text}//`)).toBe(false)
    },
  )

  it.each(['/', ...malformed])('refuses %j', (text) => {
    expect(matches(NEW_NAME_PATTERN, text)).toBe(false)
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

  const ofAllNames = rules.filter((_, i) => NAME_RULES[i]!.isOfAllNames)
  it.each([...capitals, ...ofAllNames.flatMap(({ others }) => others)])(
    'is refused for %j',
    (text) => {
      expect(() => nameToWord(text)).toThrow(
        new RangeError(`"${text}" is not a name of ${NAME_RULES_TEXT}`),
      )
    },
  )

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
    expect(firstFreeName(text, (candidate) => taken.includes(candidate))).toBe(free)
  })

  it('becomes a name that the rule accepts', () => {
    fc.assert(
      fc.property(name, (text) => {
        const numbered = firstFreeName(text, (candidate) => candidate === text)
        expect(parseNewName(numbered)).toBe(numbered)
      }),
    )
  })
})
