import { describe, expect, it } from 'vitest'
import { findCosignatures, parseWitnessKey } from './cosignature.js'
import { sha256InOneCall } from './hash.js'
import { COSIGNER_KEY_TYPE, formatSignedNote, parseNote, verifierKey } from './note.js'
import {
  addCosignatures,
  cosign,
  isLogSignedBy,
  isTextSigned,
  logKeysOfSeeds,
  signCheckpoint,
} from './signer.js'

const keys = logKeysOfSeeds([Buffer.alloc(32, 1)])
const head = { origin: 'names.example/mainnet/3', size: 12, root: Buffer.alloc(32, 7) }
const note = signCheckpoint(head, keys)!

const cosigner = { name: 'witness.example/w1', keys: logKeysOfSeeds([Buffer.alloc(32, 4)]) }
const keyOf = ({ name, keys }: typeof cosigner) =>
  verifierKey(sha256InOneCall, name, keys[0]!.publicKey, COSIGNER_KEY_TYPE)
const pinned = parseWitnessKey(sha256InOneCall, keyOf(cosigner))!

const namesIn = async (text: string) =>
  findCosignatures(parseNote(text)!, [pinned], isTextSigned).map(({ name }) => name)

describe('a witness’s key', () => {
  it('is a name, an id and a key', () => {
    expect(pinned.name).toBe('witness.example/w1')
    expect(Buffer.from(pinned.publicKey)).toEqual(cosigner.keys[0]!.publicKey)
  })

  it.each([
    ['the key of a log', verifierKey(sha256InOneCall, 'w', keys[0]!.publicKey)],
    ['another id', keyOf(cosigner).replace(/\+\w{8}\+/, '+00000000+')],
    ['another name', keyOf(cosigner).replace('w1', 'w2')],
    ['a key that is cut', keyOf(cosigner).slice(0, -4)],
    ['a bare key', cosigner.keys[0]!.publicKey.toString('base64')],
    ['a name with a space', keyOf({ ...cosigner, name: 'w 1' })],
    ['nothing', ''],
  ])('is not %s', (_what, text) => {
    expect(parseWitnessKey(sha256InOneCall, text)).toBe(null)
  })
})

describe('a witness’s signature', () => {
  const signed = addCosignatures(note, cosigner)

  it('is found beside the log’s own, which the log does not sign again for it', async () => {
    expect(await namesIn(signed)).toEqual(['witness.example/w1'])
    expect(signed.startsWith(note)).toBe(true)
    expect(isLogSignedBy({ origin: head.origin, note: signed }, keys)).toBe(true)
  })

  it('replaces its earlier one', () => {
    expect(parseNote(addCosignatures(signed, cosigner))!.signatures).toHaveLength(2)
  })

  const other = { ...cosigner, keys: logKeysOfSeeds([Buffer.alloc(32, 5)]) }
  const { text, signatures } = parseNote(note)!
  const with_ = (change: (signature: Uint8Array) => Uint8Array) =>
    formatSignedNote({
      text,
      signatures: [
        ...signatures,
        ...cosign(text, cosigner).map((one) => ({ ...one, signature: change(one.signature) })),
      ],
    })

  it.each([
    ['absent', note],
    ['of another key', addCosignatures(note, other)],
    ['of another name', addCosignatures(note, { ...cosigner, name: 'w2' })],
    ['of another checkpoint', signed.replace('\n12\n', '\n13\n')],
    ['of another time', with_((bytes) => Buffer.from(bytes).fill(1, 0, 1))],
    ['cut', with_((bytes) => bytes.subarray(0, 71))],
    ['without a time', with_((bytes) => bytes.subarray(8))],
  ])('does not count where it is %s', async (_what, text) => {
    expect(await namesIn(text)).toEqual([])
  })
})
