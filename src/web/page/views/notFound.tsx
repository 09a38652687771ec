import { firstNameInText, type PageLocation, pathOfName, pathOfText } from '../../paths.js'
import { isNotFoundError } from '../lib/api.js'
import { NAME_RULES_HINT } from '../lib/names.js'
import { type PageRequestContext, useNetwork, usePolled, useTitle } from '../lib/net.js'
import type { Cluster, NameRecord, OwnedName } from '../lib/types.js'
import { Link, LoadedContent } from '../parts/basics.js'
import { SearchBox } from '../parts/search.js'

type SearchPlace = Extract<PageLocation, { page: 'search' }>

/** Shown for a path or a search without a page: explains how the text was read, and suggests what to do. */
export function NotFound({ text }: { text: string }) {
  const name = firstNameInText(text)
  useTitle('Not found')
  return (
    <div class="hero">
      <h1>There is no such page</h1>
      <p class="soft">
        “{text}” is no address that is known here, no transaction, and no name: a name has{' '}
        {NAME_RULES_HINT}.
      </p>
      {name && (
        <p>
          <Link to={pathOfText(name)}>Look up {name}/</Link>
        </p>
      )}
      <SearchBox isLarge />
    </div>
  )
}

/**
 * Path of a cluster's page: of its oldest name (not of names below communities), else of its first verified wallet.
 * Null if there is no such cluster, or it has no public verified wallet.
 */
async function pathOfCluster(id: string, get: PageRequestContext['get']): Promise<string | null> {
  const cluster = await get<Cluster>(`/v1/clusters/id/${id}`).catch((error) => {
    if (isNotFoundError(error)) return null
    throw error
  })
  const wallet = cluster?.wallets.find(({ isVerified }) => isVerified)
  if (!wallet) return null
  const [owned] = await get<OwnedName[]>(`/v1/names/owner/address/${wallet.address}`)
  return owned && !owned.name.includes('/') ? pathOfName(owned.name) : `/address/${wallet.address}`
}

/** Path of an address's page; null for a text that is no address, and for a hex address without a name. */
async function pathOfAddress(text: string, get: PageRequestContext['get']): Promise<string | null> {
  const { type, clusterName } = await get<NameRecord>(
    `/v1/names/address/${encodeURIComponent(text)}`,
  )
  // an address of Aptos has the form of a hash, and counts as an address only where somebody has it
  const isKnown = type !== null && (clusterName !== null || !text.startsWith('0x'))
  return isKnown ? `/address/${text}` : null
}

const READ_PATH_BY_KIND = { cluster: pathOfCluster, address: pathOfAddress } as const

/**
 * Redirects to the page of a text that may mean several things: to the first of `kinds` that the API finds, else to the
 * page of `otherwise`.
 */
export function LookupRedirect({ text, kinds, otherwise }: Omit<SearchPlace, 'page'>) {
  const { go } = useNetwork()
  const redirect = usePolled(text, async ({ signal, get }) => {
    for (const kind of kinds) {
      const path = await READ_PATH_BY_KIND[kind](text, get)
      // do nothing if the visitor has opened another page meanwhile
      signal.throwIfAborted()
      if (path) return go(path, { replace: true })
    }
    go(otherwise === 'name' ? pathOfName(text.toLowerCase())! : `/${otherwise}/${text}`, {
      replace: true,
    })
  })
  return <LoadedContent state={redirect}>{() => null}</LoadedContent>
}

/** Redirects from an ENS name to the name's page, on the network of its ENS parent. */
export function EnsRedirect({ name, isTestnet }: { name: string; isTestnet: boolean }) {
  const { go } = useNetwork()
  const open = async () => go(pathOfText(name), { replace: true, isTestnet })
  return <LoadedContent state={usePolled(name, open)}>{() => null}</LoadedContent>
}
