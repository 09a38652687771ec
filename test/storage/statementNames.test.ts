import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { filesIn } from '../../scripts/files.js'

/** `prepareStatement<Row>(\n  'name',` or the `name: 'name',` above a statement's `text`. */
const NAMED = /\bprepare\w+(?:<[^(]*>)?\(\s*'(\w+)',|\bname: '(\w+)',\s+text:/g

// pg refuses a second statement of a name on a connection that has prepared the first
it('each prepared statement has a name of its own', () => {
  const sources = filesIn('src').filter((file) => /(?<!\.test)\.ts$/.test(file))
  const names = sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(NAMED)].map(([, prepared, named]) => prepared ?? named),
  )
  expect(names.length).toBeGreaterThan(60)
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
})
