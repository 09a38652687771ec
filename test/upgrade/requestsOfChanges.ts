import { routes } from '../../scripts/declaredRoutes.js'
import type { Proof } from '../api/wallets.js'
import { callOf, lookupOf } from '../support/ens.js'
import type { Request } from './answers.js'
import type { Scene } from './fill.js'
import { del, get, patch, post, put, type Sent } from './requestForms.js'

/** Requests to quiet processes alone: in order, since they change what later ones find; and to special processes. */

/** What quiet services gave out before, and signatures over it. */
export interface Issued {
  evm: Proof
  solana: Proof
  /** Over the message that asks for the key of the generated wallet. */
  recovery: Pick<Proof, 'signature' | 'signingDate'>
  /** Over the message that asks for the key of a wallet that is not generated. */
  recoveryOfOther: Pick<Proof, 'signature' | 'signingDate'>
  /** Token that continues the feed of the first generation. */
  resume: string
}

const TESTNET = '?testnet=true'
const FREE = [1, 2, 3, 4, 5].map((n) => `0x${String(n).repeat(40)}`)
const [ONE, TWO, THREE, FOUR, FIVE] = FREE as [string, string, string, string, string]
const TOO_MANY = Array.from({ length: 101 }, () => ({ address: ONE, name: 'x' }))
/** Keys that a wallet may have. */
const MOST_KEYS = 10

export function unsettledRequests(scene: Scene, issued: Issued): Request[] {
  const at = (stage: Request['stage'], sent: readonly Sent[]) =>
    sent.map((request): Request => ({ ...request, stage }))
  return [
    ...at('changed', [
      ...wallets(scene),
      ...generated(scene, issued),
      ...bundles(scene),
      ...communities(scene),
      ...deprecated(scene),
      ...keys(scene),
      ...sessions(issued),
      ...afterwards(scene),
      ...made(),
    ]),
    ...at('catchingUp', duringCatchUp(scene)),
    ...at('mirror', ofMirror(scene)),
    ...at('limited', limited(scene)),
    ...at('reduced', reduced(scene, issued)),
  ]
}

/** The wallets of a bundle: added, renamed, verified, removed; and what is refused. */
function wallets({ addresses, clusterId }: Scene): Sent[] {
  const add = (list: unknown, as = 'loser') => post('/v1/clusters/wallets', list, as)
  const rename = (list: unknown, as = 'loser') => put('/v1/clusters/wallets/names', list, as)
  const remove = (list: unknown, as = 'loser') => del('/v1/clusters/wallets', list, as)
  const verify = (id: string, as: string) => post(`/v1/clusters/verify/${id}`, undefined, as)
  return [
    remove([ONE]),
    post('/v1/bundles/assign', { community: 'drop', name: 'x' }, 'loser'),
    post('/v1/clusters', undefined, 'loser'),
    post('/v1/clusters', undefined, 'loser'),
    add([
      { address: ONE, name: 'first' },
      { address: TWO, name: 'hidden', isPrivate: true },
      { address: FIVE, name: 'fifth' },
    ]),
    add([{ address: ONE, name: 'other' }]),
    add([{ address: THREE, name: 'first' }]),
    add([{ address: ONE, name: 'first', isPrivate: true }]),
    add([{ address: THREE, name: 'no good' }]),
    add([{ address: 'nobody', name: 'third' }]),
    add(TOO_MANY),
    add('text'),
    rename([{ address: ONE, name: 'renamed' }]),
    rename([{ address: THREE, name: 'third' }]),
    rename([{ address: ONE, name: 'hidden' }]),
    rename([{ address: ONE, name: 'fifth' }]),
    rename([{ address: ONE, name: 'no good' }]),
    rename([{ address: 'nobody', name: 'x' }]),
    rename(TOO_MANY),
    remove([ONE]),
    remove([ONE]),
    remove(['nobody']),
    remove(TOO_MANY.map(({ address }) => address)),
    remove([addresses.alice, addresses.hot, addresses.cold, addresses.sol], 'alice'),
    remove([addresses.chair], 'chair'),
    verify(clusterId, 'stranger'),
    verify(`0x${'cd'.repeat(32)}`, 'stranger'),
    // `chair` holds a name and is listed in private: its name would show where it belongs
    add([{ address: addresses.chair, name: 'secret', isPrivate: true }], 'alice'),
    verify(clusterId, 'chair'),
    add([{ address: addresses.payer, name: 'public' }], 'alice'),
    verify(clusterId, 'payer'),
    get(`/v1/clusters/id/${clusterId}`, 'payer'),
    get(`/v1/clusters/id/${clusterId}`, 'chair'),
    get(`/v1/clusters/id/${clusterId}`),
  ]
}

