import type { NameAvailabilityState, NameLookupResult } from '../db/registry/lookups.js'
import type { EnsCoinType } from '../registry/auth/kind.js'
import { WALLET_KIND_NAMES, WALLET_KINDS } from '../registry/auth/kinds.js'
import { decodeWallet } from '../registry/primitives/address.js'
import { toHex } from '../registry/primitives/bytes.js'
import type { FullName } from '../registry/primitives/name.js'
import type { ResolverCall } from './calls.js'
import type { DecodedEnsName } from './name.js'

/** Look-ups in the registry for ENS records. They find public wallets only. */
export interface EnsRecordLookups {
  walletOf(name: FullName): Promise<NameLookupResult | null>
  /**
   * The verified wallet of one type to which a cluster's name resolves. `stored` is the pattern (regular expression) of
   * the type's stored addresses in hex.
   */
  verifiedOf(wallet: { cluster: string; stored: string }): Promise<NameLookupResult | null>
  availabilityOf(cluster: string): Promise<NameAvailabilityState>
  /** URLs of a cluster's page and image. */
  pagesOf(cluster: string): { profileUrl: string; imageUrl: string }
}

/**
 * The value of a name's ENS record, or null. Names that nobody holds, and private or unverified wallets, have no
 * records. Such names are read by the same SQL statements as other names, so that the response time reveals nothing.
 * The node hash in the call is ignored.
 */
export async function resolveRecord(
  { fullName, text }: DecodedEnsName,
  { name, args }: ResolverCall,
  lookups: EnsRecordLookups,
): Promise<string | null> {
  if (fullName === null) return null
  const [, second] = args
  if (name === 'addr') return resolveAddressRecord(fullName, second as bigint | undefined, lookups)
  if (name !== 'text' && name !== 'name') return null
  const isShown =
    fullName.wallet === null
      ? (await lookups.availabilityOf(fullName.cluster)) === 'taken'
      : (await lookups.walletOf(fullName))?.isVerified
  if (!isShown) return null
  const { profileUrl, imageUrl } = lookups.pagesOf(fullName.cluster)
  const texts = {
    avatar: imageUrl,
    url: profileUrl,
    description: `${fullName.cluster}/${fullName.wallet ?? ''}`,
  }
  return name === 'name' ? text : (new Map(Object.entries(texts)).get(second as string) ?? null)
}

export const ETH_COIN_TYPE = 60n
/**
 * Index of the bit that marks EVM chains. The ENS coin type of an EVM chain is this bit plus the chain id (ENSIP-11).
 * The bit without a chain id means any EVM chain (ENSIP-19).
 */
const EVM_COIN_BIT_INDEX = 31n

function findSupportedCoin(coinType: bigint): EnsCoinType | undefined {
  const type = coinType >> EVM_COIN_BIT_INDEX === 1n ? ETH_COIN_TYPE : coinType
  return WALLET_KIND_NAMES.map((name) => WALLET_KINDS[name].coin).find((coin) => coin.type === type)
}

/**
 * Address of the wallet to which a name resolves, in the coin's binary form, as hex (ENSIP-9). Null for an unsupported
 * coin, and where the wallet has no address of the coin, is private or is not verified.
 */
export async function resolveAddressRecord(
  name: FullName,
  coinType = ETH_COIN_TYPE,
  lookups: Pick<EnsRecordLookups, 'walletOf' | 'verifiedOf'>,
): Promise<string | null> {
  const coin = findSupportedCoin(coinType)
  if (!coin) return null
  const { cluster, wallet } = name
  const hit = await (wallet === null
    ? lookups.verifiedOf({ cluster, stored: coin.stored })
    : lookups.walletOf(name))
  if (!hit?.isVerified || !new RegExp(coin.stored).test(hit.address.toString('hex'))) return null
  return toHex(coin.bytes(decodeWallet(hit.address)))
}
