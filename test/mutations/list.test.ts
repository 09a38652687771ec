import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { INVARIANTS, MUTATIONS } from './list.js'

const ROOT = join(import.meta.dirname, '../..')

describe('the list of mutations', () => {
  it.each(MUTATIONS)(
    '$name: applies to the code as it is, and has tests',
    ({ file, find, replace, tests, invariant }) => {
      const source = readFileSync(join(ROOT, file), 'utf8')
      expect(source.split(find)).toHaveLength(2)
      expect(replace).not.toBe(find)
      expect(INVARIANTS[invariant]).toBeDefined()
      const text = tests.files.map((path) => readFileSync(join(ROOT, path), 'utf8')).join()
      if (tests.only !== undefined) expect(text).toContain(tests.only)
      expect(tests.files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    },
  )
})