/** Wallets whose keys the service shares with their owners. */
function generated({ addresses, generated: { address, share } }: Scene, issued: Issued): Sent[] {
  const path = '/v1/clusters/generate/wallet'
  const recover = (given: object, as = 'alice') =>
    post(`${path}/recover`, { address, share, ...issued.recovery, ...given }, as)
  return [
    post(path, { type: 'evm', name: 'daily' }, 'alice'),
    post(path, { type: 'evm', name: 'no good' }, 'alice'),
    post(`${path}/confirm`, { address: FOUR }, 'alice'),
    post(`${path}/confirm`, { address: 'nobody' }, 'alice'),
    post(`${path}/confirm`, { address }, 'alice'),
    recover({ address: 'nobody' }),
    recover({}, 'stranger'),
    recover({ signature: issued.evm.signature }),
    recover({}),
    recover({}),
    recover({ ...issued.recoveryOfOther, address: addresses.hot }),
  ]
}

/** At the end, since what is random here would be in the answers after it. */
function made(): Sent[] {
  const path = '/v1/clusters/generate/wallet'
  return [
    post(path, { type: 'evm', name: 'fresh', recovery: true }, 'alice'),
    post(path, { type: 'solana', name: 'fresh-sol', isPrivate: true }, 'alice'),
    ...Array.from({ length: MOST_KEYS }, (_, n) => post('/v1/keys', { name: `key ${n}` }, 'mover')),
    post('/v1/keys', { name: 'one too many' }, 'mover'),
  ]
}

function bundles({ addresses }: Scene): Sent[] {
  const add = (list: unknown) => post('/v1/bundle/wallets', list, 'mover')
  const assign = (body: object, as: string, path = '/bundles/assign') => post(path, body, as)
  const old = '/v1/bundles/assign'
  return [
    post('/v1/bundle', undefined, 'payer'),
    add([{ address: FOUR, name: 'fourth', type: 'evm' }]),
    add([{ address: FOUR, name: 'fourth', type: 'solana' }]),
    add([{ address: FOUR, name: 'other' }]),
    add([{ address: FIVE, name: 'fourth' }]),
    add([{ address: FOUR, name: 'fourth', isPrivate: true }]),
    add([{ address: FIVE, name: 'no good' }]),
    add(TOO_MANY),
    assign({ community: 'drop', name: 'again' }, 'alice'),
    assign({ community: 'drop', name: 'again' }, 'alice', old),
    assign({ community: 'drop', name: 'early' }, 'stranger'),
    assign({ community: 'drop', name: 'no good' }, 'alice'),
    assign({ community: 'nobody-holds-this', name: 'x' }, 'alice'),
    assign({ community: 'club', name: 'x' }, 'alice'),
    assign({ community: 'drop', name: 'x', bundleId: `0x${'cd'.repeat(32)}` }, 'alice'),
    assign({ community: 'drop', name: 'x', bundleId: 'x' }, 'alice'),
    assign({ community: 'drop', name: 'alice' }, 'chair', old),
    assign({ community: 'drop', name: 'chair' }, 'chair', old),
    assign({ community: 'drop', name: 'chair' }, 'chair'),
    get('/v1/airdrop/claim/drop', 'alice'),
    get(`/v1/clusters/address/${addresses.mover}`),
  ]
}

