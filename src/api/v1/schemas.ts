import { NAME_RULE } from '../../registry/primitives/nameRule.js'
import { z } from '../http/schema.js'

/** Schemas that several routes share. */

export const addressText = z.string().openapi({
  description: 'EVM (answered in lower case) or Solana address; look-ups and lists of wallets take other chains’ too',
  example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
})

export const nameText = z.string().openapi({
  description: `${NAME_RULE}; input may be in upper case and end with a slash`,
  example: 'foobar',
})

export const walletNameText = z.string().openapi({
  description: `${NAME_RULE}; input may be in upper case. Unique within its cluster`,
  example: 'cold',
})

export const clusterIdText = z.string().openapi({ description: '0x and 64 hex digits' })

/** Type of a wallet that can sign in. */
export const addressType = z.enum(['evm', 'solana'])

/** Type of a listed wallet, which may be of any chain. */
export const walletType = z.string().openapi({
  description:
    '`evm`, `solana`, or another chain’s: `bitcoin-p2pkh`, `-p2sh`, `-p2wpkh`, `-p2wsh`, `-p2tr`, `litecoin-…`, `dogecoin`, `tron`, `ripple-classic`, `aptos`, `cosmos`, `cosmos-<prefix>`',
  example: 'evm',
})
