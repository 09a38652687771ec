import { z } from '../schema.js'

/** Shapes that several v1 routes share. */

export const addressText = z.string().openapi({
  description: 'EVM (answered in lower case) or Solana address',
  example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
})

export const nameText = z.string().openapi({
  description: '1 to 32 characters of a-z, 0-9, _ and -; input may be in upper case and end with a slash',
  example: 'foobar',
})

export const walletNameText = z.string().openapi({
  description: '1 to 32 characters of a-z, 0-9, _ and -; input may be in upper case. Unique within its cluster',
  example: 'cold',
})

export const clusterIdText = z.string().openapi({ description: '0x and 64 hex digits' })

export const addressType = z.enum(['evm', 'solana'])

/** Types of wallets that can sign in. */
export const signingType = z.enum(['evm', 'solana'])
