import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../primitives/sha256.js'
import {
  checkpointText,
  formatSignedNote,
  fromBase64,
  keyIdOf,
  parseCheckpoint,
  parseNote,
  verifierKey,
} from './note.js'

// the example of C2SP signed-note and of Go's package documentation
const GO_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const GO_NOTE =
  'If you think cryptography is the answer to your problem,\n' +
  "then you don't know what your problem is.\n\n" +
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'

const ROOT = fromBase64('CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=')!
const HEAD = { origin: 'example.com/behind-the-sofa', size: 20_852_163, root: ROOT }
const CHECKPOINT =
  'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'

const spkiOf = (key: Uint8Array) =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') },
    format: 'jwk',
  })

describe('a signed note', () => {
  it('from Go’s documentation is parsed, and its signature is valid', () => {
    const key = {
      name: 'PeterNeumann',
      publicKey: Buffer.from(GO_KEY.split('+')[2]!, 'base64').subarray(1),
    }
    const note = parseNote(GO_NOTE)!
    const [signed] = note.signatures
    expect(signed).toMatchObject({ name: 'PeterNeumann', keyId: 0xc74f20a3 })
    expect(keyIdOf(sha256, key.name, key.publicKey)).toBe(signed!.keyId)
    const text = Buffer.from(note.text)
    expect(verify(null, text, spkiOf(key.publicKey), signed!.signature)).toBe(true)
    expect(verifierKey(sha256, key.name, key.publicKey)).toBe(GO_KEY)
  })

  it('is parsed to the written note, with signatures of several keys', () => {
    const signatures = ['a.example/log', 'witness.example'].map((name) => {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519')
      const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
      const signature = new Uint8Array(sign(null, Buffer.from(CHECKPOINT), privateKey))
      return { name, keyId: keyIdOf(sha256, name, raw), signature }
    })
    const note = { text: CHECKPOINT, signatures }
    expect(parseNote(formatSignedNote(note))).toEqual(note)
  })

  const SIGNED = parseNote(GO_NOTE)!
  it.each([
    ['no signature', SIGNED.text],
    ['no empty line', GO_NOTE.replace('\n\n', '\n')],
    ['no last line break', GO_NOTE.slice(0, -1)],
    ['a hyphen for the dash', GO_NOTE.replace('—', '-')],
    ['a name with a plus', GO_NOTE.replace('PeterNeumann', 'Peter+Neumann')],
    ['a signature that is cut', GO_NOTE.replace(/ x08go.*\n/, ' x08g\n')],
    ['base64 with loose bits', GO_NOTE.replace('nAM=', 'nAN=')],
    ['a tab', GO_NOTE.replace('cryptography', 'crypto\tgraphy')],
    ['a carriage return', GO_NOTE.replaceAll('\n', '\r\n')],
    ['more signatures than are read', GO_NOTE + GO_NOTE.split('\n\n')[1]!.repeat(64)],
    ['more characters than are read', 'x'.repeat(65_536) + GO_NOTE],
  ])('with %s is refused', (_case, text) => {
    expect(parseNote(text)).toBeNull()
  })
})

describe('a checkpoint', () => {
  it('is three lines', () => {
    expect(checkpointText(HEAD)).toBe(CHECKPOINT)
    expect(parseCheckpoint(CHECKPOINT)).toEqual(HEAD)
    expect(parseCheckpoint(`${CHECKPOINT}an extension\n`)).toEqual(HEAD)
  })

  it.each([
    ['zeros in front of its size', CHECKPOINT.replace('20852163', '020852163')],
    ['a size beyond 53 bits', CHECKPOINT.replace('20852163', '9999999999999999')],
    ['a signed size', CHECKPOINT.replace('20852163', '-1')],
    ['a short root', CHECKPOINT.replace('CsUY', '')],
    ['no origin', CHECKPOINT.replace('example.com/behind-the-sofa', '')],
    ['an empty line', `${CHECKPOINT}\n`],
    ['no last line break', CHECKPOINT.slice(0, -1)],
  ])('with %s is refused', (_case, text) => {
    expect(parseCheckpoint(text)).toBeNull()
  })
})
