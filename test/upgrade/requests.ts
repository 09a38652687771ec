import type { Request } from './answers.js'
import type { Scene } from './fill.js'

/** The requests of a rehearsal: each route of v1 and v0.1, about all that was made. */

const NAMES = [
  'alice',
  'alice-two',
  'old-way',
  'contested',
  'traveller',
  'sunny',
  'vip',
  'drop',
  'club',
  'seedling',
]
const WALLETS = [
  'alice/main',
  'alice/daily',
  'alice/cold',
  'club/member',
  'guild/near',
  'guild/far',
  'guild/warm',
  'vip/guest',
  'drop/alice',
]
const COMMUNITIES = ['club', 'guild', 'vip', 'drop']
const UNKNOWN_TX = `0x${'12'.repeat(32)}`
const TESTNET = 'testnet=true'

const get = (path: string, as?: string): Request => ({ method: 'GET', path, ...(as && { as }) })
const post = (path: string, body: unknown, as?: string): Request => ({
  method: 'POST',
  path,
  body,
  ...(as && { as }),
})

export function requestsOf(scene: Scene): Request[] {
  return [
    ...lookUps(scene),
    ...clusters(scene),
    ...registrations(scene),
    ...communities(scene),
    ...feeds(scene),
    ...accounts(),
    ...deprecated(scene),
    ...testnet(scene),
    ...refused(),
  ]
}

function lookUps({ addresses }: Scene): Request[] {
  const all = Object.values(addresses)
  return [
    ...all.map((address) => get(`/v1/names/address/${address}`)),
    ...all.map((address) => get(`/v1/names/owner/address/${address}`)),
    ...all.map((address) => get(`/v1/refunds/${address}`)),
    post('/v1/names/address', all),
    post(
      '/v1/names',
      [...NAMES, ...WALLETS].map((name) => ({ name })),
    ),
    post('/v1/wallets', all),
    get('/v1/networks'),
    get('/v1/overview'),
    get('/v1/proof'),
    ...NAMES.map((name) => get(`/v1/proof?name=${name}`)),
    get('/image/alice.svg'),
  ]
}

function clusters({ addresses, clusterId }: Scene): Request[] {
  const views = [undefined, 'alice', 'cold', 'stranger']
  return [
    ...views.map((as) => get(`/v1/clusters/id/${clusterId}`, as)),
    ...views.map((as) => get('/v1/clusters/name/alice', as)),
    ...NAMES.map((name) => get(`/v1/clusters/name/${name}`)),
    ...Object.entries(addresses).map(([, address]) => get(`/v1/clusters/address/${address}`)),
    get(`/v1/clusters/address/${addresses.cold}`, 'cold'),
    get(`/v1/names/address/${addresses.cold}`, 'cold'),
  ]
}

function registrations({ addresses, transactions }: Scene): Request[] {
  const own = Object.values(transactions).filter(({ testnet: isTestnet }) => !isTestnet)
  const names = [{ name: 'a-new-name' }]
  return [
    ...own.map(({ tx }) => get(`/v1/names/register/tx/${tx}`)),
    ...own.map(({ tx }) => get(`/v0.1/register/tx/${tx}`)),
    get(`/v1/names/register/tx/${UNKNOWN_TX}`),
    post('/v1/names/register/check', [...NAMES, 'a-new-name', 'no good']),
    post('/v1/names/register/evm', { network: '1', sender: addresses.alice, names }),
    post('/v1/register/evm', { network: '8453', sender: addresses.alice, names }),
  ]
}

function communities({ addresses }: Scene): Request[] {
  return [
    ...COMMUNITIES.flatMap((name) => [
      get(`/v1/communities/${name}`),
      get(`/v1/communities/${name}/payouts`),
      get(`/v1/names/community/${name}/check/free`),
    ]),
    get('/v1/communities/alice'),
    get('/v1/names/community/club/check/member'),
    ...['alice', 'hot', 'sol', 'stranger', undefined].map((as) =>
      get('/v1/airdrop/claim/drop', as),
    ),
    get(`/v1/airdrop/claim/drop?link=true&wallet=${addresses.alice}`, 'alice'),
    get('/v1/airdrop/claim/club', 'alice'),
  ]
}

