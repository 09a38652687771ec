import { randomBytes } from 'node:crypto'
import type { Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { inject } from 'vitest'
import type { Network } from '../../src/registry/network.js'
import type { World } from '../../src/testing/index.js'
import { fund, localClients, walletOf } from '../../src/testing/localChain.js'

/** The world that all tests under test/e2e share: each uses names and wallets of its own. */
export const world = (): World => inject('world')

/** A name nobody has used. */
export const freshName = (prefix = 'n'): string => `${prefix}-${randomBytes(8).toString('hex')}`

/** A wallet nobody has used, with 10,000 ETH on a network's hub. */
export async function freshWallet(network: Network = 'mainnet', at: World = world()): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  const { hub } = at.networks[network]
  await fund(hub, hub.chainId, [account.address])
  return account
}

export interface Answer<Body = unknown> {
  status: number
  body: Body
}

/** Asks the API; the body is sent as JSON. */
export async function ask<Body = unknown>(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  at: { api: string } = world(),
): Promise<Answer<Body>> {
  const response = await fetch(`${at.api}${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  return { status: response.status, body: (await response.json()) as Body }
}

export interface Quote {
  transactionData: { to: Hex; data: Hex; value: string }
  registrationFee: string
  bridgeFee: string
}

/** Quotes, signs and sends a registration on a network's hub as a frontend would; answers the transaction's hash. */
export async function sendRegistration(
  account: PrivateKeyAccount,
  names: readonly { name: string; amountWei?: string }[],
  network: Network = 'mainnet',
  at: World = world(),
): Promise<Hex> {
  const { hub } = at.networks[network]
  const order = { network: hub.network, sender: account.address, names }
  const { status, body } = await ask<Quote>('POST', '/v1/names/register/evm', order, at)
  if (status !== 200) throw new Error(`quoting ${JSON.stringify(names)}: ${status} ${JSON.stringify(body)}`)
  const { to, data, value } = body.transactionData
  return walletOf(hub, hub.chainId, account).sendTransaction({ to, data, value: BigInt(value) })
}

/** Readers and anvil's own methods for a network's hub. */
export function hubOf(network: Network = 'mainnet', at: World = world()) {
  const { hub } = at.networks[network]
  return { ...hub, ...localClients(hub, hub.chainId) }
}
