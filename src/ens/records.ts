import type { Availability, NameHit } from '../db/registry/lookups.js'
import type { Coin } from '../registry/auth/kind.js'
import { KIND_NAMES, KINDS } from '../registry/auth/kinds.js'
import { decodeWallet } from '../registry/primitives/address.js'
import { toHex } from '../registry/primitives/bytes.js'
import type { FullName } from '../registry/primitives/name.js'
import type { Call } from './calls.js'
import type { EnsName } from './name.js'

/** Wallets are public ones. */
export interface Lookups {
  walletOf(name: FullName): Promise<NameHit | null>
  /** The verified wallet that a cluster alone stands for, by a pattern of the hex of stored addresses. */
  verifiedOf(asked: { cluster: string; stored: string }): Promise<NameHit | null>
  availabilityOf(cluster: string): Promise<Availability>
  /** URLs of the page and the picture of a cluster. */
  pagesOf(cluster: string): { profileUrl: string; imageUrl: string }
}

/**
 * The value of a name's record; null for none. A name that nobody holds and a wallet that is private or unverified have
 * none, and are asked for by the same statements. The node in the call counts for nothing.
 */
export async function recordOf(
  { own, text }: EnsName,
  { name, args }: Call,
  lookups: Lookups,
): Promise<string | null> {
  if (own === null) return null
  const [, second] = args
  if (name === 'addr') return addressOf(own, second as bigint | undefined, lookups)
  if (name !== 'text' && name !== 'name') return null
  const isShown =
    own.wallet === null
      ? (await lookups.availabilityOf(own.cluster)) === 'taken'
      : (await lookups.walletOf(own))?.isVerified
  if (!isShown) return null
  const { profileUrl, imageUrl } = lookups.pagesOf(own.cluster)
  const texts = {
    avatar: imageUrl,
    url: profileUrl,
    description: `${own.cluster}/${own.wallet ?? ''}`,
  }
  return name === 'name' ? text : (new Map(Object.entries(texts)).get(second as string) ?? null)
}

export const ETH = 60n
/** Coin types of EVM chains are this bit and a chain’s id (ENSIP-11); the bit alone is any of them (ENSIP-19). */
const EVM_BIT = 31n

function coinOf(asked: bigint): Coin | undefined {
  const type = asked >> EVM_BIT === 1n ? ETH : asked
  return KIND_NAMES.map((name) => KINDS[name].coin).find((coin) => coin.type === type)
}

/** Address in the coin’s own bytes of the wallet that a name stands for, in hex (ENSIP-9). */
export async function addressOf(
  name: FullName,
  coinType = ETH,
  lookups: Pick<Lookups, 'walletOf' | 'verifiedOf'>,
): Promise<string | null> {
  const coin = coinOf(coinType)
  if (!coin) return null
  const { cluster, wallet } = name
  const hit = await (wallet === null
    ? lookups.verifiedOf({ cluster, stored: coin.stored })
    : lookups.walletOf(name))
  if (!hit?.isVerified || !new RegExp(coin.stored).test(hit.address.toString('hex'))) return null
  return toHex(coin.bytes(decodeWallet(hit.address)))
}
