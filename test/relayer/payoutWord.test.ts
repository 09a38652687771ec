import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PaymentWorld, startPaymentWorld } from './paymentWorld.js'

const [SETTLE, CONFIRMED] = [6, 4]

let world: PaymentWorld
beforeAll(async () => {
  world = await startPaymentWorld()
})
afterAll(() => world?.stop())

it('a settlement is not done by one answer of a node that took it for another', async () => {
  const paid = await world.pay('one-word')
  await world.deliver()
  let isLying = true
  const payer = await world.restart({
    signer: world.signerWith({
      // the transaction is lost on its way, and the node gives the statuses of another question, once
      send: async (raw) => (isLying ? null : world.signer.send(raw)),
      async statuses(asked) {
        const now = await world.signer.statuses(asked)
        if (!isLying) return now
        isLying = false
        return { ...now, statuses: asked.map(() => ({ isConfirmed: true, error: null })) }
      },
    }),
  })
  await world.finish(payer)
  expect(isLying).toBe(false)
  expect(await world.payout(paid)).toMatchObject({ kind: SETTLE, state: CONFIRMED })
  // the job is done, so the money has to be kept: the payer would take it back after a week, beside the name
  expect(await world.closings(paid)).toBe(1)
})

it('a step shows life after each transaction: a cluster that hangs takes a while for each', async () => {
  await world.pay('alive')
  await world.deliver()
  let beats = 0
  const payer = await world.restart()
  await payer.step(() => {
    beats += 1
  })
  expect(beats).toBeGreaterThan(0)
})
