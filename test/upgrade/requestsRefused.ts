import { routes } from '../../scripts/declaredRoutes.js'
import { expiredProofExample } from '../../src/api/examples.js'
import type { SampleData } from '../../src/api/http/sampleRequests.js'
import { badRequests, REFUSED_BODIES } from '../support/declaredRequests.js'
import { callOf, lookupOf } from '../support/ens.js'
import type { Scene } from './fill.js'
import { get, post, put, type Sent } from './requestForms.js'

/** Requests for pages, and requests that are refused. */

const UNKNOWN_TX = `0x${'34'.repeat(32)}`
const HTML = { accept: 'text/html' }

/** Pages as browsers ask for them, files of the pages, guides and documents. */
export function pages(): Sent[] {
  const paths = ['/', '/alice', '/nobody-holds-this', '/club', '/tx/0x12', '/docs', '/no/such/page']
  const guides = ['clusters.md', 'no-such-guide.md']
  const asset = get('/assets/{build}/main.js')
  return [
    get('/'),
    ...paths.map((path): Sent => ({ ...get(path), headers: HTML })),
    { ...get('/'), headers: { ...HTML, 'accept-encoding': 'gzip' } },
    ...guides.map((guide) => get(`/docs/guides/${guide}`)),
    ...guides.map((guide): Sent => ({ ...get(`/docs/guides/${guide}`), headers: HTML })),
    get('/openapi.json'),
    get('/openapi-v0.1.json'),
    asset,
    { ...asset, headers: { 'accept-encoding': 'gzip' } },
    get('/assets/another-build/main.js'),
    get('/assets/{build}/no-such-file.js'),
    { ...get('/v1/names'), method: 'OPTIONS', headers: PREFLIGHT },
  ]
}

const PREFLIGHT = {
  origin: 'https://site.example',
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'content-type,authorization',
}

/** The requests that the routes declare as bad, and what is refused for its form, its size or its path. */
export function refused(scene: Scene): Sent[] {
  return [...declaredAsBad(scene), ...malformed(), ...refusedLookUps(scene)]
}

function declaredAsBad(scene: Scene): Sent[] {
  const roles = { owner: 'alice', other: 'stranger' }
  // a sample for each route, so that a new route leaves the requests of the others as they are
  return routes
    .flatMap((route) => badRequests(route, sampleOf(scene)))
    .map(({ method, path, body, as }) => {
      const request: Sent = {
        method,
        path: path.replace(/\?$/, '').replace(/(?<=\/tx\/)0x\w{64}/, UNKNOWN_TX),
      }
      if (body !== undefined) request.text = body
      if (as !== undefined) request.as = roles[as]
      return request
    })
}

function sampleOf({ addresses, clusterId }: Scene): SampleData {
  let count = 0
  return {
    name: 'alice',
    walletName: 'daily',
    held: ['alice', 'alice-two'],
    owner: addresses.alice!,
    clusterId,
    community: 'vip',
    other: addresses.stranger!,
    ensCall: () => lookupOf('alice.local.eth', callOf('addr(bytes32)')),
    freshName: () => `fresh-${++count}`,
    evmAddress: () => `0x${String(++count).padStart(40, '0')}`,
    solanaAddress: () => addresses.sol!,
    cosmosAddress: () => addresses.sol!,
    wrongProof: () => ({}),
  }
}

function malformed(): Sent[] {
  const many = Array.from({ length: 150 }, (_, n) => [`x-header-${n}`, 'x'])
  return [
    get('/v1/nothing'),
    get('/v0.1/nothing'),
    get('/v1/names'),
    put('/v1/events'),
    get('/%zz'),
    get('/v1/names/address/%zz'),
    get('/V1/Networks/'),
    ...Object.values(REFUSED_BODIES).map((fill): Sent => {
      const limit = 128 * 1024
      return { ...post('/v1/names'), text: fill(limit) }
    }),
    post('/v1/names'),
    { ...post('/v1/names'), text: '{' },
    { ...post('/v1/names'), text: '[]', headers: { 'content-encoding': 'gzip' } },
    { ...get('/v1/networks?sent=many-headers'), headers: Object.fromEntries(many) },
    { ...get('/v1/networks?sent=long-header'), headers: { 'x-long': 'x'.repeat(12_000) } },
    { ...get('/v1/networks?sent=too-long-header'), headers: { 'x-long': 'x'.repeat(20_000) } },
    { ...get('/v1/networks?sent=expect'), headers: { expect: 'magic' } },
  ]
}

