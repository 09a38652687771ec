import { expect, it } from 'vitest'
import { readTransaction } from './reads.js'
import { createRegistrar } from './registrar.js'

const registrar = createRegistrar('11111111111111111111111111111111')
const meta = { err: null, logMessages: [], innerInstructions: [] }
const answering =
  (signature: string) =>
  async <T>(): Promise<T> =>
    ({ slot: 7, blockTime: 1, meta, transaction: { signatures: [signature], message: EMPTY } }) as T
const EMPTY = { accountKeys: [], instructions: [] }

it('takes no other transaction for the one that was asked for', async () => {
  const found = await readTransaction(answering('mine'), registrar, 'mine', 'confirmed')
  expect(found).toMatchObject({ signature: 'mine', slot: 7 })
  await expect(readTransaction(answering('another'), registrar, 'mine', 'confirmed')).rejects.toMatchObject({
    fault: 'transient',
    message: 'getTransaction: asked for mine, got another',
  })
})
