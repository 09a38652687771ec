import { expect, it } from 'vitest'
import { isNoteSignedBy } from '../../../test/support/notes.js'
import { parseCheckpoint, parseNote } from './note.js'
import { isLogSignedBy, logKeysOfSeeds, logOrigin, signCheckpoint } from './signer.js'

const OLD_SEED = Buffer.alloc(32, 1)
const NEW_SEED = Buffer.alloc(32, 2)
const origin = logOrigin('names.example', 'mainnet', 3)
const head = { origin, size: 12, root: Buffer.alloc(32, 7) }

it('signs a checkpoint with each key, under the name of the log', () => {
  const keys = logKeysOfSeeds([NEW_SEED, OLD_SEED])
  const note = signCheckpoint(head, keys)!
  const { text, signatures } = parseNote(note)!
  expect(parseCheckpoint(text)).toEqual({ ...head, root: new Uint8Array(head.root) })
  expect(signatures.map(({ name }) => name)).toEqual([
    'names.example/mainnet/3',
    'names.example/mainnet/3',
  ])
  for (const { publicKey } of keys) expect(isNoteSignedBy(note, origin, publicKey)).toBe(true)
})

it('signs nothing without a key', () => {
  expect(signCheckpoint(head, [])).toBeNull()
  expect(isLogSignedBy({ origin, note: null }, [])).toBe(true)
})

it('has to sign again when the keys change', () => {
  const [old, both, renewed] = [[OLD_SEED], [NEW_SEED, OLD_SEED], [NEW_SEED]].map(logKeysOfSeeds)
  const note = signCheckpoint(head, old!)
  expect(isLogSignedBy({ origin, note }, old!)).toBe(true)
  expect(isLogSignedBy({ origin, note }, both!)).toBe(false)
  expect(isLogSignedBy({ origin, note }, renewed!)).toBe(false)
})

it.each([
  ['another key', (note: string) => note, logKeysOfSeeds([NEW_SEED])[0]!.publicKey, origin],
  [
    'another size',
    (note: string) => note.replace('\n12\n', '\n13\n'),
    logKeysOfSeeds([OLD_SEED])[0]!.publicKey,
    origin,
  ],
  [
    'another log',
    (note: string) => note,
    logKeysOfSeeds([OLD_SEED])[0]!.publicKey,
    'names.example/testnet/3',
  ],
])('does not accept the signature for %s', (_case, alter, publicKey, name) => {
  const note = signCheckpoint(head, logKeysOfSeeds([OLD_SEED]))!
  expect(isNoteSignedBy(alter(note), name, publicKey)).toBe(false)
})