/** Rules of communities, and names below them. */
function communities({ addresses }: Scene): Sent[] {
  const rules = (name: string, body: unknown, as = 'alice') =>
    put(`/v1/communities/${name}`, body, as)
  const register = (name: string, body: unknown, as: string) =>
    post(`/v1/names/community/${name}/register`, body, as)
  return [
    rules('alice', { startsAt: '2100-01-01T00:00:00.000Z' }),
    get('/v1/communities/alice'),
    register('alice', { name: 'early' }, 'mover'),
    rules('alice', { requirements: [{ kind: 'cluster', name: 'traveller' }] }),
    register('alice', { name: 'outside' }, 'sol'),
    rules('alice', { ownersOnly: true }),
    register('alice', { name: 'granted', walletAddress: FIVE }, 'alice'),
    register('alice', { name: 'taken', walletAddress: FIVE }, 'mover'),
    rules('vip', { ownersOnly: true }),
    rules('nobody-holds-this', { ownersOnly: true }),
    rules('no%20good', { ownersOnly: true }),
    rules('alice', { prices: [{ network: '1' }] }),
    rules('alice', { prices: 'free' }),
    register('club', { name: 'by-mover' }, 'mover'),
    register('club', { name: 'by-mover' }, 'mover'),
    register('club', { name: 'by-mover' }, 'loser'),
    register('club', { name: 'no good' }, 'mover'),
    register('club', { name: 'for-nobody', walletAddress: 'nobody' }, 'mover'),
    register('nobody-holds-this', { name: 'x' }, 'mover'),
    register('guild', { name: 'to-pay' }, 'mover'),
    register('guild', { name: 'to-pay', network: '8453' }, 'mover'),
    register('guild', { name: 'to-pay', network: 'solana' }, 'sol'),
    register('guild', { name: 'to-pay', network: 'solana' }, 'mover'),
    register('guild', { name: 'to-pay', network: '10' }, 'mover'),
    register('vip', { name: 'uninvited' }, 'mover'),
    register('vip', { name: 'in-token' }, 'payer'),
    get('/v1/communities/club/members'),
    get('/v1/communities/guild/payouts'),
    get(`/v1/names/address/${addresses.mover}`),
    get('/v1/names/community/club/check/by-mover'),
  ]
}

function deprecated({ addresses }: Scene): Sent[] {
  const update = (name: string, body: unknown, as = 'alice') =>
    post(`/v0.1/cluster/${name}/update/wallets`, body, as)
  const register = (body: object, as?: string) =>
    post(`/v0.1/community/register${TESTNET}`, body, as)
  const rules = (body: object) => put(`/v1/communities/alice${TESTNET}`, body, 'alice')
  const club = { clusterName: 'club', walletName: 'second' }
  const own = { clusterName: 'alice', walletName: 'fourth' }
  return [
    update('alice', { add: [{ address: FIVE, name: 'fifth' }] }),
    update('alice', { update: [{ address: FIVE, name: 'fifth-new' }] }),
    update('alice', { add: [{ address: FIVE, name: 'sixth' }] }),
    update('alice', { add: [{ address: THREE, name: 'daily' }] }),
    update('alice', { add: [{ address: THREE, name: 'no good' }] }),
    update('alice', { add: [{ address: 'nobody', name: 'x' }] }),
    update('alice', { add: TOO_MANY }),
    update('alice', { remove: [FIVE] }),
    update('alice', { remove: [FIVE] }),
    update('alice', { update: [{ address: THREE, name: 'third' }] }),
    update('alice', {
      remove: ['alice', 'hot', 'cold', 'sol', 'payer'].map((role) => addresses[role]),
    }),
    update('traveller', { remove: [FIVE] }),
    update('nobody-holds-this', { remove: [FIVE] }),
    update('no%20good', { remove: [FIVE] }),
    register(club, 'hot'),
    register(club, 'sol'),
    register({ ...club, walletName: 'no good' }, 'hot'),
    register({ ...club, walletAddress: 'nobody' }, 'hot'),
    register({ ...club, clusterName: 'nobody-holds-this' }, 'hot'),
    register({ ...club, walletName: 'third', chainId: '10' }, 'hot'),
    register(club),
    post('/v0.1/community/register', club, 'hot'),
    rules({ startsAt: '2100-01-01T00:00:00.000Z' }),
    register(own, 'hot'),
    rules({ requirements: [{ kind: 'allowlist', addresses: [ONE] }] }),
    register(own, 'hot'),
    rules({ ownersOnly: true }),
    register(own, 'alice'),
    register({ ...own, walletAddress: FIVE }, 'alice'),
    register({ ...own, walletAddress: FIVE }, 'hot'),
    get('/v0.1/events?sortBy=newest&limit=3'),
  ]
}

