import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { combine } from 'shamir-secret-sharing'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { logInto, type Reply, randomAddress, startApi, useApi } from './support.js'
import { messageOf, signIn } from './wallets.js'

const logged: string[] = []
const world = useApi({ shareKeys: [randomBytes(32)], log: logInto(logged) })

/** Status of another wallet's signature. It may be a contract's, and the chain of this world does not answer. */
const DENIED = [401, 503]

/** A share that belongs to no key. */
const JUNK = `0x${'11'.repeat(33)}`

const newAccount = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey())
const post = async (account: PrivateKeyAccount, path: string, body?: unknown): Promise<Reply> =>
  world.request(path, {
    method: 'POST',
    headers: await signIn(world, account),
    body: JSON.stringify(body),
  })
const generate = (account: PrivateKeyAccount, body: object) =>
  post(account, '/v1/clusters/generate/wallet', body)

/** Proof for a recovery: a signature over the message that requests a wallet's key. */
async function proof(account: PrivateKeyAccount, address: string) {
  const { message, signingDate } = await messageOf(
    world,
    `?type=evm&wallet=${account.address}&recover=${address}`,
  )
  return { signature: await account.signMessage({ message }), signingDate }
}
const recover = async (
  account: PrivateKeyAccount,
  body: { address: string; [field: string]: unknown },
  own?: object,
): Promise<Reply> =>
  post(account, '/v1/clusters/generate/wallet/recover', {
    ...(own ?? (await proof(account, body.address))),
    ...body,
  })

