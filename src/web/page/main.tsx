import { render } from 'preact'
import lazy, { ErrorBoundary } from 'preact-iso/lazy'
import { LocationProvider, Route, Router } from 'preact-iso/router'
import { Link } from './parts/basics.js'
import { Frame } from './parts/frame.js'
import { AddressPage, MemberPage, NamePage } from './views/cluster.js'
import { Home } from './views/home.js'
import { TxPage } from './views/tx.js'

/** The pages. Paths of names stand last: `/tx/alice` may be a name below the community `tx`. */

interface Params {
  params?: Record<string, string>
}

const NotFound = () => (
  <div class="hero">
    <h1>There is no such page</h1>
    <p>
      <Link to="/">Search for a name, an address or a transaction</Link>
    </p>
  </div>
)
const Tx = ({ params }: Params) => <TxPage tx={params?.tx ?? ''} key={params?.tx} />
const Address = ({ params }: Params) => (
  <AddressPage address={params?.address ?? ''} key={params?.address} />
)
const AccountPages = lazy(() => import('./account/index.js'))
// `@` is in no name
const OfName = ({ params: { name = '' } = {} }: Params) =>
  name.startsWith('@') ? <AccountPages page={name.slice(1)} /> : <NamePage name={name} key={name} />
const Member = ({ params }: Params) => (
  <MemberPage
    community={params?.community ?? ''}
    name={params?.name ?? ''}
    key={`${params?.community}/${params?.name}`}
  />
)

// a path that is no UTF-8 is shown as it was typed: the router would throw
try {
  decodeURIComponent(location.pathname)
} catch {
  history.replaceState(null, '', location.pathname.replaceAll('%', '%25') + location.search)
}

render(
  <LocationProvider scope={/^\/(?!openapi|docs(?:\/|$)|v1\/)/}>
    <Frame>
      <ErrorBoundary>
        <Router
          onRouteChange={() => document.getElementById('main')?.focus({ preventScroll: true })}
        >
          <Route path="/" component={Home} />
          <Route path="/tx/:tx" component={Tx} />
          <Route path="/address/:address" component={Address} />
          <Route path="/:name" component={OfName} />
          <Route path="/:community/:name" component={Member} />
          <Route default component={NotFound} />
        </Router>
      </ErrorBoundary>
    </Frame>
  </LocationProvider>,
  document.getElementById('app')!,
)