function keys({ keyId }: Scene): Sent[] {
  const unknown = '0'.repeat(16)
  return [
    post('/v1/keys', { name: 'a key' }, 'traveller'),
    post('/v1/keys', { name: '' }, 'traveller'),
    get('/v1/keys', 'traveller'),
    patch(`/v1/keys/${keyId}`, { name: 'renamed' }, 'alice'),
    patch(`/v1/keys/${unknown}`, { name: 'renamed' }, 'alice'),
    del(`/v1/keys/${unknown}`, undefined, 'alice'),
    del(`/v1/keys/${keyId}`, undefined, 'alice'),
    get('/v1/keys', 'alice'),
  ]
}

/** Signing in and out. The wallets that sign out here ask for nothing afterwards. */
function sessions({ evm, solana }: Issued): Sent[] {
  const paths = ['/v1/auth/token', '/v0.1/auth/token', '/v0.1/auth/key']
  return [
    ...paths.flatMap((path) => [post(path, evm), post(path, solana)]),
    ...paths.flatMap((path) => [
      post(path, { ...evm, signature: `0x${'5e'.repeat(64)}1b` }),
      post(path, { ...evm, signature: 'x' }),
      post(path, { ...evm, wallet: 'nobody' }),
      post(path, { ...evm, signingDate: '2020-01-01T00:00:00.000Z' }),
    ]),
    post('/v1/auth/token', { ...evm, chainId: 5 }),
    del('/v1/auth/token', undefined, 'cold'),
    get('/v1/auth/validate', 'cold'),
    del('/v1/auth/token?everywhere=true', undefined, 'loser'),
    get('/v1/auth/validate', 'loser'),
  ]
}

/** What the changes have left. */
function afterwards({ addresses, clusterId }: Scene): Sent[] {
  return [
    get('/v1/events?limit=60&orderBy=newest'),
    get(`/v1/clusters/id/${clusterId}`, 'alice'),
    get('/v1/clusters/name/traveller'),
    ...Object.values(addresses).map((address) => get(`/v1/names/address/${address}`)),
  ]
}

/** Every route that waits for the first catch-up of its network, and look-ups, which do not. */
function duringCatchUp({ addresses, clusterId }: Scene): Sent[] {
  const names = [{ name: 'a-new-name' }]
  const wallet = [{ address: ONE, name: 'first' }]
  const below = { name: 'early' }
  const quote = { network: '1', sender: addresses.alice, names }
  const inSol = { network: 'solana', sender: addresses.sol, names }
  return [
    get(`/v1/names/address/${addresses.alice}`),
    get('/v1/clusters/name/alice'),
    get('/v0.1/cluster/alice'),
    get('/v1/overview'),
    get('/v1/events?limit=2'),
    post('/v1/clusters', undefined, 'alice'),
    post('/v1/clusters/wallets', wallet, 'alice'),
    put('/v1/clusters/wallets/names', wallet, 'alice'),
    del('/v1/clusters/wallets', [ONE], 'alice'),
    post(`/v1/clusters/verify/${clusterId}`, undefined, 'alice'),
    post('/v1/clusters/generate/wallet', { type: 'evm', name: 'x' }, 'alice'),
    post('/v1/clusters/generate/wallet/confirm', { address: ONE }, 'alice'),
    post('/v1/bundle', undefined, 'alice'),
    post('/v1/bundle/wallets', wallet, 'alice'),
    post('/v1/bundles/assign', { community: 'drop', name: 'early' }, 'hot'),
    post('/bundles/assign', { community: 'drop', name: 'early' }, 'hot'),
    put('/v1/communities/alice', { ownersOnly: true }, 'alice'),
    get('/v1/names/community/club/check/early'),
    post('/v1/names/community/club/register', below, 'alice'),
    post('/v1/names/register/check', ['a-new-name']),
    ...['/v1/names/register/evm', '/v1/register/evm', '/v0.1/register'].map((path) =>
      post(path, quote),
    ),
    ...['/v1/names/register/solana', '/v1/register/solana'].map((path) => post(path, inSol)),
    get('/v0.1/register/check/a-new-name'),
    post('/v0.1/register/check', ['a-new-name']),
    post('/v0.1/cluster/alice/update/wallets', { add: wallet }, 'alice'),
    get(`/v0.1/community/check/availability/club/early${TESTNET}`),
    post(
      `/v0.1/community/register${TESTNET}`,
      { clusterName: 'club', walletName: 'early' },
      'alice',
    ),
  ]
}

