import type { RequestExample } from './http/route.js'

/**
 * Values of the examples in the OpenAPI documents. A test sends the examples to the local world (a test network on one
 * machine), which has this name, its owner's wallet and both communities.
 */
export const EXAMPLE_NAME = 'seedling'
export const EXAMPLE_OWNER = '0xa7580f28d5304b55594cfc1907f36d91b3d77ce5'
export const COMMUNITY_WITHOUT_PRICE = 'club'
export const COMMUNITY_WITH_PRICE = 'guild'
export const EXAMPLE_WALLET = '0x00000000000000000000000000000000000000c1'
export const OTHER_EXAMPLE_WALLET = '0x00000000000000000000000000000000000000c2'
export const EXAMPLE_SOLANA_WALLET = '4zL6snWYvniJGK6Q5N4ufMnFPKS8xjVpHGBENuNYzAbe'

export const registrationExample = (network: string, sender: string): RequestExample => ({
  body: { network, sender, names: [{ name: 'sprout', amountWei: '10000000000000000' }] },
})
export const expiredProofExample = {
  status: 401,
  body: {
    signature: `0x${'5e'.repeat(64)}1b`,
    signingDate: '2026-11-20T08:00:00.000Z',
    type: 'evm',
    wallet: EXAMPLE_OWNER,
  },
}
/** The wallet's kind differs from the type of the proof. */
export const proofOfWrongTypeExample = { ...expiredProofExample.body, type: 'bitcoin' }
export const walletsExample = [
  { address: EXAMPLE_WALLET, name: 'cold' },
  { address: OTHER_EXAMPLE_WALLET, name: 'warm', isPrivate: false },
]
