import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { Client } from '../../src/client/client.js'

/**
 * Signs an EVM account in at a daemon's API.
 * @returns the authentication key, for `Authorization: Bearer …`, valid on both networks
 * @throws ClusterdError where the API refuses
 */
export const signIn = (at: { api: string }, privateKey: Hex): Promise<string> =>
  new Client({ url: at.api }).signIn(privateKeyToAccount(privateKey))
