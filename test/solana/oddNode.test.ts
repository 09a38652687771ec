import bs58 from 'bs58'
import { expect, it } from 'vitest'
import { useSolanaWorld } from './solanaWorld.js'
import { heldFor, notFinalized, settle, withState } from './support.js'

/** Wrong answers of one node. Payments are accepted for good, so where two nodes answer, both have to show them. */

const WAIT = { timeout: 20_000, interval: 100 }

const world = await useSolanaWorld()

/** The transaction as of a node that has lost what it did. */
const withoutEvents = <T extends { meta: object }>(tx: T) => ({
  ...tx,
  meta: { ...tx.meta, innerInstructions: [] },
})

/** The signature of no transaction. */
const NOTHING = bs58.encode(Buffer.alloc(64, 7))

const names = async () => (await world.rows()).map(({ name }) => name)
const refusing =
  (signature: string, code: number) => (method: string, params: readonly unknown[]) =>
    method === 'getTransaction' && params[0] === signature
      ? { code, message: 'method not found' }
      : undefined

it('a version that a node says once that it does not know hides no payment behind which others came', async () => {
  let nowMs = Date.now()
  const watcher = await world.watcher({ nowMs: () => nowMs })
  await settle(watcher)
  const odd = await world.pay(world.payer(0), 'odd')
  await world.pay(world.payer(0), 'next')
  world.proxy.errorOf = refusing(odd, -32_015)
  await settle(watcher)
  expect(await names()).toEqual(['next'])
  world.proxy.errorOf = null
  nowMs += 6_000
  await settle(watcher)
  expect(await names()).toEqual(['odd', 'next'])
})

it('a node that refuses for another reason is waited for: nothing counts as read', async () => {
  const watcher = await world.watcher()
  await settle(watcher)
  const before = await names()
  const refused = await world.pay(world.payer(0), 'refused')
  world.proxy.errorOf = refusing(refused, -32_601)
  await expect(watcher.step()).rejects.toThrow(
    /no RPC URL answers \(getTransaction: method not found\)/,
  )
  world.proxy.errorOf = null
  await new Promise((resolve) => setTimeout(resolve, 300))
  await settle(watcher)
  expect(await names()).toEqual([...before, 'refused'])
})

it('a version that no node knows stops nothing before it is finalized, either', async () => {
  const watcher = await world.watcher({ commitment: 'finalized' })
  await settle(watcher)
  const slot = await world.connection.getSlot('confirmed')
  const known = (await names()).length
  const odd = await world.pay(world.payer(0), 'unknown-version')
  await world.pay(world.payer(0), 'of-the-tail')
  world.proxy.alter = notFinalized(slot, known)
  world.proxy.errorOf = refusing(odd, -32_015)
  expect(await watcher.step()).toEqual({ kind: 'idle', unconfirmed: 1 })
})

/** A watcher over the proxy, which may say otherwise, and the cluster itself. */
async function besideAnother(nowMs = Date.now, urls = [world.proxy.url, world.solana.rpcUrl]) {
  const { rpc } = (await world.open({ rpcUrls: urls })).chain
  return world.watcher({ rpc, nowMs })
}

it.each<[string, string, (result: unknown, slot: number) => unknown]>([
  ['no list', 'getSignaturesForAddress', () => null],
  ['no account', 'getAccountInfo', () => ({})],
  ['an absurd time', 'getAccountInfo', heldFor(1n << 40n)],
  ['no state', 'getAccountInfo', (result) => withState(result, (data) => data.fill(7))],
  [
    'what is no signature',
    'getSignaturesForAddress',
    (result, slot) => [{ signature: 'none', slot, err: null }, ...(result as object[])],
  ],
  [
    'what none has',
    'getSignaturesForAddress',
    (result, slot) => [...(result as object[]), { signature: NOTHING, slot, err: null }],
  ],
])(
  'a node that gives %s is passed over for one whose answers can be read',
  async (what, method, answer) => {
    // two of three agree, so one that can't be read is passed over
    const { rpcUrl } = world.solana
    const watcher = await besideAnother(Date.now, [world.proxy.url, rpcUrl, `${rpcUrl}/?again`])
    const slot = await world.connection.getSlot()
    const name = `beside-${what.replaceAll(' ', '-')}`
    await world.pay(world.payer(0), name)
    world.proxy.alter = (asked, _, result) => (asked === method ? answer(result, slot) : result)
    await settle(watcher)
    expect((await names()).at(-1)).toBe(name)
  },
)

