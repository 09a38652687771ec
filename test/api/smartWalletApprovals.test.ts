import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { wrapSignature } from '../support/safe.js'
import {
  expectKey,
  expectRefused,
  hub,
  messageFor,
  newAccount,
  newNonce,
  plan,
  useSmartWalletWorld,
  world,
} from './smartWalletWorld.js'

useSmartWalletWorld()

/** Approvals on chain, and the nonce that they need. */

describe('a multisig that approved the message on its chain', () => {
  it.each([
    ['0x', '0x'],
    ['0X', '0X'],
    ['JSON', '{"signature":"0x"}'],
  ])('signs in with the empty signature as %s', async (_, signature) => {
    const safe = await plan()
    await hub.deploy(safe)
    const nonce = newNonce()
    const { message, signingDate } = await messageFor(safe.address, { nonce })
    expect(message).not.toContain(nonce)
    const proof = { type: 'evm', wallet: safe.address, signature, signingDate, nonce }
    await expectRefused(world.post('/v1/auth/token', proof))
    await hub.approve(safe, message)
    const token = await expectKey(world.post('/v1/auth/token', proof), safe)
    expect(await expectKey(world.post('/v1/auth/token', proof), safe)).toBe(token)
    // whoever saw the approval, and knows the date, does not know the nonce
    await expectRefused(world.post('/v1/auth/token', { ...proof, nonce: newNonce() }))
    for (const path of ['/v1/auth/token', '/v0.1/auth/token']) {
      const { status, body } = await world.post(path, { ...proof, nonce: undefined })
      expect([status, body.error]).toEqual([400, 'invalid_request'])
      expect(body.message).toContain('needs a nonce')
    }
    const date = new Date(Date.parse(signingDate) + 1).toISOString()
    await expectRefused(world.post('/v1/auth/token', { ...proof, signingDate: date }))
  })

  it('needs a nonce where the empty signature is wrapped, and where its message has none', async () => {
    const safe = await plan()
    await hub.deploy(safe)
    const { message, signingDate } = await messageFor(safe.address)
    await hub.approve(safe, message)
    const proof = { type: 'evm', wallet: safe.address, signingDate }
    for (const signature of ['0x', wrapSignature('0x', safe.deployment)]) {
      const reply = await world.post('/v1/auth/token', { ...proof, signature })
      expect(reply.body).toMatchObject({ status: 400, error: 'invalid_request' })
      await expectRefused(world.post('/v1/auth/token', { ...proof, signature, nonce: newNonce() }))
    }
  })

  it.each([
    ['without a nonce it is a 400', false],
    ['with one it opens a key', true],
  ])('is the same where an owner approved: %s', async (_, hasNonce) => {
    const safe = await plan()
    await hub.deploy(safe)
    const nonce = hasNonce ? newNonce() : undefined
    const { message, signingDate } = await messageFor(safe.address, { nonce })
    const signature = await hub.approveAsOwner(safe, message)
    const proof = { type: 'evm', wallet: safe.address, signature, signingDate, nonce }
    const reply = world.post('/v1/auth/token', proof)
    if (hasNonce) await expectKey(reply, safe)
    else expect((await reply).body).toMatchObject({ status: 400, error: 'invalid_request' })
  })

  it('signs in by the client, which sends the nonce', async () => {
    const safe = await plan()
    await hub.deploy(safe)
    const signMessage = async ({ message }: { message: string }): Promise<Hex> => {
      await hub.approve(safe, message)
      return '0x'
    }
    const wallet = { address: safe.address, signMessage }
    const client = new Client({ url: world.url })
    await expect(client.signIn(wallet)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(await client.signIn(wallet, { nonce: newNonce() })).toBe(client.token)
  })

  it('is another thing than an account without code, and than a text', async () => {
    const nonce = newNonce()
    const { signingDate } = await messageFor(newAccount().address)
    const proof = { type: 'evm', wallet: newAccount().address, signature: '0x', signingDate, nonce }
    await expectRefused(world.post('/v1/auth/token', proof))
    for (const signature of ['', '""', '{}', '0x0', 'x'])
      expect((await world.post('/v1/auth/token', { ...proof, signature })).status).toBe(400)
  })
})

describe('a nonce', () => {
  it('gives an account another text and another key of the same date, and the key stays valid', async () => {
    const account = newAccount()
    const nonce = newNonce()
    const { message, signingDate } = await messageFor(account.address, { nonce })
    const signature = await account.signMessage({ message })
    const proof = { type: 'evm', wallet: account.address, signature, signingDate }
    await expectRefused(world.post('/v1/auth/token', proof))
    const { body } = await world.post('/v1/auth/token', { ...proof, nonce })
    const headers = { authorization: `Bearer ${body.token}` }
    expect((await world.request('/v1/auth/validate', { headers })).status).toBe(200)
  })

  it.each(['x'.repeat(15), 'x'.repeat(65), `${'x'.repeat(16)}|`, `${'x'.repeat(16)}%0A`])(
    '%s is malformed',
    async (nonce) => {
      const account = newAccount()
      const query = `type=evm&wallet=${account.address}&nonce=${nonce}`
      const asked = await world.get(`/v1/auth/message?${query}`)
      const { message, signingDate } = await messageFor(account.address)
      const signature = await account.signMessage({ message })
      const proof = { type: 'evm', wallet: account.address, signature, signingDate }
      const sent = decodeURIComponent(nonce)
      const reply = await world.post('/v1/auth/token', { ...proof, nonce: sent })
      for (const { status, body } of [asked, reply])
        expect([status, body.error]).toEqual([400, 'invalid_request'])
    },
  )

  it('without a wallet is malformed', async () => {
    const { status, body } = await world.get(`/v1/auth/message?nonce=${newNonce()}`)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })
})