function feeds({ addresses }: Scene): Request[] {
  return [
    get('/v1/events?limit=1000'),
    get('/v1/events?limit=1000&orderBy=newest'),
    get(`/v1/events?from=${addresses.alice}`),
    get(`/v1/events?from=${addresses.cold}`),
    get('/v1/events?limit=3'),
    get('/v1/events/checkpoint'),
    get('/v0.1/events'),
    get('/v0.1/events?sortBy=newest&limit=5'),
  ]
}

function accounts(): Request[] {
  return [
    get('/v1/auth/message'),
    get('/v1/auth/validate', 'alice'),
    get('/v1/auth/validate', 'sol'),
    get('/v1/auth/validate'),
    get('/v0.1/auth/validate', 'cold'),
    get('/v1/keys', 'alice'),
    get('/v1/keys', 'hot'),
  ]
}

function deprecated({ addresses }: Scene): Request[] {
  const all = Object.values(addresses)
  return [
    ...NAMES.map((name) => get(`/v0.1/address/${name}`)),
    ...WALLETS.map((name) => get(`/v0.1/address/${name}`)),
    ...all.map((address) => get(`/v0.1/name/${address}`)),
    ...all.map((address) => get(`/v0.1/cluster/address/${address}`)),
    ...NAMES.map((name) => get(`/v0.1/cluster/${name}`)),
    ...NAMES.map((name) => get(`/v0.1/register/check/${name}`)),
    post('/v0.1/register/check', NAMES),
    post('/v0.1/address/names', [...NAMES, ...WALLETS]),
    post('/v0.1/name/addresses', all),
    post('/v0.1/cluster/names', NAMES),
    post('/v0.1/register', {
      network: '1',
      sender: addresses.alice,
      names: [{ name: 'a-new-name' }],
    }),
    get('/v0.1/community/check/availability/club/free'),
  ]
}

function testnet({ addresses, transactions }: Scene): Request[] {
  return [
    get(`/v1/names/address/${addresses.alice}?${TESTNET}`),
    get(`/v1/clusters/name/alice?${TESTNET}`),
    get(`/v1/names/register/tx/${transactions.testnet!.tx}?${TESTNET}`),
    get(`/v1/events?limit=1000&${TESTNET}`),
    get(`/v0.1/events?${TESTNET}`),
    get(`/v0.1/community/check/availability/club/tester?${TESTNET}`),
    get(`/v0.1/community/check/requirements/club?walletAddress=${addresses.hot}&${TESTNET}`),
    get(`/v1/overview?${TESTNET}`),
  ]
}

function refused(): Request[] {
  return [
    get('/v1/names/address/nobody'),
    get('/v1/clusters/name/no%20good'),
    get('/v1/clusters/id/unknown'),
    get('/v1/events?limit=0'),
    get('/v1/nothing'),
    get('/v0.1/nothing'),
    get('/v1/keys'),
    post('/v1/clusters', undefined),
    post('/v1/names', 'text'),
    post('/v1/names/register/evm', {
      network: '56',
      sender: `0x${'11'.repeat(20)}`,
      names: [{ name: 'x' }],
    }),
    post('/v1/names/register/evm', {
      network: '1',
      sender: `0x${'11'.repeat(20)}`,
      names: [{ name: 'alice' }],
    }),
  ]
}

/** Queries of the views for the operator's own people (docs/use/sql.md). */
export const VIEW_QUERIES: readonly string[] = [
  'SELECT * FROM registry_v1.events ORDER BY network, generation, number',
  'SELECT * FROM registry_v1.clusters ORDER BY network, cluster_id',
  'SELECT * FROM registry_v1.names ORDER BY network, name',
  'SELECT * FROM registry_v1.wallets ORDER BY network, cluster_id, address',
  'SELECT * FROM registry_v1.communities ORDER BY network, name',
  'SELECT * FROM registry_v1.community_names ORDER BY network, community, name',
  'SELECT * FROM registry_v1.refunds_owed ORDER BY network, chain, payer, token',
]