function refusedLookUps({ addresses, transactions, clusterId }: Scene): Sent[] {
  const tooMany = Array.from({ length: 1_001 }, () => addresses.alice)
  const names = [{ name: 'a-new-name' }]
  const quote = (given: object) =>
    post('/v1/names/register/evm', { network: '1', sender: addresses.alice, names, ...given })
  const inSol = (given: object) =>
    post('/v1/names/register/solana', {
      network: 'solana',
      sender: addresses.sol,
      names,
      ...given,
    })
  const old = (given: object) =>
    post('/v0.1/register', { network: '1', sender: addresses.alice, names, ...given })
  const wrong = [
    { names: [{ name: 'no good' }] },
    { names: [{ name: 'alice' }] },
    { names: [{ name: 'a-new-name', amountWei: '1' }] },
    { names: [{ name: 'a-new-name', amountWei: 'x' }] },
    { network: '56' },
    { network: 'nowhere' },
    { sender: 'nobody' },
    { sender: `0x${'00'.repeat(20)}` },
    { sender: addresses.sol },
    { referralClusterId: 'nobody' },
  ]
  const bulk = ['/v1/names/address', '/v1/wallets', '/v0.1/name/addresses']
  const ofNames = ['/v0.1/address/names', '/v0.1/cluster/names', '/v0.1/register/check']
  const unknown = `0x${'cd'.repeat(32)}`
  return [
    get('/v1/names/address/nobody'),
    get('/v1/names/owner/address/nobody'),
    get('/v1/names/owner/address/0x12?after=x'),
    get(`/v1/names/owner/address/${addresses.alice}?after=not-of-this-wallet`),
    get(`/v1/names/owner/address/${addresses.alice}?nextPage=x`),
    get(`/v1/clusters/id/${unknown}`),
    get('/v1/clusters/name/nobody-holds-this'),
    get('/v1/events?nextPage=x'),
    get('/v1/events?from=nobody'),
    get('/v0.1/events?nextPage=x'),
    get('/v1/events/stream?resume=x'),
    get('/v1/auth/message?type=evm&wallet=nobody'),
    post('/v1/auth/message?type=evm&wallet=nobody'),
    get(`/v1/auth/message?type=evm&wallet=${addresses.alice}&chainId=5`),
    post(`/v1/auth/message?type=evm&wallet=${addresses.alice}&chainId=5`),
    ...['a b', 'nobody-holds-this'].flatMap((cluster) => [
      get(`/v1/auth/message?cluster=${encodeURIComponent(cluster)}`),
      post(`/v1/auth/message?cluster=${encodeURIComponent(cluster)}`),
      post('/v1/auth/token', { ...expiredProofExample.body, cluster }),
    ]),
    get(`/v1/refunds/${clusterId}`),
    get('/v1/tokens/1/0x12'),
    get(`/v1/tokens/0/${addresses.alice}`),
    get(`/v1/names/register/tx/${transactions.hub!.tx}?wait=x`),
    get('/v1/communities?name=no%20good'),
    get('/v1/communities/nobody-holds-this'),
    get('/v1/communities/nobody-holds-this/members'),
    get('/v1/communities/nobody-holds-this/payouts'),
    get('/v1/communities/no%20good/members'),
    get('/v1/names/community/nobody-holds-this/check/free'),
    get('/v1/names/nobody-holds-this/primary/0x12'),
    get(`/v1/names/nobody-holds-this/primary/${addresses.alice}`),
    get('/v1/airdrop/claim/nobody-holds-this', 'alice'),
    ...bulk.map((path) => post(path, tooMany)),
    ...ofNames.map((path) => post(path, tooMany)),
    post('/v1/names', tooMany),
    post(
      '/v1/names',
      tooMany.map((name) => ({ name })),
    ),
    post('/v1/names/register/check', tooMany),
    ...wrong.flatMap((given) => [quote(given), inSol(given), old(given)]),
    inSol({ sender: addresses.alice }),
  ]
}
