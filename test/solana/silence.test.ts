import { afterEach, describe, expect, it } from 'vitest'
import type { PaymentWatcher } from '../../src/indexer/solana/watcher.js'
import { chainProblem } from '../../src/ops/chainState.js'
import { integerBetween, pickElement } from '../../src/testing/faultProxy/random.js'
import { seededRandomSequence } from '../support/random.js'
import { type Alter, type SolanaProxy, startSolanaProxy } from './solanaProxy.js'
import { useSolanaWorld } from './solanaWorld.js'
import { renaming, settle, without, withState } from './support.js'

/** A node that shows payments nobody made, or hides some, beside an honest one that falters. */

/** Runs of a liar beside a node that falters: `SOLANA_FALTERS=20` for a long one, `FALTER_SEED` for the same again. */
const RUNS = Number(process.env.SOLANA_FALTERS ?? 2)
const SEED = Number(process.env.FALTER_SEED ?? 22)
/** Time within which the service goes on after the honest node's return. */
const WAIT = { timeout: 10_000 }
/** Slots after which a search has to list a transaction, with room. */
const SETTLED_SLOTS = 100

const world = await useSolanaWorld()
const liar = world.proxy
const proxies: SolanaProxy[] = []
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.stop()
})

const hostOf = ({ url }: { url: string }) => new URL(url).host

async function another(): Promise<SolanaProxy> {
  const proxy = await startSolanaProxy(world.solana.rpcUrl)
  proxies.push(proxy)
  return proxy
}

/** A watcher over nodes, with a clock of the test's. */
async function watch(nodes: readonly SolanaProxy[]) {
  const clock = { aheadMs: 0 }
  const { rpc } = (await world.open({ rpcUrls: nodes.map(({ url }) => url) })).chain
  const watching = await world.watcher({ rpc, nowMs: () => Date.now() + clock.aheadMs })
  await settle(watching)
  return { watching, rpc, clock }
}

let made = 0
/** A name that no other test pays for, and the one that a liar shows in its place. */
const newName = () => {
  made += 1
  return { name: `true-${made}`, forged: `fake-${made}` }
}

const names = async () => (await world.rows()).map(({ name }) => name)
const tryStep = async (watching: PaymentWatcher) => {
  await watching.step().catch(() => {})
  return names()
}
const problemOf = ({ state }: PaymentWatcher) => chainProblem(state, Date.now())

/** Answers about the program's state with more payments for names, or fewer. */
const counting =
  (more: number): Alter =>
  (method, _, result) =>
    method === 'getAccountInfo'
      ? withState(result, (data) =>
          data.writeBigUInt64LE(data.readBigUInt64LE(136) + BigInt(more), 136),
        )
      : result

const both =
  (first: Alter, second: Alter): Alter =>
  (method, params, result) =>
    second(method, params, first(method, params, result))

const ofTransactions =
  (code: number, message: string, times = 1_000): NonNullable<SolanaProxy['errorOf']> =>
  (method) => {
    if (method !== 'getTransaction' || times <= 0) return undefined
    times -= 1
    return { code, message }
  }

/** Reasons of an honest second node to give no answer. */
const FAULTS: Record<string, () => NonNullable<SolanaProxy['errorOf']>> = {
  'fails once': () => ofTransactions(-32_000, 'Internal error', 1),
  'always fails': () => ofTransactions(-32_603, 'Internal error'),
  'is rate limited once': () => ofTransactions(429, 'Too many requests', 1),
  'is rate limited': () => () => ({ code: 429, message: 'Too many requests' }),
  'is behind': () => ofTransactions(-32_005, 'Node is behind by 42 slots'),
  'refuses by its plan': () =>
    ofTransactions(-32_601, 'method getTransaction is not available on your plan'),
  'knows no such version': () =>
    ofTransactions(-32_015, 'Transaction version (0) is not supported'),
  'refuses slots by its plan': () => (method) =>
    method === 'getSlot'
      ? { code: -32_601, message: 'the method is not available on your plan' }
      : undefined,
  'gives no list': () => (method) =>
    method === 'getSignaturesForAddress'
      ? { code: -32_004, message: 'Block not available for slot' }
      : undefined,
  'closes connections': () => () => {
    throw new Error('closed')
  },
  hangs: () => () => new Promise(() => {}),
}

