import { expect, it } from 'vitest'
import { shareEncryptionKeyId } from '../../api/clusters/keyShares.js'
import { keySharesFinding } from './database.js'

const KEY = Buffer.alloc(32, 1)
const FORMER = Buffer.alloc(32, 2)
const under = (key: Buffer | null, count = 3) => ({
  keyId: key && shareEncryptionKeyId(key),
  count,
})

it.each<[string, ReturnType<typeof under>[], Buffer[], string, string]>([
  ['no shares', [], [], 'ok', '0 under keys of SHARE_KEY'],
  ['shares under the key', [under(KEY)], [KEY], 'ok', '3 under keys of SHARE_KEY'],
  [
    'shares under an earlier key',
    [under(KEY), under(FORMER)],
    [KEY, FORMER],
    'warn',
    '3 are kept under earlier keys',
  ],
  ['shares under no key', [under(FORMER)], [KEY], 'bad', 'SHARE_KEY has not the keys'],
  [
    'shares from before keys had ids, whose key nobody has proved',
    [under(null), under(KEY)],
    [KEY],
    'warn',
    '3 are from before keys had ids',
  ],
  ['shares from before keys had ids, without a key', [under(null)], [], 'warn', '3 are from'],
])('for %s the doctor gives advice', (_, shares, keys, level, found) => {
  const result = keySharesFinding(shares, keys)
  expect(result.level).toBe(level)
  expect(result.found).toContain(found)
})