it('a node that lists thousands of transactions which no node has, and hides a payment, delays the payment little', async () => {
  const { rpcUrl } = world.solana
  const watcher = await besideAnother(Date.now, [world.proxy.url, rpcUrl, `${rpcUrl}/?again`])
  await settle(watcher)
  const slot = await world.connection.getSlot()
  const inventedPage = (page: number) =>
    Array.from({ length: 1_000 }, (_, i) => {
      const bytes = Buffer.alloc(64, 9)
      bytes.writeUInt32BE(1_000 * page + i)
      return { signature: bs58.encode(bytes), slot, err: null }
    })
  await world.pay(world.payer(0), 'listed-by-one')
  let read = 0
  let pages = 0
  world.proxy.alter = (method, [, options], result) => {
    if (method === 'getTransaction') read += 1
    if (method !== 'getSignaturesForAddress') return result
    if (!(options as { before?: string }).before) pages = 0
    return pages < 5 ? inventedPage(pages++) : []
  }
  const cursorSlot = async () =>
    (await world.hub.pool.query('SELECT slot FROM payment_cursors')).rows[0]?.slot
  const before = await cursorSlot()
  const { payments } = (await watcher.step()) as { payments: number }
  // a transaction that was left out must not be passed
  expect(await cursorSlot()).toBe(before)
  expect(payments).toBe(1)
  expect((await names()).at(-1)).toBe('listed-by-one')
  expect(read).toBeLessThan(2_500)
})

it('a payment is not dated by the word of one node about the program, where there is another', async () => {
  const watcher = await besideAnother()
  world.proxy.alter = (asked, _, result) =>
    asked === 'getAccountInfo' ? heldFor(86_400n)(result) : result
  await world.pay(world.payer(0), 'dated')
  await expect(watcher.step()).rejects.toThrow('contradict')
  world.proxy.alter = null
  await settle(watcher)
  expect(Math.abs((await world.rows()).at(-1)!.paid_ms - Date.now())).toBeLessThan(60_000)
})

it('a payment that one odd answer left out is read again after a while, without a restart', async () => {
  let nowMs = Date.now()
  const watcher = await world.watcher({ nowMs: () => nowMs })
  await settle(watcher)
  const odd = await world.pay(world.payer(0), 'left-out')
  await world.pay(world.payer(0), 'behind-it')
  world.proxy.alter = (method, [signature], result) =>
    method === 'getTransaction' && signature === odd
      ? withoutEvents(result as { meta: object })
      : result
  expect((await settle(watcher)).at(-1)).toMatchObject({ kind: 'missing' })
  expect((await names()).at(-1)).toBe('behind-it')
  world.proxy.alter = null
  for (let i = 0; i < 13; i++) {
    nowMs += 6_000
    await settle(watcher)
  }
  expect((await names()).slice(-2)).toEqual(['left-out', 'behind-it'])
  expect((await settle(watcher)).at(-1)).toMatchObject({ kind: 'idle' })
})

it('one odd slot of a transaction does not hide all later payments', async () => {
  let isLying = true
  const odd = await world.pay(world.payer(0), 'odd-slot')
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
  expect((await names()).slice(-2)).toEqual(['odd-slot', 'later'])
})

