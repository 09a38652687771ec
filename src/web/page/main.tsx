import { type ComponentType, render } from 'preact'
import lazy, { ErrorBoundary } from 'preact-iso/lazy'
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router'
import { pageOfPath } from '../paths.js'
import { serviceInfo } from './lib/service.js'
import { loadTabItem, SESSION_ITEM_NAME } from './lib/tabStorage.js'
import { PageFrame } from './parts/frame.js'
import { AddressPage, NameBelowCommunityPage, NamePage } from './views/cluster.js'
import { Home } from './views/home.js'
import { EnsRedirect, LookupRedirect, NotFound } from './views/notFound.js'
import { TxPage } from './views/tx.js'

/** Components by the kind of page that `pageOfPath` returns for a path. */
const PAGE_COMPONENTS = {
  home: Home,
  account: lazy(() => import('./account/index.js')),
  name: NamePage,
  member: NameBelowCommunityPage,
  tx: TxPage,
  address: AddressPage,
  search: LookupRedirect,
  ens: EnsRedirect,
  none: NotFound,
  // never shown: the service answers /docs with a document of its own
  reference: NotFound,
} as const

function CurrentPage() {
  const { path, query } = useLocation()
  const { page, ...about } = pageOfPath(path, query.q, serviceInfo.ens)
  // all account pages have one key, so that their shared state survives a change of the page
  const key = page === 'account' ? page : JSON.stringify(about)
  return (
    <ErrorBoundary>
      <Router onRouteChange={() => document.getElementById('main')?.focus({ preventScroll: true })}>
        {[
          <Route default component={PAGE_COMPONENTS[page] as ComponentType} key={key} {...about} />,
        ]}
      </Router>
    </ErrorBoundary>
  )
}

// on every page, session.js listens for other tabs: when one signs the wallet out, this tab forgets the session too
if (loadTabItem(SESSION_ITEM_NAME)) void import('./account/session.js')

render(
  <LocationProvider scope={/^\/(?!openapi|docs(?:[/?#]|$)|v1\/)/}>
    <PageFrame>
      <CurrentPage />
    </PageFrame>
  </LocationProvider>,
  document.getElementById('app')!,
)
