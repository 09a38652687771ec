import { expect, it } from 'vitest'
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
