import { z } from 'zod'
import { lookupAddress } from '../registry/primitives/address.js'

/** `0x` and hex digits, made lower case. */
export const hex = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`), `must be 0x and ${bytes * 2} hex digits`)
    .transform((text) => text.toLowerCase() as `0x${string}`)

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
export const wsUrl = z.url({ protocol: /^wss?$/, error: 'must be a ws(s) URL' })

/** A decimal amount; uint256 has at most 78 digits. */
export const wei = z.string().regex(/^(0|[1-9][0-9]{0,77})$/, 'must be a decimal amount of wei')

/** 32 bytes in base58, as Solana writes keys and hashes. */
export const solana32 = z
  .string()
  .refine((text) => lookupAddress(text)?.type === 'solana', 'must be 32 bytes in base58')
