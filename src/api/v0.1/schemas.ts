import { z } from '../http/schema.js'
import { addressText, walletType } from '../v1/schemas.js'

/** Shapes that several v0.1 routes share. */

export const WalletSchema = z
  .object({
    type: walletType,
    address: addressText,
    name: z.string().openapi({ example: 'foobar/main' }),
    isVerified: z.boolean(),
  })
  .openapi('WalletV01')
