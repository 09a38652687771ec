import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { Client } from '../client/client.js'

/**
 * Signs an EVM account in at a daemon's API.
 * @returns the authentication key, for `Authorization: Bearer …`, valid on both networks
 * @throws ClusterdError where the API refuses
 */
export const signIn = (at: { api: string }, privateKey: Hex): Promise<string> =>
  new Client({ url: at.api }).signIn(privateKeyToAccount(privateKey))

/** Requests JSON from an API. @throws Error with the answer for an error status */
export async function ask<T>(api: string, path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(`${api}${path}`, init)
  const body: unknown = await response.json()
  if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status} ${JSON.stringify(body)}`)
  return body as T
}
