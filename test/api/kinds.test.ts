import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBatchedLookups } from '../../src/api/http/batches.js'
import { setDistributor } from '../../src/db/airdrop/airdrops.js'
import { WALLET_KIND_NAMES, WALLET_KINDS } from '../../src/registry/auth/kinds.js'
import { decodeWallet } from '../../src/registry/primitives/address.js'
import { loadRows } from '../support/airdrop.js'
import { SIGNERS } from '../support/signers.js'
import { type Member, memberOf } from './members.js'
import { bid, expectReplayed, freshName, useApi } from './support.js'
import { messageOf, proofOf } from './wallets.js'

const world = useApi({ shareKeys: [randomBytes(32)], airdropOperatorKey: `0x${'0d'.repeat(32)}` })
afterAll(() => expectReplayed(world))

const others = WALLET_KIND_NAMES.filter((kind) => kind !== 'evm')
const accounts = (
  await Promise.all(others.map((kind) => SIGNERS[kind].accounts(randomBytes(32))))
).flat()

/** Every kind of wallet may do everything that a signature allows. */
describe.each(accounts.map((account) => [account.type, account.address, account] as const))(
  '%s %s',
  (type, address, account) => {
    let self: Member
    let alice: Member
    beforeAll(async () => {
      self = await memberOf(world, account)
      alice = await memberOf(world)
    })

    it('signs in with the plain and the bound message, in both versions, with one key per date', async () => {
      const plain = await proofOf(world, account)
      const { token } = (await world.post('/v1/auth/token', plain)).body
      expect((await world.post('/v0.1/auth/token', plain)).body).toMatchObject({
        token,
        isValid: true,
      })
      const validated = await world.request('/v1/auth/validate', {
        headers: { 'x-auth-key': token },
      })
      expect(validated.body).toEqual({ ...plain, isValid: true })
      const { message, signingDate } = await messageOf(world, `?type=${type}&wallet=${address}`)
      expect(message).toContain(`account:\n${address}\n`)
      expect(message).not.toContain('Chain ID')
      const bound = { ...plain, signingDate, signature: await account.sign(message) }
      expect((await world.post('/v1/auth/token', bound)).status).toBe(200)
      const stale = { ...bound, signingDate: plain.signingDate }
      expect((await world.post('/v1/auth/token', stale)).body).toMatchObject({
        status: 401,
        error: 'unauthorized',
      })
      const malformed = { ...bound, signature: 'x' }
      expect((await world.post('/v1/auth/token', malformed)).body).toMatchObject({
        status: 400,
        error: 'invalid_request',
      })
    })

    it('creates a cluster, joins another one in private, and becomes public there', async () => {
      const own = await self.create()
      const { items } = (await world.get(`/v1/events?from=${address}`)).body
      expect(items.map((event: { type: string }) => event.type)).toEqual([
        'CREATE_CLUSTER',
        'ADD_WALLET',
      ])
      expect(items[0]).toMatchObject({ from: address, data: { cluster_id: own } })
      const id = await alice.create()
      expect((await self.call('POST', `/v1/clusters/verify/${id}`)).body.error).toBe('not_invited')
      await alice.call('POST', '/v1/clusters/wallets', [
        { address, name: 'hidden', isPrivate: true },
      ])
      expect((await self.call('POST', `/v1/clusters/verify/${id}`)).status).toBe(200)
      expect((await world.get(`/v1/clusters/address/${address}`)).body.clusterId).toBeNull()
      expect((await self.call('GET', `/v1/clusters/address/${address}`)).body.clusterId).toBe(id)
      expect(
        (await self.call('PUT', '/v1/clusters/wallets/names', [{ address, name: 'shown' }])).status,
      ).toBe(200)
      const { wallets } = (await alice.call('GET', `/v1/clusters/id/${id}`)).body
      expect(wallets).toContainEqual(
        expect.objectContaining({ address, name: 'shown', updatedBy: address }),
      )
      expect(
        (
          await alice.call('POST', '/v1/bundle/wallets', [
            { address, name: 'shown', type, isPrivate: false },
          ])
        ).status,
      ).toBe(200)
      expect((await world.get(`/v1/clusters/address/${address}`)).body.clusterId).toBe(id)
    })

    it('recovers a generated wallet’s key by its recovery message', async () => {
      const asked = { type: 'solana', name: 'made' }
      const { address: made, share } = (
        await self.call('POST', '/v1/clusters/generate/wallet', asked)
      ).body
      const { message, signingDate } = await messageOf(
        world,
        `?type=${type}&wallet=${address}&recover=${made}`,
      )
      const recover = async (signed: string) =>
        self.call('POST', '/v1/clusters/generate/wallet/recover', {
          address: made,
          share,
          signingDate,
          signature: await account.sign(signed),
        })
      expect((await recover(`${message}.`)).body.error).toBe('unauthorized')
      expect((await recover(message)).body).toMatchObject({ type: 'solana', address: made })
    })

    it('cannot pay: quotes refuse it, and nothing is owed to it', async () => {
      const names = [{ name: freshName() }]
      const quote = await self.call('POST', '/v1/names/register/evm', {
        network: '1',
        sender: address,
        names,
      })
      expect(quote.body).toMatchObject({ status: 400, error: 'invalid_sender' })
      expect((await world.get(`/v1/refunds/${address}`)).body.refunds).toEqual([])
    })

    it('claims an airdrop through an EVM wallet of its bundle', async () => {
      const { community } = await loadRows(world.pool, [{ address, amount: 5n }], {
        community: freshName(),
      })
      await setDistributor(world.pool, 'mainnet', community, {
        label: '1',
        distributor: Buffer.alloc(20, 0xd1),
        token: Buffer.alloc(20, 0x70),
        fromBlock: 5,
        endsAtS: Math.floor(Date.now() / 1_000) + 1_000_000,
      })
      const { body } = await self.call('GET', `/v1/airdrop/claim/${community}`)
      expect(body.claims, JSON.stringify(body)).toMatchObject([
        { address, amount: '5', receiver: alice.address },
      ])
    })

    it('can own names below communities, and be on their allowlists', async () => {
      const owner = await memberOf(world)
      const club = freshName()
      const name = freshName()
      await world.append('mainnet', [bid({ from: owner.address, name: club })])
      const requirements = [{ kind: 'allowlist', addresses: [address] }]
      expect((await owner.call('PUT', `/v1/communities/${club}`, { requirements })).status).toBe(
        200,
      )
      expect(
        (await owner.call('POST', `/v1/names/community/${club}/register`, { name })).body.error,
      ).toBe('requirements_not_met')
      expect(
        (await self.call('POST', `/v1/names/community/${club}/register`, { name })).body,
      ).toEqual({
        clusterName: `${club}/${name}`,
        owner: address,
      })
      // it is then the last wallet of the cluster that holds the name
      const { clusterId } = (await world.get(`/v1/clusters/address/${owner.address}`)).body
      await owner.call('POST', '/v1/clusters/wallets', [{ address, name: 'second' }])
      expect((await self.call('POST', `/v1/clusters/verify/${clusterId}`)).status).toBe(200)
      expect((await self.call('DELETE', '/v1/clusters/wallets', [owner.address])).status).toBe(200)
      expect((await self.call('DELETE', '/v1/clusters/wallets', [address])).body.error).toBe(
        'last_verified_wallet',
      )
      const { verifiedOf } = createBatchedLookups(world.pool, 'mainnet')
      const hit = await verifiedOf({ cluster: club, stored: WALLET_KINDS[type].coin.stored })
      expect(hit && decodeWallet(hit.address).text).toBe(
        address.startsWith('osmo') ? null : address,
      )
    })
  },
)
