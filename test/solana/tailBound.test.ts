import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { useSolanaWorld } from './solanaWorld.js'
import { settle } from './support.js'

/** What is finalized for longer than this is nobody's tail. */
const LATER_SLOTS = 200

const world = await useSolanaWorld()

it('a node that does not know the newest signature has no history of the program read as its tail', async () => {
  const { connection, proxy, registrar } = world
  for (const name of ['old-a', 'old-b', 'old-c']) await world.pay(world.payer(0), name)
  const slot = await connection.getSlot('confirmed')
  const watcher = await world.watcher({ commitment: 'finalized' })
  while ((await connection.getSlot('finalized')) < slot + LATER_SLOTS) await sleep(100)
  await settle(watcher)
  expect((await world.rows()).map(({ confirmed }) => confirmed)).toEqual([true, true, true])
  // as of a node that is behind: it goes on to the oldest transaction that it knows
  const all = await connection.getSignaturesForAddress(registrar.programId, {}, 'confirmed')
  proxy.alter = (method, params, result) => {
    const options = params.at(-1) as { commitment?: string; before?: string }
    if (method !== 'getSignaturesForAddress' || options.commitment !== 'confirmed') return result
    return options.before ? [] : all
  }
  const read = () => proxy.counts.get('getTransaction') ?? 0
  const before = read()
  await watcher.step()
  expect(read()).toBe(before)
})
