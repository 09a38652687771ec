import { getAddress } from 'viem'
import { fromHex, toHex } from '../primitives/bytes.js'
import type { AddressAndTxIdForms } from './form.js'

const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/
const HASH_PATTERN = /^0x[0-9a-fA-F]{64}$/

/** Forms of EVM chains: addresses are 20 bytes in hex, transaction ids are hashes in hex. */
export const evmAddressAndTxIdForms: AddressAndTxIdForms = {
  code: 1,
  bytes: 20,
  read(text) {
    if (!ADDRESS_PATTERN.test(text)) return null
    const digits = text.slice(2)
    const isMixedCase = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
    const lower = `0x${digits.toLowerCase()}` as const
    // mixed case has to be the checksum of EIP-55
    return isMixedCase && getAddress(lower).slice(2) !== digits
      ? 'bad_checksum'
      : { raw: fromHex(lower), text: lower }
  },
  text: toHex,
  tx: {
    bytes: 32,
    parse: (input) => (HASH_PATTERN.test(input) ? fromHex(input) : null),
    text: toHex,
  },
}
