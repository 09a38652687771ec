import { useRef, useState } from 'preact/hooks'
import { type Found, find, pathOfName } from '../../paths.js'
import { type Get, useNet } from '../lib/net.js'
import type { Cluster, NameRecord, OwnedName } from '../lib/types.js'

/** Path of a cluster; null where there is none. */
async function pathOfCluster(id: string, get: Get): Promise<string | null> {
  const cluster = await get<Cluster>(`/v1/clusters/id/${id}`).catch(() => null)
  const wallet = cluster?.wallets.find(({ isVerified }) => isVerified)
  if (!wallet) return null
  const [owned] = await get<OwnedName[]>(`/v1/names/owner/address/${wallet.address}`)
  return owned && !owned.name.includes('/') ? pathOfName(owned.name) : `/address/${wallet.address}`
}

async function isKnownAddress(text: string, get: Get): Promise<boolean> {
  const { type, clusterName } = await get<NameRecord>(
    `/v1/names/address/${encodeURIComponent(text)}`,
  )
  // an address of Aptos has the form of a hash, and counts where somebody has it
  return type !== null && (clusterName !== null || !text.startsWith('0x'))
}

/** Path of the page of a text. @throws ClusterdError where the API does not answer */
export async function pathOf({ text, candidates }: Found, get: Get): Promise<string> {
  if (candidates[0] === 'cluster') {
    const path = await pathOfCluster(text, get)
    if (path) return path
  }
  if (
    candidates.includes('address') &&
    (candidates.length === 1 || (await isKnownAddress(text, get)))
  )
    return `/address/${encodeURIComponent(text)}`
  if (candidates.at(-1) === 'tx') return `/tx/${text}`
  const name = text.toLowerCase()
  return pathOfName(name) ?? `/?q=${name}`
}

/** The one box for names, addresses and transactions. */
export function Search({ isLarge = false }: { isLarge?: boolean }) {
  const { get, go } = useNet()
  const [text, setText] = useState('')
  const [fault, setFault] = useState('')
  const searches = useRef(0)
  const search = async (event: Event) => {
    event.preventDefault()
    const found = find(text)
    if (!found) return
    setFault('')
    const turn = ++searches.current
    const from = location.href
    // a slow answer takes nobody away from what was opened meanwhile
    const isStill = () => turn === searches.current && from === location.href
    try {
      const path = await pathOf(found, get)
      if (isStill()) go(path)
    } catch (error) {
      if (isStill()) setFault((error as Error).message)
    }
  }
  return (
    <search class={isLarge ? 'search large' : 'search'}>
      <form onSubmit={(event) => void search(event)}>
        <input
          type="search"
          aria-label="Search for a name, an address or a transaction"
          placeholder={isLarge ? 'A name, an address, a transaction' : 'Search'}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={128}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit">Search</button>
      </form>
      {fault && (
        <p role="alert" class="fault">
          {fault}
        </p>
      )}
    </search>
  )
}
