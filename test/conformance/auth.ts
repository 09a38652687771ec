import assert from 'node:assert/strict'
import { z } from 'zod'
import { fieldRows, type Row, row } from './row.js'
import { authKey, bearer, ok, signIn, type Target } from './target.js'

/** Sections 2.7 and 5. Signing in changes nothing in public, so these rows count as reads. */

const visitor = (target: Target) => target.once('visitor', () => signIn(target))

async function checkMessage(target: Target, path: string): Promise<void> {
  const { message, signingDate } = ok(await target.get(path))
  assert.equal(new Date(signingDate).toISOString(), signingDate)
  assert.ok(message.endsWith(signingDate))
}

export const authRows: readonly Row[] = [
  ...fieldRows('2.7 message', async (target) => ok(await target.get('/v1/auth/message')), {
    message: z.string().min(1),
    signingDate: z.iso.datetime({ precision: 3 }),
  }),
  ...fieldRows(
    '2.7 key',
    async (target) => ok(await target.post('/v1/auth/token', (await visitor(target)).proof)),
    {
      token: z.string().min(16),
    },
  ),
  ...fieldRows(
    '2.7 validation',
    async (target) => ok(await target.get('/v1/auth/validate', bearer(await visitor(target)))),
    {
      signature: z.string().min(1),
      signingDate: z.iso.datetime({ precision: 3 }),
      type: z.literal('evm'),
      wallet: z.string().regex(/^0x[0-9a-f]{40}$/),
      isValid: z.literal(true),
    },
  ),
  row('5.1', 'GET /v1/auth/message', (target) => checkMessage(target, '/v1/auth/message')),
  row('5.1', 'POST /v1/auth/token', async (target) => {
    const { proof, key } = await visitor(target)
    assert.deepEqual(ok(await target.post('/v1/auth/token', proof)), { token: key })
    const forged = { ...proof, wallet: `0x${'11'.repeat(20)}` }
    assert.equal((await target.post('/v1/auth/token', forged)).status, 401)
  }),
  row('5.1', 'GET /v1/auth/validate', async (target) => {
    const { proof, address, ...session } = await visitor(target)
    const { signature, signingDate } = proof
    const expected = { signature, signingDate, type: 'evm', wallet: address, isValid: true }
    for (const headers of [bearer(session), authKey(session)]) {
      assert.deepEqual(ok(await target.get('/v1/auth/validate', headers)), expected)
      assert.deepEqual(ok(await target.post('/v1/auth/validate', undefined, headers)), expected)
    }
    const invalid = await target.get('/v1/auth/validate', bearer({ key: 'nobodys' }))
    assert.deepEqual([invalid.status, invalid.body.isValid], [401, false])
  }),
  row('5.2', 'GET /v0.1/auth/message', (target) => checkMessage(target, '/v0.1/auth/message')),
  row('5.2', 'POST /v0.1/auth/token', async (target) => {
    const { proof, key } = await visitor(target)
    for (const path of ['/v0.1/auth/token', '/v0.1/auth/key']) {
      const answer = ok(await target.post(path, proof))
      assert.deepEqual(answer, { authenticationKey: key, token: key, isValid: true })
    }
  }),
  row('5.2', 'POST /v0.1/auth/validate', async (target) => {
    const session = await visitor(target)
    const answer = ok(await target.post('/v0.1/auth/validate', undefined, authKey(session)))
    assert.deepEqual([answer.wallet, answer.isValid], [session.address, true])
  }),
]
