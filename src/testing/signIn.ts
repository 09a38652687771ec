import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/**
 * Signs an EVM account in at a daemon's API.
 * @returns the authentication key, for `Authorization: Bearer …`, valid on both networks
 * @throws Error with the API's answer where it refuses
 */
export async function signIn(at: { api: string }, privateKey: Hex): Promise<string> {
  const account = privateKeyToAccount(privateKey)
  const { message, signingDate } = await ask<{ message: string; signingDate: string }>(at.api, '/v1/auth/message')
  const proof = { signature: await account.signMessage({ message }), signingDate, type: 'evm', wallet: account.address }
  return (await ask<{ token: string }>(at.api, '/v1/auth/token', { method: 'POST', body: JSON.stringify(proof) })).token
}

/** Requests JSON from an API. @throws Error with the answer for an error status */
export async function ask<T>(api: string, path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(`${api}${path}`, init)
  const body: unknown = await response.json()
  if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status} ${JSON.stringify(body)}`)
  return body as T
}
