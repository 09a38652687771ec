import { useRef, useState } from 'preact/hooks'
import { useNet } from '../lib/net.js'
import { type Found, find, pathOfName } from '../lib/search.js'
import type { Cluster, NameRecord, OwnedName } from '../lib/types.js'

type Get = ReturnType<typeof useNet>['get']
type Candidate = Extract<Found, { page: 'ask' }>['candidates'][number]

const KNOWN: Readonly<Record<Candidate, (text: string, get: Get) => Promise<string | null>>> = {
  async cluster(text, get) {
    const cluster = await get<Cluster>(`/v1/clusters/id/${text}`).catch(() => null)
    const wallet = cluster?.wallets.find(({ isVerified }) => isVerified)
    if (!wallet) return null
    const [owned] = await get<OwnedName[]>(`/v1/names/owner/address/${wallet.address}`)
    return owned && !owned.name.includes('/') ? pathOfName(owned.name) : `/address/${wallet.address}`
  },
  async address(text, get) {
    const { type, clusterName } = await get<NameRecord>(`/v1/names/address/${encodeURIComponent(text)}`)
    // an address of Aptos has the form of a hash, and counts where somebody has it
    const isKnown = type !== null && (clusterName !== null || !text.startsWith('0x'))
    return isKnown ? `/address/${encodeURIComponent(text)}` : null
  },
  name: async (text) => pathOfName(text.toLowerCase()),
  tx: async (text) => `/tx/${text}`,
}

/** Path of what was searched for; the API decides where the form does not. */
async function pathOf(found: Found, get: Get): Promise<string> {
  if (found.page === 'name') return pathOfName(found.name)!
  if (found.page === 'member')
    return pathOfName(`${found.community}/${found.name}`) ?? `/?q=${found.community}/${found.name}`
  if (found.page === 'address') return `/address/${encodeURIComponent(found.address)}`
  if (found.page === 'tx') return `/tx/${found.tx}`
  for (const candidate of found.candidates) {
    const path = await KNOWN[candidate](found.text, get)
    if (path !== null) return path
  }
  return '/'
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
    const [turn, from] = [++searches.current, location.href]
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
