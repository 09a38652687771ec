import { generatePrivateKey } from 'viem/accounts'
import { afterAll, describe, expect, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import { verifyBundle } from '../../src/client/verify.js'
import { readTransparencyLogState } from '../../src/db/feed/transparencyLog.js'
import { readNextLeaves } from '../../src/push/leaves.js'
import { EVIDENCE_PUBLISHED_AFTER_MS } from '../../src/registry/auth/evidence.js'
import { NETWORKS } from '../../src/registry/primitives/network.js'
import { sha256InOneCall } from '../../src/registry/transparencyLog/hash.js'
import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { SIGNERS } from '../support/signers.js'
import { useWorld } from '../support/useWorld.js'
import { memberOf } from './members.js'
import { key, membershipsOf } from './memberships.js'
import { expectReplayed, startApi } from './support.js'
import { solanaAccount } from './wallets.js'

const world = useWorld(() => startApi())
afterAll(() => expectReplayed(world))
const { publish, newAccount, signMembership, verify, named, join } = membershipsOf(world)

const verifyNamed = (name: string) =>
  verifyBundle(new Client({ url: world.url, retries: 0 }), name, { key, sha256: sha256InOneCall })

/** Texts of the evidence log's entries. */
async function entries(): Promise<string[]> {
  const { rows } = await world.pool.query('SELECT entry FROM evidence ORDER BY network, number')
  return rows.map(({ entry }) => entry)
}

describe('a signed membership', () => {
  it('names network and cluster, by its id or a name, and ends by saying that it will be public', async () => {
    const { clusterId, name } = await named()
    const byId = (await world.get(`/v1/auth/message?cluster=${clusterId}`)).body
    const byName = (await world.get(`/v1/auth/message?cluster=${name}`)).body
    const end = `\nNetwork: mainnet\nCluster: ${clusterId}\n\nThis signature will be public.`
    for (const { message, signingDate } of [byId, byName])
      expect(message.endsWith(`\n${signingDate}${end}`)).toBe(true)
    const { address } = newAccount()
    const bound = await world.get(`/v1/auth/message?cluster=${name}&wallet=${address}&type=evm`)
    expect(bound.body.message).toContain('wants you to sign in')
    expect(bound.body.message.endsWith(end)).toBe(true)
    const ofTestnet = await world.get(`/v1/auth/message?cluster=${clusterId}&testnet=true`)
    expect(ofTestnet.body.message).toContain('\nNetwork: testnet\n')
  })

  it.each([
    ['a name that nobody holds', 'nobodyholdsthis', 404, 'not_found'],
    ['a text that is no name', 'a b', 400, 'invalid_name'],
  ])('is refused for %s', async (_case, cluster, status, error) => {
    const reply = await world.get(`/v1/auth/message?cluster=${encodeURIComponent(cluster)}`)
    expect([reply.status, reply.body.error]).toEqual([status, error])
  })

  it('opens a session like any other, and only with the cluster that was signed', async () => {
    // no chain is asked about an account of Solana
    const account = solanaAccount()
    const { clusterId } = await named()
    const { headers, proof } = await signMembership(account, clusterId)
    expect((await world.request('/v1/auth/validate', { headers })).status).toBe(200)
    const { cluster: _, ...plain } = proof
    expect((await world.post('/v1/auth/token', plain)).status).toBe(401)
    const other = { ...proof, cluster: `0x${'9'.repeat(64)}` }
    expect((await world.post('/v1/auth/token', other)).status).toBe(401)
  })

  it('is kept by a verification, and published once its signature opens no session', async () => {
    const bundle = await named()
    const account = newAccount()
    await join(account, bundle)
    expect(await bundle.marks()).toEqual({
      [bundle.owner.address]: 'registered',
      [account.address]: 'signed',
    })
    const before = await entries()
    await publish(EVIDENCE_PUBLISHED_AFTER_MS)
    expect(await entries()).toEqual(before)
    await publish()
    const [entry, ...more] = (await entries()).slice(before.length)
    expect(more).toEqual([])
    const { type, from, data } = JSON.parse(entry!)
    expect([type, from, data.cluster_id]).toEqual([
      'SIGN_MEMBERSHIP',
      account.address,
      bundle.clusterId,
    ])
    // names are shown with a slash, and taken so
    const { wallets, heads } = await verifyNamed(`${bundle.name.toUpperCase()}/`)
    expect(heads.evidence!.origin).toBe('localhost/mainnet/evidence/1')
    expect(wallets).toMatchObject([
      {
        address: bundle.owner.address,
        evidence: 'registered',
        registeredName: bundle.name,
        signedAt: null,
      },
      { address: account.address, evidence: 'signed', signedAt: expect.any(String) },
    ])
  })

  it('outlives the key that was made of it, and its signature gives no other key', async () => {
    const bundle = await named()
    const account = newAccount()
    await bundle.invite(account.address)
    const { headers, proof } = await signMembership(account, bundle.clusterId)
    const verified = await verify(bundle.clusterId, headers)
    expect(verified.body).toEqual({ success: true, signed: true })
    const revoked = await world.request('/v1/auth/token', { method: 'DELETE', headers })
    expect(revoked.status).toBe(200)
    expect((await world.post('/v1/auth/token', proof)).status).toBe(401)
    expect((await bundle.marks())[account.address]).toBe('signed')
    await publish()
    const { wallets } = await verifyNamed(bundle.name)
    expect(wallets.find(({ address }) => address === account.address)?.evidence).toBe('signed')
  })

  it('of a member is kept later, and changes no state', async () => {
    const bundle = await named()
    const account = newAccount()
    await bundle.invite(account.address)
    await verify(bundle.clusterId, (await memberOf(world, account)).headers)
    const before = await world.get(`/v1/clusters/id/${bundle.clusterId}`)
    const newest = async () => (await world.get('/v1/events?orderBy=newest&limit=1')).body.items
    const event = await newest()
    const { headers } = await signMembership(account, bundle.name)
    expect((await verify(bundle.clusterId, headers)).status).toBe(200)
    const after = await world.get(`/v1/clusters/id/${bundle.clusterId}`)
    expect(await newest()).toEqual(event)
    const unsigned = (text: string) => text.replaceAll(/"evidence":"\w+"/g, '')
    expect(unsigned(JSON.stringify(after.body))).toBe(unsigned(JSON.stringify(before.body)))
    expect((await bundle.marks())[account.address]).toBe('signed')
    await publish()
    const { wallets } = await verifyNamed(bundle.name)
    expect(wallets.find(({ address }) => address === account.address)?.evidence).toBe('signed')
  })

  it('is no evidence for another cluster or network, or of a plain sign-in', async () => {
    const bundle = await named()
    const other = await named()
    const account = newAccount()
    for (const { invite } of [bundle, other]) await invite(account.address)
    const plain = await verify(bundle.clusterId, (await memberOf(world, account)).headers)
    expect(plain.body).toEqual({ success: true })
    const wrong = await signMembership(account, other.clusterId)
    expect((await verify(bundle.clusterId, wrong.headers)).body).toEqual({
      success: true,
      signed: false,
    })
    const testnet = await signMembership(account, bundle.clusterId, '&testnet=true')
    await verify(bundle.clusterId, testnet.headers)
    expect((await bundle.marks())[account.address]).toBe('unsigned')
    const before = await entries()
    await publish()
    expect(await entries()).toEqual(before)
  })

  it('ends when the wallet leaves, and its signature does not count again', async () => {
    const bundle = await named()
    const account = newAccount()
    const headers = await join(account, bundle)
    await bundle.member.call('DELETE', '/v1/clusters/wallets', [account.address])
    await bundle.invite(account.address)
    await verify(bundle.clusterId, headers)
    expect((await bundle.marks())[account.address]).toBe('unsigned')
    await publish()
    const { wallets } = await verifyNamed(bundle.name)
    expect(wallets.find(({ address }) => address === account.address)?.evidence).toBe('unsigned')
  })

  it('does not count if the wallet left between its sign-in and the verification', async () => {
    const bundle = await named()
    const account = newAccount()
    await bundle.invite(account.address)
    const { headers, proof } = await signMembership(account, bundle.clusterId)
    await bundle.member.call('DELETE', '/v1/clusters/wallets', [account.address])
    await bundle.invite(account.address)
    // the same sign-in, sent again, does not bring it back
    expect((await world.post('/v1/auth/token', proof)).status).toBe(200)
    expect((await verify(bundle.clusterId, headers)).status).toBe(200)
    expect((await bundle.marks())[account.address]).toBe('unsigned')
  })

  it('counts after a plain sign-in of the same date', async () => {
    const bundle = await named()
    const account = newAccount()
    await bundle.invite(account.address)
    const { message, signingDate } = (
      await world.get(`/v1/auth/message?cluster=${bundle.clusterId}`)
    ).body
    const signedAs = async (text: string, of: object) => {
      const signature = await account.sign(text)
      const proof = { type: 'evm', wallet: account.address, signingDate, signature, ...of }
      const { token } = (await world.post('/v1/auth/token', proof)).body
      return { authorization: `Bearer ${token}` }
    }
    await signedAs(message.replace(/\nNetwork[\s\S]*$/, ''), {})
    const headers = await signedAs(message, { cluster: bundle.clusterId })
    expect((await verify(bundle.clusterId, headers)).status).toBe(200)
    expect((await bundle.marks())[account.address]).toBe('signed')
  })

  it('is not ended by another cluster that lists and removes the wallet', async () => {
    const bundle = await named()
    const other = await named()
    const account = newAccount()
    await bundle.invite(account.address)
    const { headers } = await signMembership(account, bundle.clusterId)
    await other.invite(account.address)
    await other.member.call('DELETE', '/v1/clusters/wallets', [account.address])
    await verify(bundle.clusterId, headers)
    expect((await bundle.marks())[account.address]).toBe('signed')
  })

  it('stays where its session is revoked', async () => {
    const bundle = await named()
    const account = newAccount()
    const headers = await join(account, bundle)
    await world.request('/v1/auth/token', { method: 'DELETE', headers })
    expect((await world.request('/v1/auth/validate', { headers })).status).toBe(401)
    expect((await bundle.marks())[account.address]).toBe('signed')
  })

  it('of a private wallet is published when the wallet becomes public', async () => {
    const bundle = await named()
    const account = newAccount()
    await bundle.invite(account.address, true)
    const { headers } = await signMembership(account, bundle.clusterId)
    expect((await verify(bundle.clusterId, headers)).status).toBe(200)
    await publish()
    const before = await entries()
    expect(before.join()).not.toContain(account.address)
    // later evidence is published first
    const other = newAccount()
    await join(other, bundle)
    await publish()
    await bundle.invite(account.address)
    await publish()
    const added = (await entries()).slice(before.length).map((entry) => JSON.parse(entry).from)
    expect(added).toEqual([other.address, account.address])
    const { wallets } = await verifyNamed(bundle.name)
    expect(wallets.find(({ address }) => address === account.address)?.evidence).toBe('signed')
  })

  it.each(['solana', 'bitcoin', 'cosmos', 'sui'] as const)('is that of %s too', async (kind) => {
    const bundle = await named()
    const accounts = await SIGNERS[kind].accounts(Buffer.from(generatePrivateKey().slice(2), 'hex'))
    for (const account of accounts) await join(account, bundle)
    await publish()
    const { wallets } = await verifyNamed(bundle.name)
    expect(wallets.slice(1).map(({ address, evidence }) => [address, evidence])).toEqual(
      accounts.map(({ address }) => [address, 'signed']),
    )
  })
})

it('stops an earlier build that folds the journal again, with a sentence', async () => {
  // such a build knows the kinds up to 26
  const rename = (from: number, to: number) =>
    world.pool.query('UPDATE journal SET kind = $2 WHERE kind = $1', [from, to])
  await rename(27, 99)
  await expect(expectReplayed(world)).rejects.toThrow(
    'this version of clusterd does not know kind 99 of a journal entry: run the newer version that wrote it',
  )
  await rename(99, 27)
})

describe('the evidence log', () => {
  it('exists on both networks, and goes on from a kept checkpoint', async () => {
    for (const network of NETWORKS) await publish(0, network)
    const { name } = await named()
    await publish()
    const client = new Client({ url: world.url, retries: 0 })
    const { heads } = await verifyBundle(client, name, { key, sha256: sha256InOneCall })
    const again = await verifyBundle(client, name, { key, sha256: sha256InOneCall, last: heads })
    expect(again.heads).toEqual(heads)
    for (const last of [heads.feed, {}, ''] as never[])
      await expect(verifyBundle(client, name, { key, last })).rejects.toThrow(TypeError)
    const note = await fetch(`${world.url}/v1/log/testnet/evidence/checkpoint`)
    expect((await note.text()).split('\n', 1)).toEqual(['localhost/testnet/evidence/1'])
    const first = await fetch(`${world.url}/v1/log/testnet/evidence/1/checkpoint`)
    expect((await first.text()).split('\n', 1)).toEqual(['localhost/testnet/evidence/1'])
    const tile = await fetch(`${world.url}/v1/log/testnet/evidence/1/tile/0/000.p/1`)
    expect((await tile.arrayBuffer()).byteLength).toBe(32)
  })

  it('has no entries of a generation that has ended', async () => {
    await join(newAccount(), await named())
    await publish()
    const { size } = (await readTransparencyLogState(world.pool, 'mainnet/evidence')).log!
    const url = `${world.url}/v1/log/mainnet/evidence/1/tile/entries/000.p/${size}`
    expect((await fetch(url)).status).toBe(200)
    const setGeneration = (generation: number) =>
      world.pool.query('UPDATE journal_heads SET feed_generation = $1 WHERE network = 0', [
        generation,
      ])
    await setGeneration(2)
    // the first evidence of the next generation takes the place of the earlier
    await world.pool.query('UPDATE evidence SET generation = 2')
    expect((await fetch(url)).status).toBe(404)
    expect(await readNextLeaves(world.pool, 'mainnet/evidence', 1, 1)).toBe(null)
    await world.pool.query('UPDATE evidence SET generation = 1')
    await setGeneration(1)
  })

  it('is not one that any other key has signed', async () => {
    const { name } = await named()
    await publish()
    const other = logKeysOfSeeds([Buffer.alloc(32, 9)])[0]!.publicKey.toString('base64')
    await expect(
      verifyBundle(new Client({ url: world.url, retries: 0 }), name, { key: other }),
    ).rejects.toMatchObject({ code: 'log_mismatch' })
  })
})