describe('a generated wallet', () => {
  it.each(['evm', 'solana'] as const)(
    'of type %s returns one share, is recovered with it, and is confirmed as backed up',
    async (type) => {
      const alice = newAccount()
      const { status, body, headers } = await generate(alice, {
        type,
        name: 'Fresh',
        isPrivate: false,
      })
      expect(status).toBe(200)
      const own = { address: expect.any(String), share: expect.stringMatching(/^0x[0-9a-f]{66}$/) }
      expect(body).toEqual({ type, name: 'fresh', ...own })
      expect(headers.get('cache-control')).toBe('private, no-store')
      const { clusterId } = (await world.get(`/v1/clusters/address/${alice.address}`)).body
      const entry = async () => {
        const { wallets } = (await world.get(`/v1/clusters/id/${clusterId}`)).body
        return wallets.find(({ address }: { address: string }) => address === body.address)
      }
      expect(await entry()).toMatchObject({
        name: 'fresh',
        isVerified: false,
        isBackedUp: false,
        isPrivate: false,
      })
      const { address, share } = body
      const confirmed = await post(alice, '/v1/clusters/generate/wallet/confirm', { address })
      expect(confirmed.body).toEqual({ success: true })
      expect(await entry()).toMatchObject({ isBackedUp: true })
      const recovered = await recover(alice, { address, share })
      expect(recovered).toMatchObject({
        status: 200,
        body: { type, address, privateKey: expect.any(String) },
      })
      expect(recovered.headers.get('cache-control')).toBe('private, no-store')
      if (type === 'evm')
        expect(privateKeyToAccount(recovered.body.privateKey).address.toLowerCase()).toBe(address)
      const loggedText = logged.join('')
      for (const secret of [share, recovered.body.privateKey])
        expect(loggedText).not.toContain(secret.replace('0x', ''))
      const { rows } = await world.pool.query('SELECT share FROM wallet_shares')
      for (const row of rows) expect(row.share).toHaveLength(12 + 33 + 16)
      const init = { headers: await signIn(world, alice), body: JSON.stringify([address]) }
      expect(
        (await world.request('/v1/clusters/wallets', { method: 'DELETE', ...init })).status,
      ).toBe(200)
      expect(await entry()).toBeUndefined()
    },
  )

  it('returns the third share on request, and two returned shares give the key', async () => {
    const alice = newAccount()
    const asked = { type: 'evm', name: 'a', isPrivate: true, recovery: true }
    const { address, share, recoveryShare } = (await generate(alice, asked)).body
    const bytes = [share, recoveryShare].map(
      (hex: string) => new Uint8Array(Buffer.from(hex.slice(2), 'hex')),
    )
    const key = Buffer.from(await combine(bytes)).toString('hex')
    expect(privateKeyToAccount(`0x${key}`).address.toLowerCase()).toBe(address)
    for (const one of [share, recoveryShare])
      expect(await recover(alice, { address, share: one })).toMatchObject({
        status: 200,
        body: { privateKey: `0x${key}` },
      })
    expect(JSON.stringify((await world.get('/v1/events')).body)).not.toContain(address)
  })

  it('is not recovered for another wallet, without a fresh bound signature, or for another address', async () => {
    const alice = newAccount()
    const mallory = newAccount()
    const { address, share } = (await generate(alice, { type: 'evm', name: 'a', isPrivate: false }))
      .body
    await post(mallory, '/v1/clusters/wallets', [{ address, name: 'mine' }])
    // listing the wallet in another cluster gives no access
    expect(await recover(mallory, { address, share })).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    })
    expect(await recover(newAccount(), { address, share })).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    })
    expect(await recover(alice, { address: randomAddress(), share })).toMatchObject({ status: 404 })
    const plain = await messageOf(world)
    const unbound = {
      signature: await alice.signMessage({ message: plain.message }),
      signingDate: plain.signingDate,
    }
    expect(DENIED).toContain((await recover(alice, { address, share }, unbound)).status)
    expect(DENIED).toContain(
      (await recover(alice, { address, share }, await proof(mallory, address))).status,
    )
    expect(DENIED).toContain(
      (await recover(alice, { address, share }, await proof(alice, randomAddress()))).status,
    )
    const bound = await messageOf(world, `?type=evm&wallet=${alice.address}&recover=${address}`)
    const signingDate = new Date(Date.now() - 6 * 60_000).toISOString()
    const old = await alice.signMessage({
      message: bound.message.replace(bound.signingDate, signingDate),
    })
    expect(DENIED).toContain(
      (await recover(alice, { address, share }, { signature: old, signingDate })).status,
    )
    for (const wrong of ['0x', 'x'.repeat(60_000), `${share}00`])
      expect(await recover(alice, { address, share: wrong })).toMatchObject({ status: 400 })
  })

  it('looks like an unknown address to a stranger: both take the same statements', async () => {
    const alice = newAccount()
    const mallory = newAccount()
    const { address, share } = (await generate(alice, { type: 'evm', name: 'a', isPrivate: true }))
      .body
    await post(mallory, '/v1/clusters')
    const { pool } = world
    const plain = pool.query.bind(pool) as (
      config: { text: string },
      ...rest: unknown[]
    ) => Promise<object>
    const statementsFor = async (asked: string) => {
      const texts: string[] = []
      const query = (config: { text: string }, ...rest: unknown[]) => {
        if (/wallet_shares|clusters|wallets/.test(config.text)) texts.push(config.text)
        return plain(config, ...rest)
      }
      Object.assign(pool, { query })
      expect((await recover(mallory, { address: asked, share })).status).toBe(404)
      Object.assign(pool, { query: plain })
      return texts
    }
    expect(await statementsFor(address)).toEqual(await statementsFor(randomAddress()))
    expect(await statementsFor(address)).not.toEqual([])
  })

  it('is not recovered by a used signature or a sign-in signature, and bound signatures are never shown', async () => {
    const alice = newAccount()
    const { address, share } = (await generate(alice, { type: 'evm', name: 'a', isPrivate: false }))
      .body
    const first = await proof(alice, address)
    const second = await proof(alice, address)
    const refused = { status: 401, body: { error: 'unauthorized' } }
    expect(await recover(alice, { address, share }, second)).toMatchObject({ status: 200 })
    for (const used of [second, first])
      expect(await recover(alice, { address, share }, used)).toMatchObject(refused)
    const guess = await proof(alice, address)
    expect(await recover(alice, { address, share: JUNK }, guess)).toMatchObject({
      status: 400,
    })
    expect(await recover(alice, { address, share }, guess)).toMatchObject(refused)

    const { message, signingDate } = await messageOf(world, `?type=evm&wallet=${alice.address}`)
    const bound = { signature: await alice.signMessage({ message }), signingDate }
    const { token } = (
      await world.post('/v1/auth/token', { ...bound, type: 'evm', wallet: alice.address })
    ).body
    const shown = await world.request('/v1/auth/validate', {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(shown).toMatchObject({
      status: 200,
      body: { signature: '', signingDate, isValid: true },
    })
    expect(DENIED).toContain((await recover(alice, { address, share }, bound)).status)
  })

  it('is recovered even if another member of its cluster keeps sending wrong shares', async () => {
    const alice = newAccount()
    const mallory = newAccount()
    const { address, share } = (await generate(alice, { type: 'evm', name: 'a', isPrivate: false }))
      .body
    await post(alice, '/v1/clusters/wallets', [{ address: mallory.address, name: 'guest' }])
    const { clusterId } = (await world.get(`/v1/clusters/address/${alice.address}`)).body
    expect((await post(mallory, `/v1/clusters/verify/${clusterId}`)).status).toBe(200)
    const own = await proof(alice, address)
    await sleep(5)
    expect(await recover(mallory, { address, share: JUNK })).toMatchObject({ status: 400 })
    expect(await recover(alice, { address, share }, own)).toMatchObject({ status: 200 })
  })

  it('is not made where its name is taken, and no share is stored', async () => {
    const alice = newAccount()
    await post(alice, '/v1/clusters')
    const kept = async () => (await world.pool.query('SELECT 1 FROM wallet_shares')).rowCount
    const before = await kept()
    for (const [body, status, error] of [
      [{ type: 'evm', name: 'main', isPrivate: false }, 409, 'wallet_name_taken'],
      [{ type: 'evm', name: 'no good' }, 400, 'invalid_name'],
      [{ type: 'bitcoin', name: 'a' }, 400, 'invalid_request'],
    ] as const)
      expect(await generate(alice, body)).toMatchObject({ status, body: { error } })
    expect(await kept()).toBe(before)
  })
})

it('a generated wallet may have the name of a private wallet, which reserves nothing in public', async () => {
  const account = newAccount()
  await post(account, '/v1/clusters')
  const add = (name: string, isPrivate: boolean) =>
    post(account, '/v1/clusters/wallets', [{ address: randomAddress(), name, isPrivate }])
  const made = (name: string, isPrivate: boolean) =>
    generate(account, { type: 'evm', name, isPrivate })
  for (const name of ['vault', 'safe']) expect((await add(name, true)).status).toBe(200)
  expect((await add('safe', false)).status).toBe(200)
  const taken = { status: 409, body: { error: 'wallet_name_taken' } }
  expect(await made('vault', true)).toMatchObject(taken)
  expect(await made('vault', false)).toMatchObject({ status: 200, body: { name: 'vault' } })
  expect(await made('vault', false)).toMatchObject(taken)
})

it('no wallet is generated without SHARE_KEY', async () => {
  const other = await startApi()
  try {
    const headers = await signIn(other, newAccount())
    const body = JSON.stringify({ type: 'evm', name: 'a', isPrivate: false })
    const reply = await other.request('/v1/clusters/generate/wallet', {
      method: 'POST',
      headers,
      body,
    })
    expect(reply).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  } finally {
    await other.stop()
  }
})