describe.each(Object.entries(FAULTS))('beside a second node that %s', (_, fault) => {
  it('a payment of another name never enters, the nodes are named, and the honest node’s return is enough', async () => {
    const honest = await another()
    const { watching } = await watch([liar, honest])
    const { name, forged } = newName()
    liar.alter = renaming(name, forged)
    honest.errorOf = fault()
    await world.pay(world.payer(0), name)
    for (let i = 0; i < 3; i++) expect(await tryStep(watching)).not.toContain(forged)
    expect(await names()).not.toContain(name)
    expect(problemOf(watching)).toMatchObject({
      alarm: expect.stringMatching(/^ClusterdRpc(Contradiction|Silent)$/),
      text: expect.stringContaining(hostOf(honest)),
    })
    liar.alter = null
    honest.errorOf = null
    await expect.poll(() => tryStep(watching), WAIT).toContain(name)
    await settle(watching)
    expect(watching.state).toMatchObject({ trust: 'compared', trustNodes: 2, lastError: null })
    expect(await names()).not.toContain(forged)
  })
})

it('a pruned node has not answered, is named with what it keeps, and the payment waits for it', async () => {
  const pruned = await another()
  const { watching } = await watch([liar, pruned])
  const { name } = newName()
  await world.pay(world.payer(0), name)
  pruned.alter = (method, _, result) => {
    if (method === 'getFirstAvailableBlock') return 2 ** 40
    return method === 'getTransaction' ? null : result
  }
  expect(await tryStep(watching)).not.toContain(name)
  expect(problemOf(watching)).toMatchObject({
    alarm: 'ClusterdRpcSilent',
    text: expect.stringMatching(`${hostOf(pruned)} .*has pruned slot`),
  })
  pruned.alter = null
  await expect.poll(() => tryStep(watching), WAIT).toContain(name)
})

it('a balancer whose backends differ in height leaves nothing out', async () => {
  const balancer = await another()
  const { watching } = await watch([balancer, liar])
  const slot = await world.connection.getSlot('confirmed')
  const { name } = newName()
  const newest = await world.pay(world.payer(0), name)
  const fewer = counting(-1)
  let asked = 0
  balancer.alter = (method, params, result) => {
    asked += 1
    if (asked % 3 > 0) return result
    if (method === 'getSlot') return slot
    if (method === 'getTransaction') return null
    if (method !== 'getAccountInfo') return without(newest)(method, params, result)
    return { ...(fewer(method, params, result) as object), context: { slot } }
  }
  await expect.poll(() => tryStep(watching), WAIT).toContain(name)
  balancer.alter = null
  await settle(watching)
  expect(watching.state).toMatchObject({ trust: 'compared', trustNodes: 2, lastError: null })
})

describe('a node that hides a payment', () => {
  it.each([
    ['first', () => [liar]],
    ['second', () => []],
  ])('from its list, as the %s of two, hides nothing, and is named', async (_, before) => {
    const honest = await another()
    const nodes = before()
    const { watching, rpc, clock } = await watch(nodes.length > 0 ? [liar, honest] : [honest, liar])
    const { name } = newName()
    const hidden = await world.pay(world.payer(0), name)
    const slot = await world.connection.getSlot('confirmed')
    liar.alter = without(hidden)
    await settle(watching)
    expect(await names()).toContain(name)
    await expect
      .poll(() => world.connection.getSlot('confirmed'), WAIT)
      .toBeGreaterThan(slot + SETTLED_SLOTS)
    clock.aheadMs += 31_000
    await settle(watching)
    const wrong = rpc.health()[0]!.nodes.filter(({ isWrong }) => isWrong)
    expect(wrong.map(({ host }) => host)).toEqual([hostOf(liar)])
  })

  it('from its counts too, as the first of two, hides nothing, and is named', async () => {
    const honest = await another()
    const { watching, rpc } = await watch([liar, honest])
    const { name } = newName()
    liar.alter = both(without(await world.pay(world.payer(0), name)), counting(-1))
    await expect.poll(() => tryStep(watching), WAIT).toContain(name)
    await tryStep(watching)
    expect(problemOf(watching)).toMatchObject({
      alarm: 'ClusterdRpcContradiction',
      text: expect.stringContaining(hostOf(liar)),
    })
    expect(rpc.health()[0]!.nodes).toMatchObject([{ isWrong: true }, { isWrong: false }])
    liar.alter = null
    await expect
      .poll(() => tryStep(watching).then(() => watching.state), WAIT)
      .toMatchObject({
        lastError: null,
        trustNodes: 2,
      })
  })

  it('from its counts too, as the second of two, is named, and the payment enters once it does not', async () => {
    const honest = await another()
    const { watching } = await watch([honest, liar])
    const { name } = newName()
    liar.alter = both(without(await world.pay(world.payer(0), name)), counting(-1))
    const alarm = async () => {
      await tryStep(watching)
      return problemOf(watching)
    }
    await expect.poll(alarm, WAIT).toMatchObject({
      alarm: 'ClusterdRpcContradiction',
      text: expect.stringContaining(hostOf(liar)),
    })
    liar.alter = null
    await expect.poll(() => tryStep(watching), WAIT).toContain(name)
  })

  it.each([0, 1, 2])('from all that it gives, at place %i of three, delays nothing', async (at) => {
    const nodes = [await another(), await another()]
    nodes.splice(at, 0, liar)
    const { watching } = await watch(nodes)
    const { name } = newName()
    const hidden = await world.pay(world.payer(0), name)
    const hiding: Alter = (method, [signature], result) =>
      method === 'getTransaction' && signature === hidden ? null : result
    liar.alter = both(both(without(hidden), counting(-1)), hiding)
    await expect.poll(() => tryStep(watching), WAIT).toContain(name)
    await expect
      .poll(() => tryStep(watching).then(() => watching.state), WAIT)
      .toMatchObject({
        lastError: null,
        trust: 'compared',
        trustNodes: 2,
      })
  })
})

