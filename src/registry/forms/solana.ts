import bs58 from 'bs58'
import { decodeBase58 } from '../primitives/base58.js'
import { decodeBech32 } from '../primitives/otherAddress.js'
import type { AddressAndTxIdForms } from './form.js'

/** Forms of Solana: addresses are 32 bytes in base58, transaction ids are signatures of 64 bytes in base58. */
export const solanaAddressAndTxIdForms: AddressAndTxIdForms = {
  code: 2,
  bytes: 32,
  read(text) {
    const raw = decodeBase58(text, 32)
    // a text with a valid bech32 checksum is no Solana key: a key has no such checksum by chance
    return raw && !decodeBech32(text) ? { raw, text } : null
  },
  text: (raw) => bs58.encode(raw),
  tx: {
    bytes: 64,
    parse: (input) => decodeBase58(input, 64),
    text: (id) => bs58.encode(id),
  },
}
