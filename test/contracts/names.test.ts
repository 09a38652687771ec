import { randomInt } from 'node:crypto'
import { type Hex, hexToBytes } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import {
  testNamesAbi,
  testNamesBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestNames.js'
import { runsOf } from '../setup/tiers.js'
import { alphabet, isNameWord, rules, wellFormed } from '../support/names.js'
import { useWorld } from '../support/useWorld.js'
import { startChain } from './support/chain.js'

const isLetter = (byte: number) => alphabet.includes(String.fromCharCode(byte))
/** The bytes on both sides of every border of the alphabet, and of the 7-bit values. */
const EDGES = Array.from({ length: 0x7e }, (_, byte) =>
  isLetter(byte) === isLetter(byte + 1) ? [] : [byte, byte + 1],
)
const BEYOND = [0x7f, 0x80, 0x81, 0xad, 0xae, 0xb0, 0xdf, 0xe1, 0xfb, 0xfe, 0xff]
const WORDS_AT_ONCE = 5_000
const RANDOM_WORDS = runsOf(100_000)

/** Place of the rule that the tests of this file ask. */
const PLACE =
  'contracts/evm/src/libraries/Names.sol has another rule than test/vectors/names.json (after a change: npm run contracts)'

const chain = useWorld(() => startChain())
let library: Hex
beforeAll(async () => {
  library = await chain.deploy(testNamesBytecode)
})

async function judge(words: readonly Buffer[]): Promise<boolean[]> {
  const args = [words.map((word): Hex => `0x${word.toString('hex')}`)] as const
  const answers = await chain.publicClient.readContract({
    address: library,
    abi: testNamesAbi,
    functionName: 'judge',
    args,
  })
  return [...hexToBytes(answers)].map((answer) => answer === 1)
}

async function expectRule(words: readonly Buffer[]): Promise<{ names: number; others: number }> {
  let names = 0
  for (let i = 0; i < words.length; i += WORDS_AT_ONCE) {
    const part = words.slice(i, i + WORDS_AT_ONCE)
    const answers = await judge(part)
    const wrong = part.filter((word, n) => isNameWord(word) !== answers[n])
    expect(
      wrong.map((word) => word.toString('latin1').replace(/\0+$/, '')),
      PLACE,
    ).toEqual([])
    names += answers.filter(Boolean).length
  }
  return { names, others: words.length - names }
}

const pick = <T>(from: ArrayLike<T>): T => from[randomInt(from.length)]!
const letters = (length: number) =>
  Buffer.from(Array.from({ length }, () => pick(alphabet)).join(''))
const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(32 - bytes.length)])

test.each(rules)('refuses words that break the rule $text', async ({ others }) => {
  const words = others
    .filter((text) => /^[\0-\xff]{0,32}$/.test(text))
    .map((text) => padded(Buffer.from(text, 'latin1')))
  expect(await judge(words), PLACE).toEqual(words.map(() => false))
})

test('accepts the words of well-formed names', async () => {
  const words = wellFormed.map((text) => padded(Buffer.from(text)))
  expect(await judge(words), PLACE).toEqual(words.map(() => true))
})

test('the check of a name’s word equals that of its letters: every byte at every position, after letters and before zeros', async () => {
  const words = Array.from({ length: 32 * 256 * 2 }, (_, i) => {
    const place = (i >> 8) & 31
    const byte = i & 255
    const word = i < 32 * 256 ? letters(32) : padded(letters(place + 1))
    word[place] = byte
    return word
  })
  const { names } = await expectRule(words)
  expect(names).toBeGreaterThan(32 * alphabet.length)
})

test(`the check of a name’s word equals that of its letters: ${RANDOM_WORDS} words of letters, zeros and bytes at the borders`, async () => {
  const bytes = [0, 1, 0x40, 0x41, 0x5a, ...EDGES.flat(), ...BEYOND]
  const oddities = [0, 0, 1, 1, 1, 2, 3, 32]
  const words = Array.from({ length: RANDOM_WORDS }, () => {
    const word = padded(letters(randomInt(33)))
    for (let n = pick(oddities); n > 0; n--) word[randomInt(32)] = pick(bytes)
    return word
  })
  const { names, others } = await expectRule(words)
  expect(Math.min(names, others)).toBeGreaterThan(RANDOM_WORDS / 10)
})
