import { parseEnv } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findEnvFileFaults } from './envFile.js'

/** Faults as texts: line, variable, what was found. */
const faultsOf = (text: string): string[] =>
  findEnvFileFaults(text).map(({ line, variable, found }) => `${line} ${variable ?? '-'} ${found}`)

describe('an env file that all readers read equally', () => {
  it.each([
    ['nothing', ''],
    ['plain values', 'A=1\nB_2=postgresql://u:p@h:5432/d?sslmode=verify-full\n\nC=[1,2,3]\n'],
    ['blanks within and after a value, and an indented line', 'A=a b \n  B=2'],
    ['an empty value', 'A=\nB=""'],
    ['comments', '# A="x\n#B=$c\n  # d'],
    ['quotes around the value', `A='a#b $c "d" \`e\`'\nB="a#b 'c'"`],
    ['equals signs and commas in a value', 'A=b=c,d==\n'],
    ['quotes in the middle of a value', `A=it's\nB=a"b"`],
    ['a backslash in single quotes', `A='a\\b'`],
  ])('has no fault: %s', (_, text) => {
    expect(faultsOf(text)).toEqual([])
  })

  it('means to Node what is written there', () => {
    const value = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.stringMatching(/^['"`]?[ab#$\\ '"`=]{0,8}['"`]?$/),
    )
    const accepted = { count: 0 }
    fc.assert(
      fc.property(value, value, (a, b) => {
        const text = `A=${a}\nB=${b}`
        if (findEnvFileFaults(text).length > 0) return
        accepted.count += 1
        const unquoted = (one: string) => one.trim().replace(/^(['"])(.*)\1$/s, '$2')
        expect(parseEnv(text)).toEqual({ A: unquoted(a), B: unquoted(b) })
      }),
      { numRuns: 4_000 },
    )
    expect(accepted.count).toBeGreaterThan(100)
  })
})

describe('a line that readers read differently', () => {
  it.each([
    ['OPS_TOKEN=abc#def', '1 OPS_TOKEN has a #'],
    ['A=#def', '1 A has a #'],
    ['A=1 # two', '1 A has a comment after the value'],
    [`A='1' # two`, '1 A has a comment after the value'],
    ['A=pass$word', '1 A has a $'],
    ['A="pass$word"', '1 A has a $'],
    ['A=a\\b', '1 A has a backslash'],
    ['A="a\\b"', '1 A has a backslash'],
    [`A='a\\'`, '1 A has a backslash before its last quote'],
    ['A="a" b', '1 A begins with a quote that not every reader removes'],
    ['A=`a`', '1 A begins with a quote that not every reader removes'],
    ['export A=1', '1 A begins with export'],
    ['A =1', '1 A has blanks beside the ='],
    ['A= 1', '1 A has blanks beside the ='],
    ['A= \nB=2', '1 A has blanks beside the ='],
    ['A', '1 - is not of the form NAME=value'],
    [';A=1', '1 - is not of the form NAME=value'],
    ['a-b=1', '1 - is not of the form NAME=value'],
    ['1=1', '1 - is not of the form NAME=value'],
    [`${'A'.repeat(65)}=1`, '1 - is not of the form NAME=value'],
    ['# path C:\\\nA=1', '1 - is a comment that systemd continues'],
    ['A=1\nB=2\nA=3', '3 A is also set on line 1'],
    ['\ufeffA=1', '1 - begins with a byte order mark'],
    ['A=1\nB=2\r\nC=3\r\n', '2 - ends with a carriage return'],
    ['A="1', '1 A begins with a quote that does not end on this line'],
    [`A="it's\nB=2`, '1 A begins with a quote that does not end on this line'],
  ])('%j is named once', (text, start) => {
    const faults = faultsOf(text)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toContain(start)
  })

  it('of several lines is one fault, and the lines after it are read', () => {
    const key = 'KEY="-----BEGIN\nab#c=\nA=1\n-----END"\nB=$x'
    expect(Object.keys(parseEnv(key)).sort()).toEqual(['B', 'KEY'])
    expect(faultsOf(key)).toEqual([
      '1 KEY begins with a quote that does not end on this line',
      '5 B has a $, where Docker Compose fills in a variable',
    ])
  })

  it('is named without its value, and with a remedy', () => {
    const secret = 'hunter2'
    const text = `A=${secret}#${secret}\n${secret} ${secret}\nB="${secret}\n${secret}"\nC=${secret}$`
    const faults = findEnvFileFaults(text)
    expect(faults.map(({ line }) => line)).toEqual([1, 2, 3, 5])
    expect(JSON.stringify(faults)).not.toContain(secret)
    for (const { remedy } of faults) expect(remedy).toMatch(/^[A-Z].*\.$/)
  })
})
