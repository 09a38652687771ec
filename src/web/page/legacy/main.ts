import { ApiError, type ChainInfo, type Cluster } from './api.js'
import { renderCluster } from './cluster.js'
import { renderCommunities } from './communities.js'
import { attempt, byId } from './dom.js'
import { readKeys, renderKeys } from './keys.js'
import { readRefunds, renderRefunds } from './refunds.js'
import { renderRegister } from './register.js'
import { renderSignIn } from './signIn.js'
import { api, setSession, state } from './state.js'
import { discoverWallets } from './wallets.js'

/** Draws all sections from the state; called after each change. */

function render(): void {
  renderSignIn()
  renderCluster()
  renderRefunds()
  renderRegister()
  renderCommunities()
  renderKeys()
}

state.start = async function start(): Promise<void> {
  state.cluster = undefined
  state.names = []
  state.keys = []
  state.refunds = null
  render()
  await state.reload()
}

state.reload = async function reload(): Promise<void> {
  if (state.session) {
    await attempt(async () => {
      state.cluster = await readCluster(state.session!.address)
      const owned = await api.get<{ name: string }[]>(`/v1/names/owner/address/${state.session!.address}`)
      state.names = owned.map(({ name }) => name)
      state.keys = await readKeys()
    })
  }
  render()
  void showRefunds()
}

/** Reads what the wallet is owed apart from the rest, since a chain that hangs would hold that up. */
async function showRefunds(): Promise<void> {
  const { session, isTestnet } = state
  if (!session) return
  const refunds = await readRefunds().catch(() => null)
  if (state.session !== session || state.isTestnet !== isTestnet) return
  state.refunds = refunds
  renderRefunds()
}

async function readCluster(address: string): Promise<Cluster | null> {
  try {
    await api.get('/v1/auth/validate')
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    setSession(null)
    throw new Error('Your key is not valid any more: sign in again.')
  }
  try {
    const { clusterId } = await api.get<{ clusterId: string }>(`/v1/clusters/address/${address}`)
    return await api.get<Cluster>(`/v1/clusters/id/${clusterId}`)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

function chooseNetwork(): void {
  const select = byId('network') as HTMLSelectElement
  select.value = state.isTestnet ? 'testnet' : 'mainnet'
  select.addEventListener('change', () => {
    state.isTestnet = select.value === 'testnet'
    history.replaceState(null, '', state.isTestnet ? '?testnet=true' : location.pathname)
    void state.start()
  })
}

discoverWallets((wallet) => {
  state.wallets.set(wallet.id, wallet)
  renderSignIn()
})
chooseNetwork()
await attempt(async () => {
  state.chains = await api.get<ChainInfo[]>('/v1/networks')
})
await state.start()
