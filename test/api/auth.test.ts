import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import bs58 from 'bs58'
import {
  type Hex,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { MAX_SESSIONS_PER_WALLET } from '../../src/db/auth/sessions.js'
import { EVIDENCE_PUBLISHED_AFTER_MS } from '../../src/registry/auth/evidence.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { logInto, type Reply, useApi } from './support.js'
import { messageOf, type Proof, proofOf, solanaAccount } from './wallets.js'

const logged: string[] = []
const solana = solanaAccount()

const account = privateKeyToAccount(`0x${'4e'.repeat(32)}`)

const world = useApi({ log: logInto(logged) })

const prove = (of: 'evm' | 'solana' = 'evm'): Promise<Proof> =>
  proofOf(world, of === 'evm' ? account : solana)
/** Proof of a message that the client composed itself, with this date. */
async function proofAt(signer: typeof account, atMs: number): Promise<Proof> {
  const { message } = await messageOf(world)
  const signingDate = new Date(atMs).toISOString()
  const signature = await signer.signMessage({ message: message.replace(/\S+$/, signingDate) })
  return { signature, signingDate, type: 'evm', wallet: signer.address }
}
const exchange = (proof: unknown): Promise<Reply> => world.post('/v1/auth/token', proof)
const sessions = async (): Promise<number> =>
  (await world.pool.query('SELECT 1 FROM sessions')).rowCount!
const validate = (headers: Record<string, string>, init: RequestInit = {}) =>
  world.request('/v1/auth/validate', { ...init, headers })

describe('the message', () => {
  it('names the service, says why, and ends with its date', async () => {
    const { message, signingDate } = await messageOf(world)
    expect(message).toBe(
      `localhost verification\n\nBefore interacting with certain functionality, we require a wallet signature for verification.\n\n${signingDate}`,
    )
    expect(Math.abs(Date.parse(signingDate) - Date.now())).toBeLessThan(5_000)
    const posted = await world.request('/v1/auth/message', {
      method: 'POST',
      headers: { host: 'evil.example' },
    })
    expect(posted.body.message).toMatch(/^localhost verification\n/)
    expect(posted.headers.get('cache-control')).toBe('no-store')
  })

  it('is bound to a wallet where one is named', async () => {
    const { message, signingDate } = await messageOf(
      world,
      `?type=evm&wallet=${account.address.toLowerCase()}`,
    )
    expect(message).toContain(
      `localhost wants you to sign in with your Ethereum account:\n${account.address}\n`,
    )
    expect(message.endsWith(`Issued At: ${signingDate}`)).toBe(true)
  })

  it.each([
    ['type=evm', 'invalid_request'],
    [`wallet=${account.address}`, 'invalid_request'],
    [`type=dogecoin&wallet=${account.address}`, 'invalid_request'],
    [`type=solana&wallet=${account.address}`, 'unsupported_address'],
    ['type=evm&wallet=nonsense', 'unsupported_address'],
  ])('is refused for %s: %s', async (query, error) => {
    expect((await world.get(`/v1/auth/message?${query}`)).body).toMatchObject({
      status: 400,
      error,
    })
  })
})

describe('a key', () => {
  it.each(['evm', 'solana'] as const)(
    'of an %s wallet is the same each time, and valid in every header',
    async (type) => {
      const proof = await prove(type)
      const { status, body, headers } = await exchange(proof)
      expect({ status, body }).toEqual({
        status: 200,
        body: { token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) },
      })
      expect(headers.get('cache-control')).toBe('no-store')
      const before = await sessions()
      const again = await Promise.all(Array.from({ length: 8 }, () => exchange(proof)))
      for (const [i, reply] of again.entries())
        expect(reply, `exchange ${i}`).toMatchObject({ status: 200, body })
      expect(await sessions()).toBe(before)
      const wallet = type === 'evm' ? account.address.toLowerCase() : solana.address
      const { token } = body
      const forms: Record<string, string>[] = [
        { authorization: `Bearer ${token}` },
        { authorization: `bearer  ${token}` },
        { 'x-auth-key': token },
      ]
      for (const sent of forms)
        for (const method of ['GET', 'POST']) {
          const name = `${method} ${JSON.stringify(sent)}`
          const reply = await validate(sent, { method })
          expect(reply, name).toMatchObject({
            status: 200,
            body: { ...proof, wallet, isValid: true },
          })
          expect(reply.headers.get('cache-control'), name).toBe('private, no-store')
          expect(reply.headers.get('vary'), name).toBe('Authorization, X-AUTH-KEY')
        }
      expect(
        (await validate({ authorization: `Bearer ${token}`, 'x-auth-key': token })).status,
      ).toBe(200)
    },
  )

  it('is the same for every form of a signature, and validation returns the first form', async () => {
    const proof = await prove('solana')
    const bytes = fromHex(proof.signature)
    const { token } = (await exchange(proof)).body
    const forms = {
      base58: bs58.encode(bytes),
      base64: bytes.toString('base64'),
      hex: proof.signature,
    }
    for (const [form, signature] of Object.entries(forms))
      expect((await exchange({ ...proof, signature })).body, form).toEqual({ token })
    const evm = await prove()
    const parity = `${evm.signature.slice(0, -2)}${evm.signature.endsWith('1b') ? '00' : '01'}`
    const compact = serializeCompactSignature(
      signatureToCompactSignature(parseSignature(evm.signature as Hex)),
    )
    for (const [form, signature] of Object.entries({ parity, compact }))
      expect((await exchange({ ...evm, signature })).body, form).toEqual((await exchange(evm)).body)
    expect((await validate({ 'x-auth-key': token })).body.signature).toBe(proof.signature)
  })

  it('is given for a message that the client composed itself with the current date', async () => {
    expect((await exchange(await proofAt(account, Date.now() - 5_000))).status).toBe(200)
  })

  it('is invalid for good once it is revoked', async () => {
    const proof = await prove()
    const { token } = (await exchange(proof)).body
    const other = (await exchange(await prove('solana'))).body.token
    const revoke = () =>
      world.request('/v1/auth/token', {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
      })
    expect(await revoke()).toMatchObject({ status: 200, body: { success: true } })
    expect(await validate({ 'x-auth-key': token })).toMatchObject({
      status: 401,
      body: { isValid: false },
    })
    expect(await exchange(proof)).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    expect(await revoke()).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    expect((await validate({ 'x-auth-key': other })).status).toBe(200)
  })

  it('is revoked with all keys of its wallet, and of no other wallet, where the request says so', async () => {
    const keyAt = async (signer: typeof account, ago: number): Promise<string> =>
      (await exchange(await proofAt(signer, Date.now() - ago))).body.token
    const wallet = privateKeyToAccount(generatePrivateKey())
    const own = await Promise.all([1_000, 2_000, 3_000].map((ago) => keyAt(wallet, ago)))
    const foreign = await keyAt(account, 4_000)
    const revoke = (query: string) =>
      world.request(`/v1/auth/token${query}`, {
        method: 'DELETE',
        headers: { 'x-auth-key': own[0]! },
      })
    expect(await revoke('?everywhere=yes')).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
    const statuses = () =>
      Promise.all(
        [...own, foreign].map(async (key) => (await validate({ 'x-auth-key': key })).status),
      )
    expect(await statuses()).toEqual([200, 200, 200, 200])
    expect(await revoke('?everywhere=true')).toMatchObject({ status: 200, body: { success: true } })
    expect(await statuses()).toEqual([401, 401, 401, 200])
    expect((await validate({ 'x-auth-key': await keyAt(wallet, 0) })).status).toBe(200)
  })

  it('ends when its wallet has too many newer keys, and revoked keys stay invalid', async () => {
    const wallet = privateKeyToAccount(generatePrivateKey())
    const startMs = Date.now() - 60_000
    const given = async (i: number) => exchange(await proofAt(wallet, startMs + i))
    const tokens: string[] = []
    for (let i = 1; i <= MAX_SESSIONS_PER_WALLET + 3; i++) tokens.push((await given(i)).body.token)
    const isValid = async (token: string) =>
      (await validate({ 'x-auth-key': token })).status === 200
    const valid = await Promise.all(tokens.map(isValid))
    expect(valid).toEqual(tokens.map((_, i) => i >= 3))
    // neither a dropped key nor one of an older date is given again; a stored key is
    for (const i of [0, 1, 3]) expect((await given(i)).status, `date ${i}`).toBe(401)
    expect((await given(4)).body).toEqual({ token: tokens[3] })
    await world.request('/v1/auth/token', {
      method: 'DELETE',
      headers: { 'x-auth-key': tokens[3]! },
    })
    for (let i = 1; i <= 2; i++) await given(MAX_SESSIONS_PER_WALLET + 3 + i)
    expect((await given(4)).status).toBe(401)
    const bytes = fromHex(wallet.address)
    const { rows } = await world.pool.query('SELECT FROM sessions WHERE substr(wallet, 2) = $1', [
      bytes,
    ])
    expect(rows.length).toBe(MAX_SESSIONS_PER_WALLET)
  })

  it('expires, and expired sessions are deleted', async () => {
    const { token } = (await exchange(await prove())).body
    await world.pool.query('UPDATE sessions SET expires_ms = $1', [Date.now() - 1])
    const before = await sessions()
    expect((await validate({ 'x-auth-key': token })).status).toBe(401)
    await exchange(await prove('solana'))
    expect(await sessions()).toBe(Math.max(1, before - 4 + 1))
  })

  it('expires by the database’s clock, not by the process’s clock', async () => {
    await world.pool.query('DELETE FROM sessions')
    const { token } = (await exchange(await prove())).body
    const before = await sessions()
    const now = Date.now
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 30 * 86_400_000)
    try {
      expect((await validate({ 'x-auth-key': token })).status).toBe(200)
      const other = await exchange(await prove('solana'))
      expect([other.status, await sessions()]).toEqual([200, before + 1])
    } finally {
      clock.mockRestore()
    }
    expect((await validate({ 'x-auth-key': token })).status).toBe(200)
    const { rows } = await world.pool.query('SELECT max(expires_ms)::float8 AS last FROM sessions')
    expect(rows[0].last).toBeLessThan(now() + 15 * 86_400_000)
  })

  it('is not given by a process whose clock is late for a signature that may be published by now', async () => {
    const now = Date.now
    const late = vi.spyOn(Date, 'now').mockImplementation(() => now() - EVIDENCE_PUBLISHED_AFTER_MS)
    try {
      const proof = await proofOf(world, privateKeyToAccount(generatePrivateKey()))
      expect(await exchange(proof)).toMatchObject({
        status: 401,
        body: { error: 'unauthorized', message: expect.stringContaining('too old') },
      })
    } finally {
      late.mockRestore()
    }
  })

  it('must be unique: a request with two different keys in headers of one name is refused', async () => {
    const { token } = (await exchange(await prove())).body
    const statusOf = (headers: readonly string[]) =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = request(
          `${world.url}/v1/auth/validate`,
          { headers: ['host', 'localhost', ...headers] },
          (response) => resolve(response.resume().statusCode),
        )
        sent.on('error', reject).end()
      })
    const bearer = (key: string) => ['Authorization', `Bearer ${key}`]
    const other = 'k'.repeat(43)
    expect(await statusOf([...bearer(token), ...bearer(token)])).toBe(200)
    expect(await statusOf([...bearer(token), ...bearer(other)])).toBe(400)
    expect(await statusOf([...bearer(other), ...bearer(token)])).toBe(400)
    expect(await statusOf(['X-AUTH-KEY', token, 'x-auth-key', other])).toBe(400)
  })

  describe('that is invalid, or sent with another one', () => {
    let token: string
    beforeAll(async () => {
      token = (await exchange(await prove())).body.token
    })

    it.each<[name: string, headers: () => Record<string, string>]>([
      ['no header', () => ({})],
      ['an empty Authorization', () => ({ authorization: '' })],
      ['the key undefined', () => ({ 'x-auth-key': 'undefined' })],
      ['Bearer without a key', () => ({ authorization: 'Bearer ' })],
      ['Authorization without Bearer', () => ({ authorization: token })],
      ['another scheme', () => ({ authorization: `Basic ${token}` })],
      ['a character more', () => ({ 'x-auth-key': `${token}x` })],
      ['a character less', () => ({ 'x-auth-key': token.slice(1) })],
      ['another case', () => ({ 'x-auth-key': token.toLowerCase() })],
      ['a long key', () => ({ 'x-auth-key': 'k'.repeat(4_000) })],
      ['bytes beside ASCII', () => ({ authorization: `Bearer ${'\u00ff'.repeat(43)}` })],
    ])('is refused: %s', async (_, headers) => {
      const reply = await validate(headers())
      expect(reply).toMatchObject({
        status: 401,
        body: { status: 401, error: 'unauthorized', isValid: false },
      })
      expect(reply.headers.get('www-authenticate')).toBe('Bearer')
    })

    it('is refused: two different keys', async () => {
      const two = { authorization: `Bearer ${token}`, 'x-auth-key': `${token.slice(1)}x` }
      expect(await validate(two)).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    })
  })
})

