import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Account } from '../support/signers.js'
import type { ApiWorld, Reply } from './support.js'
import { signIn } from './wallets.js'

/** Signed-in wallet with its requests. */
export interface Member {
  address: string
  headers: Record<string, string>
  call(method: string, path: string, body?: unknown): Promise<Reply>
  /** Creates a cluster of the wallet. @returns its id */
  create(): Promise<string>
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
  }
}
