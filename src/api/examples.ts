import type { Example } from './http/route.js'

/**
 * Example values in the OpenAPI documents. They exist in the local world, where a test sends them: a seeded name, its
 * wallet, a community without a price and a community with one.
 */
export const NAME = 'seedling'
export const OWNER = '0xa7580f28d5304b55594cfc1907f36d91b3d77ce5'
export const FREE = 'club'
export const PAID = 'guild'
export const WALLET = '0x00000000000000000000000000000000000000c1'
export const OTHER = '0x00000000000000000000000000000000000000c2'
export const SOLANA_WALLET = '4zL6snWYvniJGK6Q5N4ufMnFPKS8xjVpHGBENuNYzAbe'

export const registration = (network: string, sender: string): Example => ({
  body: { network, sender, names: [{ name: 'sprout', amountWei: '10000000000000000' }] },
})
export const proof = {
  // expired: the message is too old
  status: 401,
  body: {
    signature: `0x${'5e'.repeat(64)}1b`,
    signingDate: '2026-11-20T08:00:00.000Z',
    type: 'evm',
    wallet: OWNER,
  },
}
/** The wallet is of another kind than its proof. */
export const proofOfOtherKind = { ...proof.body, type: 'bitcoin' }
export const wallets = [
  { address: WALLET, name: 'cold' },
  { address: OTHER, name: 'warm', isPrivate: false },
]
