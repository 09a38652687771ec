import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import { useNetwork } from '../lib/net.js'
import { serviceInfo } from '../lib/service.js'
import { Link } from './basics.js'
import { SearchBox } from './search.js'

/** Header and footer around every page. */
export function PageFrame({ children }: { children: ComponentChildren }) {
  const { path, query, route } = useLocation()
  const { isTestnet, href } = useNetwork()
  const switchNetwork = (testnet: boolean) => {
    const kept = new URLSearchParams(query)
    // the other network has no cluster with the id in `join`
    for (const parameter of ['testnet', 'join']) kept.delete(parameter)
    const search = kept.toString()
    route(href(search ? `${path}?${search}` : path, testnet))
  }
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <Link to="/" class="mark">
          <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
            <circle cx="7" cy="8" r="4" />
            <circle cx="17" cy="8" r="4" class="second" />
            <circle cx="12" cy="17" r="4" class="third" />
          </svg>
          <span>clusterd</span>
        </Link>
        {(path !== '/' || query.q) && <SearchBox />}
        <nav aria-label="Pages">
          <Link to="/@account">My bundle</Link>
          <Link to="/@register" class="button">
            Register
          </Link>
          {serviceInfo.networks.length > 1 && (
            <select
              aria-label="Network"
              value={isTestnet ? 'testnet' : 'mainnet'}
              onChange={(event) => switchNetwork(event.currentTarget.value === 'testnet')}
            >
              <option value="mainnet">Mainnet</option>
              <option value="testnet">Testnet</option>
            </select>
          )}
        </nav>
      </header>
      {isTestnet && (
        <aside class="testnet">Test network: its names and its money are worth nothing.</aside>
      )}
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer>
        <a href="/docs">API</a>
        <span>Names and the wallets behind them, on every chain.</span>
      </footer>
    </>
  )
}
