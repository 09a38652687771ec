import { expect, it } from 'vitest'
import { useSolanaWorld } from './solanaWorld.js'
import { settle } from './support.js'

/** Payments are believed for ever: of two nodes that answer, both have to show them. */

const WAIT = { timeout: 20_000, interval: 100 }

const world = await useSolanaWorld()

/** A watcher over the cluster itself and over the proxy, which may say otherwise. */
async function twoNodes() {
  const { rpc } = (await world.open({ rpcUrls: [world.solana.rpcUrl, world.proxy.url] })).chain
  let nowMs = Date.now()
  const watcher = await world.watcher({ rpc, nowMs: () => nowMs })
  await settle(watcher)
  const names = async () => (await world.rows()).map(({ name }) => name)
  const settled = async () => {
    // payments that are missing are read anew after a while
    nowMs += 6_000
    await settle(watcher).catch(() => {})
    return names()
  }
  return { watcher, names, settled }
}

it('a payment that one of two nodes does not show waits until they agree', async () => {
  const { watcher, names, settled } = await twoNodes()
  const odd = await world.pay(world.payer(0), 'odd')
  world.proxy.alter = (method, [signature], result) =>
    method === 'getTransaction' && signature === odd ? without(result as { meta: object }) : result
  await expect(settle(watcher)).rejects.toThrow(odd)
  // nor is one of them believed alone then
  await expect(settle(watcher)).rejects.toThrow(odd)
  expect(await names()).toEqual([])
  world.proxy.alter = null
  await expect.poll(settled, WAIT).toEqual(['odd'])
})

/** The transaction as of a node that has lost what it did. */
const without = <T extends { meta: object }>(tx: T) => ({ ...tx, meta: { ...tx.meta, innerInstructions: [] } })

it('a node that comes after the other one is waited for', async () => {
  const { watcher, names } = await twoNodes()
  const late = await world.pay(world.payer(0), 'late')
  let looks = 0
  world.proxy.alter = (method, [signature], result) =>
    method === 'getTransaction' && signature === late && looks++ < 2 ? null : result
  await expect.poll(() => settle(watcher).then(names, names), WAIT).toContain('late')
  expect(looks).toBeGreaterThan(2)
})
