import { callOf, lookupOf } from '../support/ens.js'
import type { Request } from './answers.js'
import type { Scene } from './fill.js'
import { get, post, type Sent } from './requestForms.js'
import { pages, refused } from './requestsRefused.js'

/** Requests that change nothing, about all that was made: of running services and of quiet ones. */

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
  'moved-1',
  'many-7',
]
const WALLETS = [
  'alice/main',
  'alice/daily',
  'alice/cold',
  'club/member',
  'guild/near',
  'guild/far',
  'guild/warm',
  'guild/held',
  'guild/held-far',
  'guild/held-warm',
  'vip/guest',
  'drop/alice',
]
const COMMUNITIES = ['club', 'guild', 'vip', 'drop']
const UNKNOWN_TX = `0x${'12'.repeat(32)}`
const TESTNET = 'testnet=true'
const NDJSON = { 'content-type': 'application/x-ndjson' }

export function settledRequests(scene: Scene): Request[] {
  const all = [
    ...lookUps(scene),
    ...blockscout(scene),
    ...clusters(scene),
    ...registrations(scene),
    ...communities(scene),
    ...feeds(scene),
    ...log(),
    ...accounts(scene),
    ...ens(scene),
    ...deprecated(scene),
    ...testnet(scene),
    ...pages(),
    ...refused(scene),
  ]
  return all.map((request): Request => ({ ...request, stage: 'settled' }))
}

function lookUps({ addresses }: Scene): Sent[] {
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
    post('/v1/wallets', ['nobody', 7]),
    {
      ...post('/v1/wallets', undefined),
      text: `${addresses.alice}\n${addresses.hot}\n`,
      headers: NDJSON,
    },
    get(`/v1/names/owner/address/${addresses.mover}?limit=3`),
    get(`/v1/names/owner/address/${addresses.mover}?limit=3&after=moved-10`),
    get('/v1/names/search?prefix=al'),
    get('/v1/names/search?prefix=moved&limit=2'),
    get('/v1/networks'),
    get('/v1/overview'),
    { ...get('/v1/overview'), headers: { 'if-none-match': '*' } },
    { ...get('/v1/overview'), method: 'HEAD' },
    get('/v1/proof'),
    ...NAMES.map((name) => get(`/v1/proof?name=${name}`)),
    get('/image/alice.svg'),
    get('/image/nobody-holds-this.svg'),
    get('/image/alice.png'),
    get(`/v1/tokens/1/${addresses.alice}`),
    get(`/v1/clusters/address/${addresses.cold}?orNull=true&invitations=true`),
    get('/alice'),
    get('/alice/main'),
    get(`/v1/names/alice/primary/${addresses.alice}`),
    get(`/v1/names/alice/primary/${addresses.cold}`),
  ]
}

function blockscout({ addresses, clusterId }: Scene): Sent[] {
  const ask = (procedure: string, input: object) =>
    get(`/v1/trpc/${procedure}?input=${encodeURIComponent(JSON.stringify(input))}`)
  return [
    ask('names.search', { offset: 0, limit: 50, orderBy: 'createdAt-desc', query: '' }),
    ask('names.search', { offset: 1, limit: 2, orderBy: 'name-asc', query: 'moved-1' }),
    ask('names.search', { query: 'guild/' }),
    ask('names.search', { query: 'guild/w' }),
    ask('names.leaderboard', { offset: 0, limit: 50, orderBy: 'rank-asc' }),
    ...[...NAMES, ...WALLETS].map((name) => ask('names.get', { name })),
    ...Object.values(addresses).map((address) => ask('names.getNamesByOwnerAddress', { address })),
    ask('clusters.getClusterById', { id: clusterId }),
    ask('clusters.getClusterById', { id: `0x${'77'.repeat(32)}` }),
    get('/profile-image/alice'),
    get('/profile-image/club/member'),
    get(`/v1/names/referrals/cluster/${clusterId}`),
    get(`/v1/names/referrals/address/${addresses.alice}`),
  ]
}

