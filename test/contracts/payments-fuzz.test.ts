import fc from 'fast-check'
import { type Address, getAddress, type Hex, zeroHash } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nameOf, word } from './support/hub.js'
import {
  HOLD_S,
  NATIVE,
  type PaymentsWorld,
  paymentEvents,
  paymentIdOf,
  startPaymentsWorld,
  TOKEN,
} from './support/payments.js'
import { createPaymentsModel } from './support/payments-model.js'

const RUNS = 12
const MIN_STEPS = 30
const MAX_STEPS = 60
/** Addresses that only receive, so that what they hold is what they were paid. */
const RECEIVERS = ['0x00000000000000000000000000000000000000e0', '0x00000000000000000000000000000000000000e1'].map(
  (address) => getAddress(address),
)

// Few names, so that most are contended; malformed ones beside them.
const community = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('club', 'guild').map(nameOf) },
  { weight: 1, arbitrary: fc.constantFrom(zeroHash, nameOf('Club')) },
)
const name = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('a', 'b', 'c').map(nameOf) },
  { weight: 1, arbitrary: fc.constantFrom(zeroHash, nameOf('a b')) },
)
const amount = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt(1n, 10n ** 18n) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 9n, 10n) },
)
/** Index among native, a plain token and an odd one. */
const token = fc.nat(2)
const account = fc.nat(4)
/** Index of a payment or credit, mostly an existing one, see `plan`. */
const pick = fc.nat(999)
const waitS = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt(1n, 60n) },
  { weight: 1, arbitrary: fc.constantFrom(HOLD_S - 1n, HOLD_S, HOLD_S + 1n) },
)
const excess = fc.oneof({ weight: 8, arbitrary: fc.constant(0n) }, { weight: 1, arbitrary: fc.constantFrom(1n, -1n) })

const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      who: fc.nat(2),
      bid: fc.record({ token, amount, recipient: account, communityName: community, walletName: name }),
      excess,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('refuse' as const),
      pick,
      isRelayer: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('release' as const),
      picks: fc.array(pick, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('withdraw' as const), pick, who: account, token, to: fc.nat(1) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('reopen' as const),
      communityName: community,
      walletName: name,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('mode' as const),
      mode: fc.constantFrom(...Object.values(TOKEN).filter((mode) => mode !== TOKEN.callBack)),
    }),
  },
)
const step = fc.record({ action, waitS })
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Each kind that goes through and that reverts: a random run may lack the rarer ones. */
const OPENING: readonly Step[] = (() => {
  const names = { communityName: nameOf('club'), walletName: nameOf('a') }
  const bid = { ...names, token: 1, amount: 100n, recipient: 3 }
  const pay: Step['action'] = { kind: 'pay', who: 0, bid, excess: 0n }
  const refuse = { kind: 'refuse', pick: 1, isRelayer: true } as const
  const withdraw = { kind: 'withdraw', pick: 1, who: 2, token: 1, to: 0 } as const
  const actions: readonly Step['action'][] = [
    pay,
    pay,
    { ...refuse, isRelayer: false },
    refuse,
    withdraw,
    { ...withdraw, pick: 0 },
    pay,
    { kind: 'release', picks: [1] },
    { kind: 'reopen', ...names },
    { kind: 'mode', mode: TOKEN.feeFromSender },
  ]
  return [
    ...actions.map((action) => ({ action, waitS: 1n })),
    { action: { kind: 'release', picks: [1] }, waitS: HOLD_S },
    { action: { kind: 'reopen', ...names }, waitS: 1n },
    { action: { kind: 'reopen', ...names }, waitS: 1n },
  ]
})()

let world: PaymentsWorld
beforeAll(async () => {
  world = await startPaymentsWorld()
})
afterAll(() => world.stop())

test('the payments contract does what its model does, and owes no more than it has, whatever is called in whatever order', async () => {
  const seen = new Map<string, number>()
  const property = fc.asyncProperty(
    fc.array(step, { minLength: MIN_STEPS, maxLength: MAX_STEPS, size: 'max' }),
    async (steps) => {
      const id = await world.testClient.snapshot()
      try {
        await runSteps(steps, (kind) => seen.set(kind, (seen.get(kind) ?? 0) + 1))
      } finally {
        await world.testClient.revert({ id })
      }
    },
  )
  await fc.assert(property, { numRuns: RUNS, examples: [[[...OPENING]]] })
  // every kind of step went through, and reverted, at least once
  for (const kind of ['pay', 'refuse', 'release', 'withdraw', 'reopen']) {
    expect([kind, seen.get(`${kind} ok`)! > 0, seen.get(`${kind} reverted`)! > 0]).toEqual([kind, true, true])
  }
}, 300_000)