function ofMirror({ addresses, clusterId, transactions }: Scene): Sent[] {
  const both = ['', TESTNET]
  return [
    ...both.flatMap((network) => [
      ...Object.values(addresses).map((address) => get(`/v1/names/address/${address}${network}`)),
      get(`/v1/clusters/name/alice${network}`),
      get(`/v1/overview${network}`),
      get(`/v1/events${network}`),
      get(`/v1/proof${network}`),
    ]),
    get(`/v1/clusters/id/${clusterId}`),
    get('/v1/networks'),
    get('/v1/log/mainnet/checkpoint'),
    get('/v1/log/mainnet/1/tile/0/000.p/5'),
    get('/v1/log/testnet/1/tile/entries/000.p/5'),
    get('/v1/events/m-1-1/proof'),
    { ...get('/v1/events/stream?fromTimestamp=0'), until: '"moved-1"' },
    get('/v0.1/cluster/alice'),
    get('/v0.1/events'),
    get(`/v1/names/register/tx/${transactions.hub!.tx}`),
    get('/v1/communities/club'),
    get('/v1/auth/message'),
    post('/v1/clusters', undefined, 'alice'),
    post('/v1/names/register/check', ['a-new-name']),
  ]
}

/** Addresses of a join that takes more units than its client gets in a minute. */
const COSTLY = 8_000

/** A join, which leaves its client in debt, and what is refused until the debt is paid. */
function limited({ addresses }: Scene): Sent[] {
  const costly = Array.from({ length: COSTLY }, () => ONE)
  return [
    { ...post('/v1/wallets', costly) },
    get(`/v1/names/address/${addresses.alice}`),
    post('/v1/names', [{ name: 'alice' }]),
    get('/v1/clusters/name/alice', 'alice'),
    get('/v1/nothing'),
    { ...get('/'), headers: { accept: 'text/html' } },
  ]
}

/** Routes of a network that is not deployed, of ENS, which is not served, and of a feed that began anew. */
function reduced({ addresses, transactions, clusterId }: Scene, { resume }: Issued): Sent[] {
  const params: Record<string, string> = {
    id: clusterId,
    clusterId,
    address: addresses.alice!,
    tx: transactions.hub!.tx,
  }
  const call = lookupOf('alice.local.eth', callOf('addr(bytes32)'))
  return [
    ...routes
      .filter(({ isOfOneNetwork }) => isOfOneNetwork)
      .flatMap(({ method, path, aliases = [] }) =>
        [path, ...aliases].map((one): Sent => {
          const filled = one.replace(/:(\w+)/g, (_, name: string) => params[name] ?? 'alice')
          return { method: method.toUpperCase(), path: `${filled}${TESTNET}` }
        }),
      ),
    get('/v1/networks'),
    get('/v1/overview'),
    get(`/v1/overview${TESTNET}`),
    get(`/v0.1/cluster/alice${TESTNET}`),
    get(`/v0.1/events${TESTNET}`),
    get(`/ens/${addresses.alice}/${call}.json`),
    post('/ens', { sender: addresses.alice, data: call }),
    get(`/v1/names/alice/primary/${addresses.alice}`),
    get(`/v1/events?nextPage=${resume}`),
    get(`/v0.1/events?nextPage=${resume}`),
    get(`/v1/events/stream?resume=${resume}`),
    get('/v1/events/m-1-1/proof'),
  ]
}