function clusters({ addresses, clusterId }: Scene): Sent[] {
  const views = [undefined, 'alice', 'cold', 'stranger']
  return [
    ...views.map((as) => get(`/v1/clusters/id/${clusterId}`, as)),
    ...views.map((as) => get('/v1/clusters/name/alice', as)),
    ...NAMES.map((name) => get(`/v1/clusters/name/${name}`)),
    ...Object.entries(addresses).map(([, address]) => get(`/v1/clusters/address/${address}`)),
    get(`/v1/clusters/address/${addresses.cold}`, 'cold'),
    get(`/v1/clusters/address/${addresses.cold}`, 'alice'),
    get(`/v1/clusters/address/${addresses.cold}`, 'stranger'),
    get(`/v1/clusters/address/0x${'77'.repeat(20)}`),
    get(`/v1/clusters/address/0x${'77'.repeat(20)}?orNull=true`),
    { ...get('/v1/clusters/name/alice'), headers: { 'x-auth-key': 'nonsense' } },
    { ...get('/v1/clusters/name/alice'), headers: { authorization: 'Bearer nonsense' } },
    get(`/v1/names/address/${addresses.cold}`, 'cold'),
  ]
}

function registrations({ addresses, transactions, clusterId }: Scene): Sent[] {
  const own = Object.values(transactions).filter(({ testnet: isTestnet }) => !isTestnet)
  const names = [{ name: 'a-new-name' }]
  return [
    ...own.map(({ tx }) => get(`/v1/names/register/tx/${tx}`)),
    ...own.map(({ tx }) => get(`/v0.1/register/tx/${tx}`)),
    get(`/v1/names/register/tx/${UNKNOWN_TX}`),
    get(`/v1/names/register/tx/${transactions.hub!.tx}?wait=1&since=pending`),
    get('/v0.1/register/tx/nonsense'),
    post('/v1/names/register/check', [...NAMES, 'a-new-name', 'no good']),
    post('/v1/names/register/evm', { network: '1', sender: addresses.alice, names }),
    post('/v1/register/evm', { network: '8453', sender: addresses.alice, names }),
    post('/v1/names/register/evm', { network: '8453', sender: addresses.alice, names }),
    post('/v1/names/register/evm', {
      network: '1',
      sender: addresses.alice,
      names: [{ name: 'a-new-name', amountWei: '30000000000000000' }, { name: 'another' }],
      referralClusterId: clusterId,
    }),
    post('/v1/names/register/solana', { network: 'solana', sender: addresses.sol, names }),
    post('/v1/register/solana', { network: 'solana', sender: addresses.sol, names }),
  ]
}

function communities({ addresses }: Scene): Sent[] {
  return [
    ...COMMUNITIES.flatMap((name) => [
      get(`/v1/communities/${name}`),
      get(`/v1/communities/${name}/payouts`),
      get(`/v1/names/community/${name}/check/free`),
    ]),
    get('/v1/communities'),
    get('/v1/communities?name=club'),
    get('/v1/communities?limit=1'),
    get('/v1/communities/club/members'),
    get('/v1/communities/guild/members?limit=2'),
    get('/v1/communities/alice'),
    get('/v1/airdrops'),
    get('/v1/names/community/guild/check/held'),
    get('/v1/names/community/guild/check/far'),
    get('/v1/names/community/club/check/member'),
    ...['alice', 'hot', 'sol', 'stranger', undefined].map((as) =>
      get('/v1/airdrop/claim/drop', as),
    ),
    get(`/v1/airdrop/claim/drop?link=true&wallet=${addresses.alice}`, 'alice'),
    get('/v1/airdrop/claim/club', 'alice'),
  ]
}

function feeds({ addresses }: Scene): Sent[] {
  return [
    get('/v1/events?limit=1000'),
    get('/v1/events?limit=1000&orderBy=newest'),
    get(`/v1/events?from=${addresses.alice}`),
    get(`/v1/events?from=${addresses.cold}`),
    get('/v1/events?limit=3'),
    get('/v1/events?fromTimestamp=0&limit=2&orderBy=newest'),
    { ...get('/v1/events?limit=3'), headers: { 'if-none-match': '*' } },
    {
      ...get('/v1/events/stream?fromTimestamp=0'),
      until: '"moved-1"',
    },
    {
      ...get(`/v1/events/stream?fromTimestamp=0&from=${addresses.traveller}`),
      until: '"mover"',
    },
    get('/v0.1/events'),
    get('/v0.1/events?sortBy=newest&limit=5'),
  ]
}

