import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bech32 } from '@scure/base'
import { decodeBech32 } from '../primitives/otherAddress.js'
import { hash160, sha256 } from '../primitives/sha256.js'
import { hexAndBase64Decodings, openSignatureEnvelope } from './envelope.js'
import {
  combineSignatureChecks,
  isSignedByEcdsa,
  type SignatureCheck,
  storedAddressPatternOfPrefixes,
  type WalletKind,
} from './kind.js'

/**
 * Signatures of Cosmos accounts over text messages by one secp256k1 key (ADR-36, `signArbitrary`). Addresses that are
 * not the `hash160` of one key are refused: addresses of Ethereum keys (Evmos, Injective) and of several keys.
 */

/** Names of the key type secp256k1 in amino JSON, and in the JSON form of protobuf. */
const SECP256K1_TYPE_NAMES = ['tendermint/PubKeySecp256k1', '/cosmos.crypto.secp256k1.PubKey']

/**
 * Public keys of 33 bytes that a key in JSON may stand for, because its text may be hex or base64. Empty for another
 * type of key.
 */
function keysOf(publicKey: unknown): Buffer[] {
  const { type, value, '@type': protoType, key } = Object(publicKey) as Record<string, unknown>
  const isSecp256k1 = SECP256K1_TYPE_NAMES.includes(String(type ?? protoType))
  return isSecp256k1
    ? hexAndBase64Decodings(String(value ?? key)).filter(({ length }) => length === 33)
    : []
}

/** Pattern of the hex of one bech32 character's ASCII code. */
const BECH32_CHARACTER_HEX = '(3[02-9]|6[13-8a-e]|7[0-9a])'

/** The document that is signed (ADR-36): amino JSON with sorted keys. */
const signDoc = (message: string, signer: string): string =>
  '{"account_number":"0","chain_id":"","fee":{"amount":[],"gas":"0"},"memo":"","msgs":[{"type":"sign/MsgSignData",' +
  `"value":{"data":"${Buffer.from(message).toString('base64')}","signer":"${signer}"}}],"sequence":"0"}`

export const cosmosWalletKind: WalletKind = {
  account: 'Cosmos',
  proves: (type) => type === 'cosmos' || type.startsWith('cosmos-'),
  // addresses of 20 or 32 bytes. SegWit addresses do not match: they have one more character, the witness version
  stored: `^03(6[1-9a-f]|7[0-9a]){2,20}31(${BECH32_CHARACTER_HEX}{38}|${BECH32_CHARACTER_HEX}{58})$`,
  coin: {
    type: 118n,
    stored: storedAddressPatternOfPrefixes('cosmos1'),
    bytes: ({ text }) => bech32.fromWords(decodeBech32(text)!.words),
  },
  form: 'JSON {"pub_key":{"type":"tendermint/PubKeySecp256k1","value"},"signature"} of 33 and 64 bytes',
  refused:
    'Accounts of several keys (multisig), and chains whose addresses are hashes of Ethereum (Evmos, Injective), are not verified here.',
  canonical(signature, fields) {
    const [key] = keysOf(fields.pub_key)
    const publicKey = key && { type: SECP256K1_TYPE_NAMES[0], value: key.toString('base64') }
    return publicKey
      ? JSON.stringify({ pub_key: publicKey, signature: signature.toString('base64') })
      : null
  },
  read(text) {
    const { encoded, fields } = openSignatureEnvelope(text)
    const signatures = hexAndBase64Decodings(encoded).filter(({ length }) => length === 64)
    return combineSignatureChecks(
      keysOf(fields.pub_key).flatMap((key) =>
        signatures.map((signature) => createCheck(key, signature)),
      ),
    )
  },
}

/** Signature check by one public key. @param key 33 bytes @param signature 64 bytes */
function createCheck(key: Uint8Array, signature: Uint8Array): SignatureCheck {
  return (message, { text: address }) => {
    const prefix = address.slice(0, address.lastIndexOf('1'))
    if (bech32.encode(prefix, bech32.toWords(hash160(key))) !== address) return false
    const hash = sha256(Buffer.from(signDoc(message, address)))
    return isSignedByEcdsa(secp256k1, [signature, hash, key])
  }
}
