import { walletKindOf } from '../../registry/auth/kinds.js'
import {
  type Address,
  parseAddress,
  parseWallet,
  type Wallet,
} from '../../registry/primitives/address.js'
import { parseClusterId } from '../../registry/primitives/clusterId.js'
import { ApiError } from './errors.js'

/** Error messages for texts that are not addresses. */
export const ADDRESS_PROBLEM_TEXT = {
  unsupported_address:
    'This is no address of a known kind: 0x and 40 hex digits, or an address of Solana, Bitcoin, Cosmos, Sui or another chain. A name is not one.',
  bad_checksum: 'The checksum of the address (EIP-55) is wrong.',
}

/**
 * The address of a type that can pay (`PayerAddressType`): of a wallet, or of a token. @param path of the field
 * @throws ApiError unsupported_address
 */
export const requireAddressOfPayerType = (input: string, path: string): Address =>
  requireParsed(parseAddress(input), path)

/** A wallet of any chain. @throws as `requireAddressOfPayerType` */
export const requireWallet = (input: string, path: string): Wallet =>
  requireParsed(parseWallet(input), path)

/** The address of a wallet that can sign in. @param path of the field @throws ApiError unsupported_address */
export function requireSigner(input: string, path: string): Wallet {
  const wallet = parseWallet(input)
  return requireParsed(
    typeof wallet === 'string' || walletKindOf(wallet.type) ? wallet : 'unsupported_address',
    path,
  )
}

/** The result of a parser. @throws ApiError unsupported_address where the parser returned a problem */
function requireParsed<T extends object>(
  parsed: T | keyof typeof ADDRESS_PROBLEM_TEXT,
  path: string,
): T {
  if (typeof parsed !== 'string') return parsed
  const details = [{ path, message: ADDRESS_PROBLEM_TEXT[parsed] }]
  throw new ApiError('unsupported_address', 'An address can not be read.', { details })
}

/** Reads a cluster id in 0x hex. @throws ApiError invalid_request */
export function requireClusterId(input: string): Buffer {
  const id = parseClusterId(input)
  if (!id) throw new ApiError('invalid_request', 'A cluster id is 0x and 64 hex digits.')
  return id
}
