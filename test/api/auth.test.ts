import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiWorld, startApi } from './support.js'

let world: ApiWorld
beforeAll(async () => {
  world = await startApi()
})
afterAll(() => world.stop())

const account = privateKeyToAccount(`0x${'4c'.repeat(32)}`)

async function signIn() {
  const { message, signingDate } = (await world.get('/v1/auth/message')).body
  const signature = await account.signMessage({ message })
  const proof = { signature, signingDate, type: 'evm', wallet: account.address }
  return { proof, reply: await world.post('/v1/auth/token', proof) }
}

describe('a key', () => {
  it('is exchanged, validated and revoked', async () => {
    const { proof, reply } = await signIn()
    expect(reply).toMatchObject({ status: 200, body: { token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) } })
    const { token } = reply.body
    const headers = { authorization: `Bearer ${token}` }
    const valid = { ...proof, wallet: account.address.toLowerCase(), isValid: true }
    expect(await world.request('/v1/auth/validate', { headers })).toMatchObject({ status: 200, body: valid })
    expect(
      await world.request('/v1/auth/validate', { method: 'POST', headers: { 'x-auth-key': token } }),
    ).toMatchObject({ status: 200, body: valid })
    expect((await world.post('/v1/auth/token', proof)).body).toEqual({ token })
    expect((await world.request('/v1/auth/token', { method: 'DELETE', headers })).body).toEqual({ success: true })
    expect(await world.request('/v1/auth/validate', { headers })).toMatchObject({
      status: 401,
      body: { isValid: false, error: 'unauthorized' },
    })
    expect((await world.post('/v1/auth/token', proof)).status).toBe(401)
    expect((await world.request('/v1/auth/token', { method: 'DELETE', headers })).status).toBe(401)
  })
})