/** The transparency log: checkpoints, tiles of hashes, bundles of entries, proofs. */
function log(): Sent[] {
  const tiles = ['tile/0/000.p/5', 'tile/entries/000.p/5', 'tile/entries/000.p/1', 'tile/1/000']
  return [
    ...['mainnet', 'testnet'].flatMap((network) => [
      get(`/v1/log/${network}/checkpoint`),
      get(`/v1/log/${network}/1/checkpoint`),
      get(`/v1/log/${network}/2/checkpoint`),
      ...tiles.map((tile) => get(`/v1/log/${network}/1/${tile}`)),
      get(`/v1/log/${network}/evidence/checkpoint`),
      get(`/v1/log/${network}/evidence/1/checkpoint`),
      get(`/v1/log/${network}/evidence/1/tile/0/000.p/1`),
    ]),
    ...['m-1-1', 'm-1-40', 't-1-1', 'm-1-999', 'm-2-1'].map((id) => get(`/v1/events/${id}/proof`)),
  ]
}

function accounts({ addresses, generated }: Scene): Sent[] {
  return [
    get('/v1/auth/message'),
    post('/v1/auth/message', undefined),
    get(`/v1/auth/message?type=evm&wallet=${addresses.alice}`),
    get(`/v1/auth/message?type=solana&wallet=${addresses.sol}`),
    get(`/v1/auth/message?type=evm&wallet=${addresses.alice}&recover=${generated.address}`),
    get(`/v1/auth/message?type=bitcoin&wallet=${addresses.alice}`),
    get('/v0.1/auth/message'),
    { ...post('/v1/auth/validate', undefined), as: 'alice' },
    { ...post('/v0.1/auth/validate', undefined), as: 'hot' },
    get('/v1/auth/validate', 'alice'),
    get('/v1/auth/validate', 'sol'),
    get('/v1/auth/validate'),
    get('/v0.1/auth/validate', 'cold'),
    get('/v1/keys', 'alice'),
    get('/v1/keys', 'hot'),
  ]
}

function deprecated({ addresses }: Scene): Sent[] {
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
    get('/v0.1/address/alice/main'),
    get('/v0.1/address/'),
    get('/v0.1/cluster/no/such/path'),
    get('/v0.1/community/check/availability/club/free'),
  ]
}

/** Look-ups as clients of ENS send them (ERC-3668). */
function ens({ addresses }: Scene): Sent[] {
  const sender = addresses.alice!
  const calls = ['alice.local.eth', 'daily.alice.local.eth', 'nobody-holds-this.local.eth'].flatMap(
    (name) => [
      lookupOf(name, callOf('addr(bytes32)')),
      lookupOf(name, callOf('text(bytes32,string)', 'url')),
    ],
  )
  return [
    ...calls.map((data) => get(`/ens/${sender}/${data}.json`)),
    post('/ens', { sender, data: calls[0] }),
  ]
}

function testnet({ addresses, transactions }: Scene): Sent[] {
  return [
    get(`/v1/names/address/${addresses.alice}?${TESTNET}`),
    get(`/v1/clusters/name/alice?${TESTNET}`),
    get(`/v1/names/register/tx/${transactions.testnet!.tx}?${TESTNET}`),
    get(`/v1/events?limit=1000&${TESTNET}`),
    get(`/v0.1/events?${TESTNET}`),
    get(`/v0.1/community/check/availability/club/tester?${TESTNET}`),
    get(`/v0.1/community/check/requirements/club?walletAddress=${addresses.hot}&${TESTNET}`),
    get(`/v1/overview?${TESTNET}`),
    get(`/v1/communities?${TESTNET}`),
    get(`/v0.1/community/tx/${transactions.testnet!.tx}?${TESTNET}`),
    get(`/v0.1/community/check/requirements/club?${TESTNET}`),
    get(`/v0.1/community/check/requirements/nobody?walletAddress=${addresses.hot}&${TESTNET}`),
    get(`/v0.1/community/check/requirements/no%20good?walletAddress=${addresses.hot}&${TESTNET}`),
    get(`/v0.1/community/check/requirements/club?walletAddress=nobody&${TESTNET}`),
    get(`/v0.1/community/check/availability/nobody/tester?${TESTNET}`),
    get(`/v0.1/community/check/availability/no%20good/tester?${TESTNET}`),
    { ...get(`/v1/events/stream?fromTimestamp=0&${TESTNET}`), until: '"tester"' },
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
