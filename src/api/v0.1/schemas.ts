import { z } from '../http/schema.js'
import { addressText, walletType } from '../v1/schemas.js'

/** Wallet in the answers of several v0.1 routes. */
export const WalletSchema = z
  .object({
    type: walletType,
    address: addressText,
    name: z.string().openapi({ example: 'foobar/main' }),
    isVerified: z.boolean(),
  })
  .openapi('WalletV01')