async function runSteps(steps: readonly Step[], count: (kind: string) => void) {
  const tokens = [NATIVE, world.token, world.otherToken].map((token) => getAddress(token))
  const accounts = [world.alice, world.bob, world.carol, world.treasury, world.till].map((account) =>
    getAddress(account),
  )
  const model = createPaymentsModel(HOLD_S, tokens[2]!)
  const ids: Hex[] = []
  let { timestamp: nowS } = await world.publicClient.getBlock()

  for (const { action, waitS } of steps) {
    nowS += waitS
    const { tx, expected } = plan(action)
    await world.testClient.setNextBlockTimestamp({ timestamp: nowS })
    const receipt = await world.send(tx)
    const logs = receipt.status === 'success' ? paymentEvents(receipt) : undefined
    const isPayment = action.kind === 'pay' && logs !== undefined
    if (isPayment) ids.push(paymentIdOf(receipt))
    expect(logs, `${action.kind} at ${nowS}`).toEqual(expected(ids.at(-1) ?? zeroHash))
    count(`${action.kind} ${logs ? 'ok' : 'reverted'}`)
    for (const token of tokens) await expectMoney(token)
  }

  for (const [key, amount] of model.paidOut) {
    const [to, token] = key.split(' ').map((address) => getAddress(address))
    expect(await world.balanceOf(token!, to!)).toBe(amount)
  }
  for (const account of accounts) {
    for (const token of tokens) {
      expect(await world.creditOf(account, token)).toBe(model.credits.get(model.keyOf(account, token)) ?? 0n)
    }
  }

  async function expectMoney(token: Address) {
    const { balance, held, credited } = await world.money(token)
    expect({ held, credited }).toEqual(model.money(token))
    expect(balance).toBeGreaterThanOrEqual(held + credited)
  }

  /** The transaction of a step, and the logs that the model expects of it, given the newest payment's id. */
  function plan(action: Step['action']) {
    const heldIds = [...model.held.keys()]
    const picked = (pick: number) =>
      (pick % 10 === 0 ? ids[pick % ids.length] : heldIds[pick % heldIds.length]) ?? ids.at(-1) ?? zeroHash
    const outcome = (logs: ReturnType<typeof model.refuse>) => () => logs
    switch (action.kind) {
      case 'pay': {
        const from = accounts[action.who]!
        const { recipient, ...rest } = action.bid
        const paymentRecipient = accounts[recipient]!
        const bid = world.request({ ...rest, token: tokens[action.bid.token]!, paymentRecipient })
        const exact = bid.token === NATIVE ? bid.amount : 0n
        const value = exact + action.excess < 0n ? 0n : exact + action.excess
        const isSound = model.mayPay(bid, value)
        const chainId = 31_337n
        const expected = (id: Hex) => {
          if (!isSound) return undefined
          model.enter(id, from, bid, nowS)
          const names = [bid.communityName, bid.walletName, bid.referralAddress]
          return [
            ['Bid', word(from), chainId, bid.token, bid.amount, paymentRecipient, ...names],
            ['Held', id, nowS + HOLD_S],
          ]
        }
        return { tx: world.bidTx(from, bid, value), expected }
      }
      case 'refuse': {
        const id = picked(action.pick)
        const tx = world.refuseTx(id, action.isRelayer ? world.relayer : world.alice)
        return { tx, expected: outcome(model.refuse(id, action.isRelayer, nowS)) }
      }
      case 'release': {
        const chosen = action.picks.map(picked)
        return { tx: world.releaseTx(chosen), expected: outcome(model.release(chosen, nowS)) }
      }
      case 'withdraw': {
        const owed = [...model.credits].filter(([, amount]) => amount > 0n).map(([key]) => key.split(' '))
        const [account, of] = action.pick % 10 === 0 ? [] : (owed[action.pick % owed.length] ?? [])
        const from = account ? getAddress(account) : accounts[action.who]!
        const [token, to] = [of ? getAddress(of) : tokens[action.token]!, RECEIVERS[action.to]!]
        return { tx: world.withdrawTx(from, token, to), expected: outcome(model.withdraw(from, token, to)) }
      }
      case 'reopen': {
        const { communityName, walletName } = action
        const tx = world.reopenTx(communityName, walletName)
        return { tx, expected: outcome(model.reopen(communityName, walletName, nowS)) }
      }
      case 'mode': {
        model.setMode(action.mode)
        return { tx: world.setTokenTx(action.mode, tokens[2]!), expected: () => [] }
      }
    }
  }
}
