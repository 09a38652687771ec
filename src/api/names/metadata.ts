import { findPublicWallets, type PublicWallet } from '../../db/registry/publicWallets.js'
import { mapWithoutBlocking } from '../../ops/turns.js'
import { decodeWallet, parseWalletOrNull } from '../../registry/primitives/address.js'
import { parseClusterName } from '../../registry/primitives/name.js'
import { pathOfName } from '../../web/paths.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'

/** Maximum number of wallets per response. The limit exceeds the 1,000 wallets of the largest cluster. */
const MAX_WALLETS = 10_000

export async function metadataOfName(context: Context, input: string) {
  return (await metadataOfNames(context, [input]))[0] ?? null
}

/** Metadata of each name; null where nobody holds it. @throws ApiError too_many above `MAX_WALLETS` in all */
export async function metadataOfNames(context: Context, inputs: readonly string[]) {
  const names = inputs.map(parseClusterName)
  // repeated names are queried once
  const asked = [...new Set(names)].filter((name): name is string => name !== null)
  const found = await findPublicWallets(context.pool, context.network, asked, MAX_WALLETS)
  const byName = new Map(asked.map((name, i) => [name, found?.[i] ?? null]))
  const walletsOf = (name: string | null) => (name === null ? null : (byName.get(name) ?? null))
  const count = names.reduce((sum, name) => sum + (walletsOf(name)?.length ?? 0), 0)
  if (!found || count > MAX_WALLETS)
    throw new ApiError(
      'too_many',
      `These clusters have more than ${MAX_WALLETS} wallets: ask for fewer at once.`,
    )
  const shown: (Awaited<ReturnType<typeof metadata>> | null)[] = []
  for (const name of names)
    shown.push(name === null ? null : await metadata(context, name, walletsOf(name)))
  return shown
}

/** Metadata under the default name of the cluster in which the address is verified; else null. */
export async function metadataOfAddress(context: Context, input: string) {
  const address = parseWalletOrNull(input)
  const hit = address && (await context.lookups[context.network].nameOf(address.bytes))
  if (!hit?.isVerified || hit.isOfCommunity || hit.clusterName === null) return null
  return metadataOfName(context, hit.clusterName)
}

/** URLs of the page and the picture of a name. */
export const nameUrls = ({ siteUrl }: Pick<Context, 'siteUrl'>, name: string) => ({
  profileUrl: `${siteUrl}${pathOfName(name)}`,
  imageUrl: `${siteUrl}/image/${name}.svg`,
})

async function metadata(context: Context, name: string, wallets: readonly PublicWallet[] | null) {
  if (!wallets) return null
  return {
    name: `${name}/`,
    ...nameUrls(context, name),
    hasCustomImage: false,
    wallets: await mapWithoutBlocking(context.turn, wallets, (wallet) => {
      const { type, text } = decodeWallet(wallet.address)
      return { type, address: text, name: `${name}/${wallet.name}`, isVerified: wallet.isVerified }
    }),
  }
}
