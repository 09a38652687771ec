import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bech32 } from '@scure/base'
import { z } from 'zod'
import { decodeBech32 } from '../primitives/otherAddress.js'
import { hash160, sha256 } from '../primitives/sha256.js'
import { decodeBase64, isSignedByEcdsa, startsWith, type WalletKind } from './kind.js'

/**
 * Signatures of accounts of Cosmos chains over text messages (ADR-36, `signArbitrary`), by one secp256k1 key. Chains
 * that derive addresses as Ethereum does (Evmos, Injective) are refused, as are accounts of several keys: their
 * addresses are other hashes.
 */

const LIMIT_CHARS = 1_000
/** An answer of `signArbitrary`, as JSON. */
const Signed = z.strictObject({
  pub_key: z.strictObject({ type: z.literal('tendermint/PubKeySecp256k1'), value: z.string() }),
  signature: z.string(),
})

/** The document that is signed: amino JSON, its keys in order. */
const signDoc = (message: string, signer: string): string =>
  '{"account_number":"0","chain_id":"","fee":{"amount":[],"gas":"0"},"memo":"","msgs":[{"type":"sign/MsgSignData",' +
  `"value":{"data":"${Buffer.from(message).toString('base64')}","signer":"${signer}"}}],"sequence":"0"}`

function parse(text: string): unknown {
  try {
    return text.length <= LIMIT_CHARS ? JSON.parse(text) : null
  } catch {
    return null
  }
}

export const cosmos: WalletKind = {
  account: 'Cosmos',
  proves: (type) => type === 'cosmos' || type.startsWith('cosmos-'),
  coin: { type: 118n, stored: startsWith('cosmos1'), bytes: ({ text }) => bech32.fromWords(decodeBech32(text)!.words) },
  form: 'JSON {"pub_key":{"type":"tendermint/PubKeySecp256k1","value"},"signature"}, 33 and 64 bytes in base64',
  read(text) {
    const { data } = Signed.safeParse(parse(text))
    const key = data && decodeBase64(data.pub_key.value)
    const signature = data && decodeBase64(data.signature)
    if (key?.length !== 33 || signature?.length !== 64) return null
    return (message, { text: address }) => {
      const prefix = address.slice(0, address.lastIndexOf('1'))
      if (bech32.encode(prefix, bech32.toWords(hash160(key))) !== address) return false
      const hash = sha256(Buffer.from(signDoc(message, address)))
      return isSignedByEcdsa(secp256k1, [signature, hash, key])
    }
  },
}
