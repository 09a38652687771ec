import { expect, it } from 'vitest'
import { NodeError, RpcError } from '../rpc/errors.js'
import type { RpcCall } from '../rpc/nodes.js'
import { readTransaction } from './reads.js'
import { createRegistrarClient } from './registrar.js'

const registrar = createRegistrarClient('11111111111111111111111111111111')
const meta = { err: null, logMessages: [], innerInstructions: [] }
const answering =
  (signature: string) =>
  async <T>(): Promise<T> =>
    ({ slot: 7, meta, transaction: { signatures: [signature], message: EMPTY } }) as T
const EMPTY = { accountKeys: [], instructions: [] }

it('refuses an answer with another transaction than the requested one', async () => {
  const found = await readTransaction(answering('mine'), registrar, 'mine', 'confirmed')
  expect(found).toMatchObject({ signature: 'mine', slot: 7 })
  await expect(
    readTransaction(answering('another'), registrar, 'mine', 'confirmed'),
  ).rejects.toMatchObject({
    fault: 'transient',
    message: 'getTransaction: asked for mine, got another',
  })
})

// errors of providers: the plan does not have the method, or the parameters are not supported
it.each([-32_601, -32_602, -32_013])(
  'waits for a node that refuses to show a transaction by %d: another node may show it',
  async (code) => {
    const cause = new NodeError({ code, message: 'method not found' })
    const refusing: RpcCall = async () =>
      Promise.reject(new RpcError('refused', cause.message, null, { cause }))
    const read = readTransaction(refusing, registrar, 'mine', 'confirmed')
    await expect(read).rejects.toMatchObject({ fault: 'transient' })
  },
)