describe('a route with an optional key', () => {
  const path = `/v1/clusters/address/${account.address}`
  const validKey = async (): Promise<string> => (await exchange(await prove())).body.token

  it.each<[name: string, key: () => string | Promise<string>, control: string]>([
    ['an empty key', () => '', 'no-cache'],
    ['an unknown key', () => 'x'.repeat(43), 'no-cache'],
    ['a valid key', validKey, 'private, no-store'],
  ])(
    'answers as without one where the key is not valid, and has caches vary by it: %s',
    async (_, key, control) => {
      const { status, headers } = await world.request(path, {
        headers: { 'x-auth-key': await key() },
      })
      expect(status).toBe(404)
      expect(headers.get('vary')).toBe('Authorization, X-AUTH-KEY')
      expect(headers.get('cache-control')).toBe(control)
    },
  )

  it('refuses two keys', async () => {
    const two = { 'x-auth-key': await validKey(), authorization: 'Bearer other' }
    expect((await world.request(path, { headers: two })).status).toBe(400)
  })
})

describe('the log', () => {
  it('has no key, signature or wallet', async () => {
    const proof = await prove()
    const { token } = (await exchange(proof)).body
    await validate({ authorization: `Bearer ${token}` })
    await exchange({ ...proof, wallet: solana.address })
    const text = logged.join('')
    expect(text).toContain('/v1/auth/token')
    const { address } = account
    const secrets = {
      token,
      signature: proof.signature,
      address,
      lowerCase: address.toLowerCase(),
    }
    for (const [secret, value] of Object.entries(secrets)) expect(text, secret).not.toContain(value)
  })
})

