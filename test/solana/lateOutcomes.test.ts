import { expect, it } from 'vitest'
import { keypairOfAccount } from '../../src/testing/solana/accounts.js'
import { useSolanaWorld } from './solanaWorld.js'
import { settle, without } from './support.js'

const world = await useSolanaWorld()

it('what became of a payment is read although a node listed its transaction late', async () => {
  let nowMs = Date.now()
  const payer = world.payer(0)
  const { terms, id } = world.quoted(payer.publicKey, 'given-back')
  await world.send(payer, world.registrar.register(terms, id))
  const watcher = await world.watcher({ nowMs: () => nowMs })
  await settle(watcher)
  const relay = keypairOfAccount(world.solana.relayAuthority)
  const key = { quoteId: id, payer: payer.publicKey, sequence: 1n }
  const hidden = await world.send(relay, world.registrar.refund(relay.publicKey, [key]))
  world.proxy.alter = without(hidden)
  await world.pay(payer, 'after')
  await settle(watcher)
  world.proxy.alter = null
  for (let i = 0; i < 3; i++) {
    nowMs += 60_000
    await settle(watcher)
  }
  const outcome = async () =>
    (await world.hub.pool.query('SELECT outcome FROM payments WHERE sequence = 1')).rows[0].outcome
  const seen = await outcome()
  await settle(await world.watcher({ nowMs: () => nowMs }))
  expect([seen, await outcome()]).toEqual([1, 1])
})
