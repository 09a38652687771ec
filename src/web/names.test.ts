import { expect, it } from 'vitest'
import { NAME_MAX_BYTES } from '../registry/primitives/name.js'
import { NAME_MAX_CHARS } from './page/names.js'

it('the page takes names as long as the registry does', () => {
  expect(NAME_MAX_CHARS).toBe(NAME_MAX_BYTES)
})
