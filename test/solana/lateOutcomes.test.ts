import { expect, it } from 'vitest'
import type { PaymentWatcher } from '../../src/indexer/solana/watcher.js'
import { keypairOfAccount } from '../../src/testing/solana/accounts.js'
import { useSolanaWorld } from './solanaWorld.js'
import { settle, without } from './support.js'

const world = await useSolanaWorld()

/** Hides the transaction of an outcome from a watcher's lists, until it has read a later payment. */
async function missOutcome(watcher: PaymentWatcher, name: string): Promise<() => Promise<unknown>> {
  const payer = world.payer(0)
  const { terms, id } = world.quoted(payer.publicKey, name)
  await world.send(payer, world.registrar.register(terms, id))
  await settle(watcher)
  const sequence = (await world.rows()).length
  const relay = keypairOfAccount(world.solana.relayAuthority)
  const key = { quoteId: id, payer: payer.publicKey, sequence: BigInt(sequence) }
  world.proxy.alter = without(
    await world.send(relay, world.registrar.refund(relay.publicKey, [key])),
  )
  await world.pay(payer, `after-${name}`)
  await settle(watcher)
  world.proxy.alter = null
  return async () => {
    const sql = 'SELECT outcome FROM payments WHERE sequence = $1'
    return (await world.hub.pool.query(sql, [sequence])).rows[0].outcome
  }
}

const failure = { code: -32_603, message: 'Internal error' }
const isSearch = (method: string, [, options]: readonly unknown[]) =>
  method === 'getSignaturesForAddress' && !(options as { until?: string }).until

it.each([
  ['any step', () => true, 10_000],
  ['a search', isSearch, 31_000],
])(
  'an outcome that was listed late is read although %s fails every now and then',
  async (what, isFailing, everyMs) => {
    let nowMs = Date.now()
    const watcher = await world.watcher({ nowMs: () => nowMs })
    const outcome = await missOutcome(watcher, `late-${what.at(-1)}`)
    expect(await outcome()).toBeNull()
    let failures = 0
    for (let i = 0; i < 6; i++) {
      world.proxy.errorOf = (method, params) => (isFailing(method, params) ? failure : undefined)
      nowMs += everyMs
      await watcher.step().catch(() => failures++)
      world.proxy.errorOf = null
      nowMs += 6_000
      await watcher.step()
    }
    expect(failures).toBeGreaterThan(0)
    expect(await outcome()).toBe(1)
  },
)

it('missing payments raise the alarm although steps fail meanwhile', async () => {
  let nowMs = Date.now()
  const watcher = await world.watcher({ nowMs: () => nowMs })
  await settle(watcher)
  world.proxy.alter = without(await world.pay(world.payer(0), 'missed'))
  for (let i = 0; i < 3; i++) {
    expect(await watcher.step()).toMatchObject({ kind: 'missing', isAlarm: false })
    nowMs += 15_000
    world.proxy.errorOf = () => failure
    await expect(watcher.step()).rejects.toThrow('Internal error')
    world.proxy.errorOf = null
    nowMs += 6_000
  }
  expect(await watcher.step()).toMatchObject({ kind: 'missing', isAlarm: true })
  // the time for which they are missing begins anew with a clock that was set back
  nowMs -= 3_600_000
  expect(await watcher.step()).toMatchObject({ kind: 'missing', isAlarm: false })
  nowMs += 60_000
  expect(await watcher.step()).toMatchObject({ kind: 'missing', isAlarm: true })
  world.proxy.alter = null
  nowMs += 6_000
  expect((await settle(watcher)).at(-1)).toMatchObject({ kind: 'idle' })
})

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
