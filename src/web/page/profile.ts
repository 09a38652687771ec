import { ApiError, type Cluster, createApi } from './api.js'
import { byId, h, redraw } from './dom.js'

/** Shows the cluster whose name the page's path says, on whichever network holds it; nothing at `/`. */
export async function showProfile(): Promise<void> {
  const name = location.pathname.slice(1).replace(/\/$/, '')
  if (name === '') return
  for (const isTestnet of [false, true]) {
    const api = createApi(() => ({ token: null, isTestnet }))
    const cluster = await api.get<Cluster>(`/v1/clusters/name/${encodeURIComponent(name)}`).catch(nobody)
    if (cluster) return draw(decodeURIComponent(name), cluster, isTestnet)
  }
}

function nobody(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

function draw(name: string, { wallets }: Cluster, isTestnet: boolean): void {
  const section = byId('profile')
  section.hidden = false
  const entries = wallets.map(({ address, name: wallet, isVerified }) =>
    h('li', h('strong', wallet), ` ${address}`, isVerified ? '' : ' (not verified)'),
  )
  redraw(section, h('h2', `${name}/`), isTestnet && h('p', 'On the testnet'), h('ul', ...entries))
}
