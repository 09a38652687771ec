import { z } from 'zod'

/** Schema of a byte string of fixed length: `0x` and hex digits, made lower case. */
export const hexBytes = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`), `must be 0x and ${bytes * 2} hex digits`)
    .transform((text) => text.toLowerCase() as `0x${string}`)

/** Schema of an EVM address. */
export const evmAddress = hexBytes(20)
export const positiveInt = z.int().positive()
export const nonnegativeInt = z.int().nonnegative()

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
export const wsUrl = z.url({ protocol: /^wss?$/, error: 'must be a ws(s) URL' })

/** A URL in its canonical form. An invalid URL is returned unchanged, so that `httpUrl` refuses it. */
const canonicalUrl = (text: string): string => (URL.canParse(text) ? new URL(text).href : text)

/** Schema of the URLs of a chain's nodes. Duplicates are refused: a second answer has to come from another node. */
export const rpcUrls = z
  .array(httpUrl)
  .min(1)
  .refine((urls) => new Set(urls.map(canonicalUrl)).size === urls.length, {
    error: 'has the same URL twice: each has to be another node',
  })

/** Schema of an amount of wei as a decimal text; uint256 has at most 78 digits. */
export const weiText = z.string().regex(/^(0|[1-9][0-9]{0,77})$/, 'must be a decimal amount of wei')

/** Schema of values by the id of their EVM chain. Ids have up to nine digits here. */
export const recordByChainId = <Value extends z.ZodType>(value: Value) =>
  z.record(z.string().regex(/^[1-9][0-9]{0,8}$/), value, {
    error: ({ code }) => (code === 'invalid_key' ? 'is not the id of a chain' : undefined),
  })
