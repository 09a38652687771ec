import { WALLET_KIND_NAMES } from '../../registry/auth/kinds.js'
import { PAYER_ADDRESS_TYPE_NAMES, PAYER_ADDRESS_TYPES } from '../../registry/families.js'
import { NAME_RULES_TEXT } from '../../registry/primitives/nameRule.js'
import { OTHER_CHAIN_ADDRESS_TYPES } from '../../registry/primitives/otherAddress.js'
import { z } from '../http/schema.js'

/**
 * Schemas that several routes share. The examples are a name, its wallet and its cluster in the local world (the test
 * network on one machine).
 */

export const addressSchema = z.string().openapi({
  description: `${Object.values(PAYER_ADDRESS_TYPE_NAMES).join(' or ')} address (responses have hex in lower case); look-ups, lists of wallets and signers also accept addresses of other chains`,
  example: '0xa7580f28d5304b55594cfc1907f36d91b3d77ce5',
})

export const nameSchema = z.string().openapi({
  description: `${NAME_RULES_TEXT}; input may be in upper case and end with a slash`,
  example: 'seedling',
})

export const walletNameSchema = z.string().openapi({
  description: `${NAME_RULES_TEXT}; input may be in upper case. Unique within its cluster`,
  example: 'cold',
})

export const clusterIdSchema = z.string().openapi({
  description: '0x and 64 hex digits',
  example: '0x38cd811679ffbef5bd03bc9fd3e822f56107600568e6b106604fcf8503b40ca8',
})

export const txIdSchema = z.string().openapi({
  description: 'Hash of a transaction in hex, or its signature in base58',
  example: `0x${'5e'.repeat(32)}`,
})

/** Kind of a wallet that can sign in. */
export const walletKindSchema = z.enum(WALLET_KIND_NAMES)

/** Type of a generated wallet. */
export const addressTypeSchema = z.enum(PAYER_ADDRESS_TYPES)

/** Type of a wallet, which may be of any chain. */
export const walletTypeSchema = z.string().openapi({
  description: `\`${[...PAYER_ADDRESS_TYPES, ...OTHER_CHAIN_ADDRESS_TYPES].join('`, `')}\` or \`cosmos-<prefix>\``,
  example: 'evm',
})

/** Query of a list that is paged by name. @param most records per page, also the default */
export const pageQuerySchema = (name: z.ZodString, most: number) =>
  z.object({
    after: name.optional().openapi({
      description: 'Name of an earlier record, after which the page begins',
      example: undefined,
    }),
    limit: z.int().min(1).max(most).default(most).describe(`Clamped to ${most}`),
  })
