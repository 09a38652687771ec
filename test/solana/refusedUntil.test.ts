import { expect, it } from 'vitest'
import { useSolanaWorld } from './solanaWorld.js'
import { notFinalized, settle } from './support.js'

/** Nodes that refuse the newest known signature (`until`) of a list, as Agave 4 does for one that it has pruned. */

const world = await useSolanaWorld()

interface ListOptions {
  until?: string
  before?: string
}

const names = async () => (await world.rows()).map(({ name }) => name)
const refusal = { code: -32_020, message: 'Transaction not found' }

/** A node that refuses `until` where `isRefused` says so. @returns the requests for lists */
function refuseUntil(isRefused: (options: ListOptions) => boolean = () => true): ListOptions[] {
  const lists: ListOptions[] = []
  world.proxy.errorOf = (method, params) => {
    if (method !== 'getSignaturesForAddress') return undefined
    const options = params[1] as ListOptions
    lists.push(options)
    return options.until && isRefused(options) ? refusal : undefined
  }
  return lists
}

it('a watcher that starts at a cursor that its node has pruned goes on', async () => {
  await world.pay(world.payer(0), 'first')
  await settle(await world.watcher())
  await world.pay(world.payer(0), 'second')
  refuseUntil()
  const watcher = await world.watcher()
  expect(await watcher.step()).toMatchObject({ kind: 'took' })
  expect(watcher.state).toMatchObject({ lastError: null, errorAlarm: null })
  expect(await names()).toEqual(['first', 'second'])
})

it('a signature that the node prunes while the watcher runs stops nothing, and is refused once', async () => {
  const watcher = await world.watcher()
  await settle(watcher)
  const lists = refuseUntil()
  world.proxy.alter = (method, _, result) => (method === 'getSignaturesForAddress' ? [] : result)
  for (let i = 0; i < 3; i++) expect(await watcher.step()).toMatchObject({ kind: 'idle' })
  expect(lists.filter(({ until }) => until)).toHaveLength(1)
  world.proxy.alter = null
  await world.pay(world.payer(0), 'third')
  expect(await watcher.step()).toMatchObject({ kind: 'took' })
  expect((await names()).at(-1)).toBe('third')
})

it('a node that refuses it on a later page lists all payments', async () => {
  const watcher = await world.watcher()
  await settle(watcher)
  await world.pay(world.payer(0), 'later-a')
  await world.pay(world.payer(0), 'later-b')
  const lists = refuseUntil(({ before }) => before !== undefined)
  world.proxy.alter = (method, _, result) =>
    method === 'getSignaturesForAddress' ? (result as object[]).slice(0, 1) : result
  expect(await watcher.step()).toMatchObject({ kind: 'took' })
  expect((await names()).slice(-2)).toEqual(['later-a', 'later-b'])
  const refused = lists.find(({ until, before }) => until && before)!
  expect(lists).toContainEqual(
    expect.not.objectContaining({ until: expect.anything(), before: refused.before }),
  )
})

it('unconfirmed payments are listed by such a node, too, and confirmed ones stay confirmed', async () => {
  const watcher = await world.watcher({ commitment: 'finalized' })
  await settle(watcher)
  const known = await names()
  const slot = await world.connection.getSlot('confirmed')
  world.proxy.alter = notFinalized(slot, known.length)
  await world.pay(world.payer(0), 'unconfirmed')
  refuseUntil()
  expect((await settle(watcher)).at(-1)).toMatchObject({ kind: 'idle' })
  const shown = (await world.rows()).map(({ name, confirmed }) => ({ name, confirmed }))
  expect(shown).toEqual([
    ...known.map((name) => ({ name, confirmed: true })),
    { name: 'unconfirmed', confirmed: false },
  ])
})
