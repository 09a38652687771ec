import { bytesToHex } from '../../../client/bytes.js'
import { requireClusterInMessage } from '../../../client/membership.js'
import { callApi } from '../lib/api.js'
import { readChains } from '../lib/money.js'
import type { ConnectedAccount } from './wallets/kind.js'

// a wallet signs the service's messages, and the service gives session keys for the signatures

const NONCE_BYTES = 16

/**
 * A wallet's proof: the service's message with its signature. The message is bound to the wallet and, if the wallet is
 * on one of the service's chains, to that chain, so that signatures of smart wallets are valid too.
 * @param more `recover`: the generated wallet whose key the message requests; `cluster`: the cluster to which the
 * wallet says that it belongs, of the testnet if `isTestnet`
 * @throws ClusterdError, and the wallet's errors
 */
export async function walletProofOf(
  { type, address, chainId, sign }: ConnectedAccount,
  more: { recover?: string; cluster?: string } = {},
  isTestnet = false,
) {
  // a wallet that does not report its chain signs in on the hub's chain
  const wanted = await chainId?.().catch(() => undefined)
  const isKnown = wanted && (await readChains(false)).some((chain) => chain.chainId === wanted)
  // a smart wallet may approve the message in a public transaction: without this random value nobody can sign in by it
  const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  const named = { nonce, ...(isKnown && { chainId: wanted }) }
  const query = new URLSearchParams({ type, wallet: address, ...more })
  for (const [key, value] of Object.entries(named)) query.set(key, String(value))
  const path = `/v1/auth/message?${query}`
  const { message, signingDate } = await callApi<{ message: string; signingDate: string }>(path, {
    isTestnet,
  })
  requireClusterInMessage(message, more.cluster)
  return { signature: await sign(message), signingDate, ...named }
}

/** Signs a wallet in. @param more as for `walletProofOf` @returns its session's key @throws as `walletProofOf` */
export async function createSessionKey(
  account: ConnectedAccount,
  more: { cluster?: string } = {},
  isTestnet = false,
): Promise<string> {
  const proof = await walletProofOf(account, more, isTestnet)
  const body = { ...proof, ...more, type: account.type, wallet: account.address }
  return (await callApi<{ token: string }>('/v1/auth/token', { isTestnet, body })).token
}

/**
 * Verifies a wallet in a cluster that lists it, by a signature that will be public.
 * @returns whether the service has kept the signature
 * @throws as `walletProofOf`
 */
export async function signMembershipWith(
  account: ConnectedAccount,
  cluster: string,
  isTestnet: boolean,
): Promise<boolean> {
  const authorized = { isTestnet, token: await createSessionKey(account, { cluster }, isTestnet) }
  const revoke = () => callApi('/v1/auth/token', { ...authorized, method: 'DELETE' })
  const path = `/v1/clusters/verify/${cluster}`
  const verified = callApi<{ signed?: boolean }>(path, { ...authorized, method: 'POST' })
  // revoke the session key: it is derived from a secret of the service and parts of the message, which becomes public
  const { signed } = await verified.finally(() => revoke().catch(() => undefined))
  return signed === true
}
