import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { filesIn } from '../../scripts/files.js'
import { INVALID_REASONS, PAYMENT_REFUSALS } from './invalidReasons.js'

const sources = ['src/registry', 'src/api', 'src/chains']
  .flatMap(filesIn)
  .filter((file) => /^(?!.*(\.test\.|generated|invalidReasons)).*\.ts$/.test(file))
  .map((file) => readFileSync(file, 'utf8'))

it.each([...Object.keys(INVALID_REASONS), ...Object.keys(PAYMENT_REFUSALS)])(
  'a rule in src/registry, src/api or src/chains gives the reason %s',
  (reason) => {
    const given = new RegExp(`'${reason}'|\\b${reason}: \\d`)
    expect(sources.some((text) => given.test(text))).toBe(true)
  },
)