it('payments that only one node counts are a problem that names it, and delay no others', async () => {
  const honest = await another()
  const { watching, clock } = await watch([honest, liar])
  const paid = (await names()).length
  liar.alter = counting(5)
  expect(await watching.step()).toMatchObject({ kind: 'missing' })
  clock.aheadMs += 61_000
  await watching.step()
  expect(problemOf(watching)!.text).toContain(`${hostOf(liar)} counts ${paid + 5} for names`)
  const { name } = newName()
  await world.pay(world.payer(0), name)
  await watching.step()
  expect(await names()).toContain(name)
  liar.alter = null
  await settle(watching)
  expect(problemOf(watching)).toBeNull()
})

/** Lies about a payment by its name and transaction. */
const LIES: Record<string, (signature: string, of: { name: string; forged: string }) => Alter> = {
  'another name': (_, { name, forged }) => renaming(name, forged),
  'a list without it': (signature) => without(signature),
  'counts without it': () => counting(-1),
  'neither listed nor counted': (signature) => both(without(signature), counting(-1)),
  'more payments than there are': () => counting(1),
  'no transaction': (signature) => (method, params, result) =>
    method === 'getTransaction' && params[0] === signature ? null : result,
}

it(
  'random lies beside a node that falters let nothing false in, and hide nothing for long',
  async () => {
    const paid = await names()
    for (let run = 0; run < RUNS; run++) {
      const random = seededRandomSequence(SEED, 'solana', run)
      const honest = await another()
      const nodes = random() < 0.5 ? [liar, honest] : [honest, liar]
      const { watching } = await watch(nodes)
      const chosen = newName()
      const fault = pickElement(random(), Object.keys(FAULTS))
      const lie = pickElement(random(), Object.keys(LIES))
      const isLate = random() < 0.3
      const signature = await world.pay(world.payer(integerBetween(random(), 0, 2)), chosen.name)
      paid.push(chosen.name)
      liar.alter = LIES[lie]!(signature, chosen)
      if (!isLate) honest.errorOf = FAULTS[fault]!()
      for (let i = integerBetween(random(), 1, 3); i > 0; i--) await tryStep(watching)
      honest.errorOf = FAULTS[fault]!()
      await tryStep(watching)
      const what = `run ${run}: ${lie}, ${fault}`
      expect(paid, what).toEqual(expect.arrayContaining(await names()))
      liar.alter = null
      honest.errorOf = null
      await expect.poll(() => tryStep(watching), { ...WAIT, message: what }).toContain(chosen.name)
      await settle(watching)
      expect(watching.state, what).toMatchObject({ trust: 'compared', trustNodes: 2 })
    }
    expect(await names()).toEqual(paid)
  },
  60_000 + 30_000 * RUNS,
)
