import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { publishEvidence } from '../../src/db/feed/evidence.js'
import { readTransparencyLogState } from '../../src/db/feed/transparencyLog.js'
import { createTransparencyLogWorker } from '../../src/push/transparencyLog.js'
import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { readEpoch } from '../support/epoch.js'
import type { Account } from '../support/signers.js'
import { memberOf } from './members.js'
import { type ApiWorld, bid, freshName } from './support.js'

const { signal } = new AbortController()
const keys = logKeysOfSeeds([Buffer.alloc(32, 7)])
export const key = keys[0]!.publicKey.toString('base64')

/** Bundles whose wallets sign their membership, and the log of it. */
export function membershipsOf(world: ApiWorld) {
  /** Publishes what is old enough, and brings both logs of a network up to date. */
  async function publish(afterMs = 0, network: 'mainnet' | 'testnet' = 'mainnet'): Promise<void> {
    const ctx = { pool: world.pool, network, epoch: await readEpoch(world.pool, network, 'index') }
    const { generation } = await readTransparencyLogState(world.pool, network)
    await publishEvidence(ctx, generation, afterMs)
    for (const isEvidence of [false, true]) {
      const worker = createTransparencyLogWorker(ctx, { domain: 'localhost', keys, isEvidence })
      while ((await worker.step(signal, () => {})) !== 'idle');
    }
  }

  const newAccount = (): Account => {
    const account = privateKeyToAccount(generatePrivateKey())
    return {
      type: 'evm',
      address: account.address.toLowerCase(),
      sign: (message) => account.signMessage({ message }),
    }
  }

  /** Signs in with a membership. @returns the headers of the key */
  async function signMembership(account: Account, cluster: string, query = '') {
    const { message, signingDate } = (
      await world.get(`/v1/auth/message?cluster=${cluster}${query}`)
    ).body
    const { type, address: wallet } = account
    const proof = { type, wallet, signingDate, signature: await account.sign(message), cluster }
    const { status, body } = await world.post(`/v1/auth/token?${query}`, proof)
    expect([status, body]).toMatchObject([200, { token: expect.any(String) }])
    return { message, headers: { authorization: `Bearer ${body.token}` }, proof }
  }

  const verify = async (clusterId: string, headers: Record<string, string>, query = '') =>
    world.request(`/v1/clusters/verify/${clusterId}${query}`, { method: 'POST', headers })

  /** A cluster with a name, and its owner. */
  async function named() {
    const owner = newAccount()
    const name = freshName()
    await world.append('mainnet', [bid({ from: owner.address, name })])
    const member = await memberOf(world, owner)
    const { clusterId } = (await world.get(`/v1/clusters/address/${owner.address}`)).body
    const invite = (address: string, isPrivate = false) =>
      member.call('POST', '/v1/clusters/wallets', [
        { address, name: `w${address.slice(-6).toLowerCase()}`, isPrivate },
      ])
    const marks = async () =>
      Object.fromEntries(
        (await world.get(`/v1/clusters/id/${clusterId}`)).body.wallets.map(
          (wallet: { address: string; evidence: string }) => [wallet.address, wallet.evidence],
        ),
      )
    return { owner, name, member, clusterId: clusterId as string, invite, marks }
  }

  /** Joins a cluster with evidence. */
  async function join(account: Account, { invite, clusterId }: Awaited<ReturnType<typeof named>>) {
    await invite(account.address)
    const { headers } = await signMembership(account, clusterId)
    expect((await verify(clusterId, headers)).status).toBe(200)
    return headers
  }

  return { publish, newAccount, signMembership, verify, named, join }
}
