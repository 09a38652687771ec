import bs58 from 'bs58'
import { decodeBase58 } from '../primitives/base58.js'
import { isBech32 } from '../primitives/otherAddress.js'
import type { AddressAndTxIdForms } from './form.js'

/** Forms of Solana: addresses are 32 bytes in base58, transaction ids are signatures of 64 bytes in base58. */
export const solanaAddressAndTxIdForms: AddressAndTxIdForms = {
  code: 2,
  bytes: 32,
  read(text) {
    const raw = decodeBase58(text, 32)
    // a valid bech32 checksum shows that it is no Solana key; base58 of 32 bytes has no checksum
    return raw && !isBech32(text) ? { raw, text } : null
  },
  text: (raw) => bs58.encode(raw),
  tx: {
    bytes: 64,
    parse: (input) => decodeBase58(input, 64),
    text: (id) => bs58.encode(id),
  },
}
