import bs58 from 'bs58'
import { expect, it } from 'vitest'
import { useSolanaWorld } from './solanaWorld.js'
import { settle } from './support.js'

const world = await useSolanaWorld()

it('one odd slot of a transaction does not hide all later payments', async () => {
  let isLying = true
  const odd = await world.pay(world.payer(0), 'odd')
  world.proxy.alter = (method, [signature], result) => {
    if (method !== 'getTransaction' || signature !== odd || !isLying) return result
    isLying = false
    return { ...(result as object), slot: 2 ** 40 }
  }
  const watcher = await world.watcher()
  for (let i = 0; i < 5; i++) await watcher.step().catch(() => {})
  expect(isLying).toBe(false)
  await world.pay(world.payer(0), 'later')
  let nowMs = Date.now()
  const again = await world.watcher({ nowMs: () => nowMs })
  for (let i = 0; i < 10; i++) {
    nowMs += 10_000
    await settle(again)
  }
  expect((await world.rows()).map(({ name }) => name)).toEqual(['odd', 'later'])
})

it('nor does a transaction that one node alone has made up, in a slot that never comes', async () => {
  const { rpc } = (await world.open({ rpcUrls: [world.proxy.url, world.solana.rpcUrl] })).chain
  const [signature, slot] = [bs58.encode(Buffer.alloc(64, 7)), 2 ** 40]
  const message = { accountKeys: [world.registrar.id] }
  world.proxy.alter = (method, [asked, options], result) => {
    if (method === 'getSignaturesForAddress' && !(options as { before?: string }).before)
      return [{ signature, slot, err: null }, ...(result as object[])]
    if (method !== 'getTransaction' || asked !== signature) return result
    const transaction = { signatures: [signature], message }
    return { slot, blockTime: null, meta: { err: null, innerInstructions: [] }, transaction }
  }
  const watcher = await world.watcher({ rpc })
  for (let i = 0; i < 2; i++) await expect(watcher.step()).rejects.toThrow(signature)
  world.proxy.alter = null
  const { rows } = await world.hub.pool.query('SELECT slot FROM payment_cursors')
  expect(Number(rows[0].slot)).toBeLessThan(slot)
  await world.pay(world.payer(0), 'after-it')
  await settle(await world.watcher({ rpc }))
  expect((await world.rows()).at(-1)?.name).toBe('after-it')
})

it('a cursor that one node had set to such a slot hides nothing new', async () => {
  const { rows } = await world.hub.pool.query('SELECT slot FROM payment_cursors')
  await world.hub.pool.query('UPDATE payment_cursors SET slot = $1', [2 ** 40])
  await world.pay(world.payer(0), 'in-spite-of-it')
  await settle(await world.watcher())
  expect((await world.rows()).at(-1)?.name).toBe('in-spite-of-it')
  await world.hub.pool.query('UPDATE payment_cursors SET slot = $1', [rows[0].slot])
})
