import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Account } from '../support/signers.js'
import type { ApiWorld, Reply } from './support.js'
import { signIn } from './wallets.js'

/** Signed-in wallet with its requests. */
export interface Member {
  address: string
  headers: Record<string, string>
  call(method: string, path: string, body?: unknown): Promise<Reply>
  create(): Promise<string>
  add(wallets: readonly Added[]): Promise<Reply>
  rename(address: string, name: string): Promise<Reply>
  remove(...addresses: string[]): Promise<Reply>
  verify(clusterId: string): Promise<Reply>
  confirm(address: string): Promise<Reply>
}

interface Added {
  address: string
  name: string
  isPrivate?: boolean
}

const newAccount = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey())

/** Signs a wallet in. */
export async function memberOf(
  world: Pick<ApiWorld, 'request' | 'get' | 'post'>,
  account: PrivateKeyAccount | Account = newAccount(),
): Promise<Member> {
  const headers = { ...(await signIn(world, account)), 'content-type': 'application/json' }
  const call: Member['call'] = (method, path, body) =>
    world.request(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return {
    address: 'signMessage' in account ? account.address.toLowerCase() : account.address,
    headers,
    call,
    create: async () => (await call('POST', '/v1/clusters')).body.id,
    add: (wallets) => call('POST', '/v1/clusters/wallets', wallets),
    rename: (address, name) => call('PUT', '/v1/clusters/wallets/names', [{ address, name }]),
    remove: (...addresses) => call('DELETE', '/v1/clusters/wallets', addresses),
    verify: (clusterId) => call('POST', `/v1/clusters/verify/${clusterId}`),
    confirm: (address) => call('POST', '/v1/clusters/generate/wallet/confirm', { address }),
  }
}