describe('a session row that the service did not write', () => {
  const victim = fromHex(`0x01${privateKeyToAccount(generatePrivateKey()).address.slice(2)}`)
  const entries = async (): Promise<number> =>
    (await world.pool.query('SELECT 1 FROM journal')).rowCount!

  const change = (key: string): Promise<Reply> =>
    world.request('/v1/clusters/wallets', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify([{ address: `0x${randomBytes(20).toString('hex')}`, name: 'thief' }]),
    })

  /** A key of the account, whose row an intruder may change. */
  const openKey = async (): Promise<string> => (await exchange(await prove())).body.token
  const hashOf = (key: string) => createHash('sha256').update(key).digest()

  it.each<[string, () => Promise<string>]>([
    [
      'is made for another wallet',
      async () => {
        const key = randomBytes(32).toString('base64url')
        await world.pool.query(
          `INSERT INTO sessions (key_hash, wallet, signing_ms, signature, created_ms, expires_ms)
            VALUES ($1, $2, $3, '', $3, $3::int8 + 600000)`,
          [hashOf(key), victim, Date.now()],
        )
        return key
      },
    ],
    [
      'has another wallet since',
      async () => {
        const key = await openKey()
        await world.pool.query('UPDATE sessions SET wallet = $2 WHERE key_hash = $1', [
          hashOf(key),
          victim,
        ])
        return key
      },
    ],
    [
      'has another signing date since',
      async () => {
        const key = await openKey()
        await world.pool.query(
          'UPDATE sessions SET signing_ms = signing_ms + 1 WHERE key_hash = $1',
          [hashOf(key)],
        )
        return key
      },
    ],
  ])('opens nothing: it %s', async (_what, keyOf) => {
    const before = await entries()
    const key = await keyOf()
    expect(await change(key)).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    expect(await entries()).toBe(before)
    expect((await validate({ 'x-auth-key': key })).status).toBe(401)
    await world.pool.query('DELETE FROM sessions WHERE key_hash = $1', [hashOf(key)])
  })
})
