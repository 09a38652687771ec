import type { Example } from './http/openapi.js'

/** The seeded name of the local world, its wallet and its cluster; communities of a name with and without a price. */
const NAME = 'seedling'
const OWNER = '0xa7580f28d5304b55594cfc1907f36d91b3d77ce5'
const FREE = 'club'
const PAID = 'guild'
const WALLET = '0x00000000000000000000000000000000000000c1'
const OTHER = '0x00000000000000000000000000000000000000c2'
const SOLANA = '4zL6snWYvniJGK6Q5N4ufMnFPKS8xjVpHGBENuNYzAbe'

const registration = (network: string, sender: string) => ({
  body: { network, sender, names: [{ name: 'sprout', amountWei: '10000000000000000' }] },
})
const below = { params: { communityName: FREE, name: 'alice' } }
const belowOld = { query: { testnet: 'true' }, params: { clusterName: FREE, walletName: 'alice' } }
const assigned = { body: { community: FREE, name: 'alice' } }
const proof = {
  body: {
    signature: `0x${'5e'.repeat(64)}1b`,
    signingDate: '2026-11-20T08:00:00.000Z',
    type: 'evm',
    wallet: OWNER,
  },
}
const wallets = [
  { address: WALLET, name: 'cold' },
  { address: OTHER, name: 'warm', isPrivate: false },
]

/**
 * Examples by method and path, of routes whose schemas' own examples don't make a request. They are those of the local
 * world, where a test runs them.
 */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  'post /v1/clusters/wallets': { body: wallets },
  'delete /v1/clusters/wallets': { body: [WALLET] },
  'put /v1/clusters/wallets/names': { body: [{ address: OTHER, name: 'hot' }] },
  'post /v1/clusters/generate/wallet': { body: { type: 'evm', name: 'generated', recovery: true } },
  'post /v1/clusters/generate/wallet/confirm': { body: { address: OTHER } },
  'post /v1/clusters/generate/wallet/recover': {
    body: {
      address: OTHER,
      share: `0x${'5e'.repeat(33)}`,
      signature: proof.body.signature,
      signingDate: proof.body.signingDate,
    },
  },
  'post /v1/bundle/wallets': { body: [{ address: SOLANA, name: 'sol', type: 'solana' }] },
  'post /v1/bundles/assign': assigned,
  'get /v1/airdrop/claim/:community': { params: { community: FREE } },
  'get /v1/communities/:name': { params: { name: PAID } },
  'put /v1/communities/:name': {
    params: { name: FREE },
    body: {
      prices: [{ network: '1', token: 'native', amount: '1000000000000000', recipient: OWNER }],
    },
  },
  'get /v1/communities/:name/payouts': { params: { name: PAID } },
  'get /v1/names/community/:communityName/check/:name': below,
  'post /v1/names/community/:communityName/register': {
    params: { communityName: FREE },
    body: { name: 'bob' },
  },
  'post /v1/names/register/check': { body: [NAME, 'sprout'] },
  'post /v1/names/register/evm': registration('1', OWNER),
  'post /v1/names/register/solana': registration('solana', SOLANA),
  'get /v1/auth/message': { query: { type: 'evm', wallet: OWNER } },
  'post /v1/auth/message': { query: { type: 'evm', wallet: OWNER } },
  'post /v1/auth/token': proof,
  'post /v0.1/register/check': { body: [NAME, 'sprout'] },
  'post /v0.1/register': registration('1', OWNER),
  'post /v0.1/cluster/:name/update/wallets': { body: { add: [{ address: WALLET, name: 'cold' }] } },
  'get /v0.1/community/check/availability/:clusterName/:walletName': belowOld,
  'get /v0.1/community/check/requirements/:clusterName': {
    query: { testnet: 'true', walletAddress: OWNER },
    params: { clusterName: FREE },
  },
  'post /v0.1/community/register': {
    query: { testnet: 'true' },
    body: { clusterName: FREE, walletName: 'bob' },
  },
  'get /v0.1/community/tx/:tx': { query: { testnet: 'true' } },
  'post /v0.1/auth/token': proof,
  'post /v0.1/auth/key': proof,
}
