import { afterEach, expect, it } from 'vitest'
import { integerBetween, pickElement } from '../../src/testing/faultProxy/random.js'
import { seededRandomSequence } from '../support/random.js'
import { type SolanaProxy, startSolanaProxy } from './solanaProxy.js'
import { useSolanaWorld } from './solanaWorld.js'
import { renaming, settle } from './support.js'

/** Runs of a liar beside a node that falters: `SOLANA_FALTERS=20` for a long one, `FALTER_SEED` for the same again. */
const RUNS = Number(process.env.SOLANA_FALTERS ?? 2)
const SEED = Number(process.env.FALTER_SEED ?? 22)

/** One payment, or several that are caught up with, by a node that renames them beside an honest one that falters. */

const world = await useSolanaWorld()
let honest: SolanaProxy | null = null
afterEach(async () => {
  world.proxy.alter = null
  await honest?.stop()
})

/** Reasons of an honest node to fail, each with the methods that it fails for; all where none is named. */
const FAULTS = [
  { code: -32_000, message: 'Internal error' },
  { code: -32_000, message: 'Internal error', methods: ['getTransaction'] },
  { code: 429, message: 'Too many requests' },
  { code: -32_005, message: 'Node is behind; request rate exceeded' },
  {
    code: -32_601,
    message: 'the method is not available on your plan',
    methods: ['getTransaction'],
  },
  { code: -32_601, message: 'the method is not available on your plan', methods: ['getSlot'] },
  {
    code: -32_015,
    message: 'Transaction version (0) is not supported',
    methods: ['getTransaction'],
  },
  { code: -32_004, message: 'Block not available for slot', methods: ['getSignaturesForAddress'] },
]

it(
  `of ${RUNS} liars beside an honest node that falters none has a payment accepted (seed ${SEED})`,
  async () => {
    const random = seededRandomSequence(SEED, 'solana falters')
    honest = await startSolanaProxy(world.solana.rpcUrl)
    const accepted = async () =>
      (await world.rows()).filter(({ confirmed }) => confirmed).map(({ name }) => name)
    for (let run = 0; run < RUNS; run++) {
      const urls = [world.proxy.url, honest.url]
      const { rpc } = (await world.open({ rpcUrls: random() < 0.5 ? urls : urls.toReversed() }))
        .chain
      const watching = await world.watcher({ rpc })
      // a live payment, or several that are caught up with
      if (random() < 0.5) await settle(watching)
      const names = Array.from(
        { length: integerBetween(random(), 1, 3) },
        (_, i) => `true-${run}-${i}`,
      )
      const { code, message, methods } = pickElement(random(), FAULTS)
      let left = random() < 0.4 ? 1 : Number.POSITIVE_INFINITY
      world.proxy.alter = renaming('true', 'fake')
      honest.errorOf = (method) =>
        (!methods || methods.includes(method)) && left-- > 0 ? { code, message } : undefined
      for (const name of names) await world.pay(world.payer(0), name)
      const steps = integerBetween(random(), 1, 5)
      for (let i = 0; i < steps; i++) {
        await watching.step().catch(() => {})
        expect((await accepted()).join(), `${message}, run ${run}`).not.toContain('fake')
      }
      world.proxy.alter = null
      honest.errorOf = null
      const step = async () => {
        await watching.step().catch(() => {})
        return accepted()
      }
      const all = { timeout: 10_000, message: `${message}, run ${run}` }
      await expect.poll(step, all).toEqual(expect.arrayContaining(names))
    }
  },
  60_000 + 15_000 * RUNS,
)