it('nor does a transaction that one node alone has made up, in a slot that never comes', async () => {
  const signature = NOTHING
  const slot = 2 ** 40
  const message = { accountKeys: [world.registrar.id] }
  world.proxy.alter = (method, [asked, options], result) => {
    if (method === 'getSignaturesForAddress' && !(options as { before?: string }).before)
      return [{ signature, slot, err: null }, ...(result as object[])]
    if (method !== 'getTransaction' || asked !== signature) return result
    const transaction = { signatures: [signature], message }
    return { slot, meta: { err: null, innerInstructions: [] }, transaction }
  }
  const watcher = await besideAnother()
  for (let i = 0; i < 2; i++) await expect(watcher.step()).rejects.toThrow(signature)
  world.proxy.alter = null
  const { rows } = await world.hub.pool.query('SELECT slot FROM payment_cursors')
  expect(Number(rows[0].slot)).toBeLessThan(slot)
  await world.pay(world.payer(0), 'after-it')
  await settle(await besideAnother())
  expect((await names()).at(-1)).toBe('after-it')
})

it('a cursor that one node had set to such a slot hides nothing new', async () => {
  const { rows } = await world.hub.pool.query('SELECT slot FROM payment_cursors')
  await world.hub.pool.query('UPDATE payment_cursors SET slot = $1', [2 ** 40])
  await world.pay(world.payer(0), 'in-spite-of-it')
  await settle(await world.watcher())
  expect((await names()).at(-1)).toBe('in-spite-of-it')
  await world.hub.pool.query('UPDATE payment_cursors SET slot = $1', [rows[0].slot])
})

it('a transaction has not failed for good by the word of one node, where there is another', async () => {
  const { chain } = await world.open({ rpcUrls: [world.proxy.url, world.solana.rpcUrl] })
  const signature = await world.pay(world.payer(1), 'one-word')
  let hasLied = false
  world.proxy.alter = (method, _, result) => {
    if (method !== 'getSignatureStatuses' || hasLied) return result
    hasLied = true
    const { value, ...rest } = result as { value: object[] }
    return {
      ...rest,
      value: value.map((status) => ({ ...status, err: { InstructionError: [0, 'InvalidSeeds'] } })),
    }
  }
  expect(await chain.transaction(signature)).toMatchObject({ state: 'mined', succeeded: true })
  expect(hasLied).toBe(true)
})

/** A watcher over the cluster itself and over the proxy, which may say otherwise. */
async function twoNodes() {
  let nowMs = Date.now()
  const watcher = await besideAnother(() => nowMs, [world.solana.rpcUrl, world.proxy.url])
  await settle(watcher)
  const settled = async () => {
    // payments that are missing are read anew after a while
    nowMs += 6_000
    await settle(watcher).catch(() => {})
    return names()
  }
  return { watcher, settled }
}

it('a payment that one of two nodes does not show waits until they agree', async () => {
  const { watcher, settled } = await twoNodes()
  const odd = await world.pay(world.payer(0), 'of-one')
  world.proxy.alter = (method, [signature], result) =>
    method === 'getTransaction' && signature === odd
      ? withoutEvents(result as { meta: object })
      : result
  await expect(settle(watcher)).rejects.toThrow(odd)
  // then neither of them is accepted alone
  await expect(settle(watcher)).rejects.toThrow(odd)
  expect(await names()).not.toContain('of-one')
  world.proxy.alter = null
  await expect.poll(settled, WAIT).toContain('of-one')
})

it('a node that comes after the other one is waited for', async () => {
  const { watcher } = await twoNodes()
  const late = await world.pay(world.payer(0), 'late')
  let looks = 0
  world.proxy.alter = (method, [signature], result) =>
    method === 'getTransaction' && signature === late && looks++ < 2 ? null : result
  await expect.poll(() => settle(watcher).then(names, names), WAIT).toContain('late')
  expect(looks).toBeGreaterThan(2)
})
