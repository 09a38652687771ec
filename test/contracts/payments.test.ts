import { getAddress, type Hex, toEventSelector, toFunctionSelector, zeroHash } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { communityPaymentsAbi, communityPaymentsBytecode } from '../../src/chains/evm/contracts/index.js'
import { freshEach } from './support/chain.js'
import { nameOf, word } from './support/hub.js'
import {
  type EndingCall,
  MAX_AMOUNT,
  NATIVE,
  OUTCOME,
  type Payment,
  type PaymentsWorld,
  paymentEvents,
  paymentId,
  paymentOf,
  RECLAIM_S,
  startPaymentsWorld,
} from './support/payments.js'

const SIGNATURE = 'placeBid((address,uint256,address,bytes32,bytes32,bytes32))'
const TO = '0x00000000000000000000000000000000000000B0'
const CLUB = nameOf('club')
const FOOBAR = nameOf('foobar')

let world: PaymentsWorld

beforeAll(async () => {
  world = await startPaymentsWorld()
})
freshEach(() => world)
afterAll(() => world.stop())

const idOf = (payment: Payment) => paymentId(payment, world.payments)
const refuseTx = (payments: readonly Payment[], from = world.relayer) => world.endTx('refuse', payments, from)
const releaseTx = (payments: readonly Payment[], from = world.relayer) => world.endTx('release', payments, from)
const reclaimTx = (payments: readonly Payment[], from = world.alice) => world.endTx('reclaim', payments, from)
const CALLS: readonly EndingCall[] = ['refuse', 'release', 'reclaim']

test('has the selector and the topic that clients in use send and read', () => {
  const placeBid = communityPaymentsAbi.find((item) => item.type === 'function' && item.name === 'placeBid')!
  expect(toFunctionSelector(placeBid)).toBe(toFunctionSelector(SIGNATURE))
  const events = communityPaymentsAbi.filter((item) => item.type === 'event')
  const bid = events.find(({ name }) => name === 'Bid')!
  expect(toEventSelector(bid)).toBe(
    toEventSelector('Bid(bytes32,uint256,address,uint256,address,bytes32,bytes32,bytes32)'),
  )
  const unindexed = events.filter(({ inputs }) => inputs.every((input) => !input.indexed)).map(({ name }) => name)
  expect(unindexed.sort(), 'Roles and OpenZeppelin`s own beside Bid').toEqual(['Bid', 'Paused', 'Unpaused'])
  expect(communityPaymentsBytecode.length / 2).toBeLessThan(24_576)
})

describe('a payment', () => {
  test('is held, told in two logs, and keeps nobody off a name', async () => {
    const referralAddress = word(world.carol)
    const receipt = await world.succeed(world.bidTx(world.alice, world.request({ referralAddress })))
    const { timestamp } = await world.publicClient.getBlock({ blockNumber: receipt.blockNumber })
    const payment = paymentOf(receipt)
    const treasury = getAddress(world.treasury)
    expect(paymentEvents(receipt)).toEqual([
      ['Bid', word(world.alice), 31_337n, NATIVE, 1_000n, treasury, CLUB, FOOBAR, referralAddress],
      ['Held', idOf(payment), 1n, timestamp + RECLAIM_S],
    ])
    expect(receipt.logs[1]!.topics[1], 'indexed').toBe(idOf(payment))
    expect(await world.publicClient.readContract({ ...at(), functionName: 'idOf', args: [payment] })).toBe(
      idOf(payment),
    )
    expect(await world.outcomeOf(payment)).toBe(OUTCOME.held)
    expect(await world.money(NATIVE)).toEqual({ balance: 1_000n, owed: 1_000n })
    expect(await world.reasonOf(world.bidTx(world.bob, world.request({ amount: 1n })))).toBeUndefined()
  })

  test('has an id of its own: by its number, its time and its chain', async () => {
    const first = await world.pay(world.alice)
    const again = await world.pay(world.alice)
    expect([first.number, again.number]).toEqual([1n, 2n])
    const id = idOf(first)
    for (const other of [again, { ...first, number: 2n }, { ...first, reclaimableAt: first.reclaimableAt + 1n }])
      expect(idOf(other)).not.toBe(id)
    const changed: readonly Partial<Payment>[] = [
      ...[{ number: 9n }, { reclaimableAt: 0n }, { payer: world.bob }, { recipient: world.bob }, { amount: 999n }],
      ...[{ token: world.token }, { communityName: FOOBAR }, { walletName: CLUB }, { referralAddress: CLUB }],
    ]
    for (const change of changed) {
      const forged = { ...first, ...change }
      expect(await world.outcomeOf(forged)).toBe(OUTCOME.none)
      expect(paymentEvents(await world.succeed(refuseTx([forged])))).toEqual([])
    }
    expect(await world.money(NATIVE)).toEqual({ balance: 2_000n, owed: 2_000n })
  })

  test('that a reorganisation of the chain takes back is another one when it is made again', async () => {
    const snapshot = await world.testClient.snapshot()
    const before = await world.pay(world.alice)
    await world.testClient.revert({ id: snapshot })
    await world.wait(60n)
    const after = await world.pay(world.alice)
    expect(after.number).toBe(before.number)
    expect(paymentEvents(await world.succeed(refuseTx([before])))).toEqual([])
    expect(await world.outcomeOf(after)).toBe(OUTCOME.held)
  })

  test.each([
    ['MalformedName', { communityName: nameOf('Club') }],
    ['MalformedName', { communityName: zeroHash }],
    ['MalformedName', { walletName: nameOf('foo bar') }],
    ['MalformedName', { walletName: zeroHash }],
    ['ZeroAmount', { amount: 0n }],
    ['ZeroAddress', { paymentRecipient: NATIVE }],
    ['AmountTooLarge', { amount: MAX_AMOUNT + 1n }],
    ['AmountTooLarge', { amount: 2n ** 256n - 1n }],
  ] as const)('is taken for a name, an amount and a recipient: %s', async (error, changes) => {
    for (const token of [NATIVE, world.token])
      expect(await world.reasonOf(world.bidTx(world.alice, world.request({ ...changes, token }), 0n))).toBe(error)
  })

  test('brings exactly its amount', async () => {
    const native = world.request()
    for (const value of [0n, 999n, 1_001n]) {
      expect(await world.reasonOf(world.bidTx(world.alice, native, value))).toBe('WrongValue')
    }
    const inToken = world.request({ token: world.token })
    expect(await world.reasonOf(world.bidTx(world.alice, inToken, 1_000n))).toBe('WrongValue')
    const bare = { from: world.alice, to: world.payments, value: 1n, data: '0x' } as const
    expect(await world.reasonOf(bare).catch(() => 'none')).toBe('none')
  })

  test('of the most that there may be never keeps another from being refused', async () => {
    const most = { token: world.token, amount: MAX_AMOUNT }
    const payments = [await world.pay(world.alice, most), await world.pay(world.bob, most)]
    const small = await world.pay(world.carol, { token: world.token, amount: 1n })
    await world.succeed(refuseTx([...payments, small]))
    expect(await world.creditOf(world.carol, world.token)).toBe(1n)
    expect(await world.money(world.token)).toMatchObject({ owed: 2n * MAX_AMOUNT + 1n })
  })
})

describe('a payment ends once', () => {
  test('refused: it is its payer`s, and nobody else`s', async () => {
    const payment = await world.pay(world.alice)
    const receipt = await world.succeed(refuseTx([payment]))
    const alice = getAddress(world.alice)
    expect(paymentEvents(receipt)).toEqual([['Refused', idOf(payment), alice, NATIVE, 1_000n]])
    expect(receipt.logs[0]!.topics.slice(1)).toEqual([idOf(payment), word(alice), word(NATIVE)])
    expect(await world.money(NATIVE)).toEqual({ balance: 1_000n, owed: 1_000n })
    for (const other of [world.owner, world.relayer, world.treasury, world.bob]) {
      expect(await world.reasonOf(world.withdrawTx(other, NATIVE, TO))).toBe('NothingOwed')
    }
    const paid = await world.succeed(world.withdrawTx(world.alice, NATIVE, TO))
    expect(paymentEvents(paid)).toEqual([['Withdrawn', alice, NATIVE, TO, 1_000n]])
    expect(await world.balance(TO)).toBe(1_000n)
    expect(await world.money(NATIVE)).toEqual({ balance: 0n, owed: 0n })
    await world.pay(world.bob)
    expect(await world.reasonOf(world.withdrawTx(world.alice, NATIVE, TO)), 'not twice').toBe('NothingOwed')
  })

  test('released: it is its recipient`s', async () => {
    const payment = await world.pay(world.alice)
    const receipt = await world.succeed(releaseTx([payment]))
    expect(paymentEvents(receipt)).toEqual([['Released', idOf(payment), getAddress(world.treasury), NATIVE, 1_000n]])
    expect(await world.reasonOf(world.withdrawTx(world.alice, NATIVE, TO))).toBe('NothingOwed')
    await world.succeed(world.withdrawTx(world.treasury, NATIVE, TO))
    expect(await world.balance(TO)).toBe(1_000n)
  })

  test('reclaimed: by its payer alone, from its time on, to the second', async () => {
    const payment = await world.pay(world.alice)
    for (const other of [world.owner, world.relayer, world.treasury, world.bob])
      expect(await world.reasonOf(reclaimTx([payment], other))).toBe('NotPayer')
    expect(await world.reasonOf(reclaimTx([payment]))).toBe('NotReclaimable')
    expect(await statusAt(payment.reclaimableAt - 1n, reclaimTx([payment]))).toBe('reverted')
    await world.testClient.setNextBlockTimestamp({ timestamp: payment.reclaimableAt })
    const receipt = await world.succeed(reclaimTx([payment]))
    expect(paymentEvents(receipt)).toEqual([['Reclaimed', idOf(payment), getAddress(world.alice), NATIVE, 1_000n]])
    await world.succeed(world.withdrawTx(world.alice, NATIVE, TO))
    expect(await world.balance(TO)).toBe(1_000n)
  })

  test('whatever comes after is skipped, and its outcome is told for ever', async () => {
    for (const [i, first] of CALLS.entries()) {
      const payment = await world.pay(world.alice)
      const other = await world.pay(world.alice)
      await world.wait(RECLAIM_S)
      const end = (kind: EndingCall, payments: readonly Payment[]) =>
        world.succeed(world.endTx(kind, payments, kind === 'reclaim' ? world.alice : world.relayer))
      expect(paymentEvents(await end(first, [payment, payment]))).toHaveLength(1)
      for (const later of CALLS) expect(paymentEvents(await end(later, [payment]))).toEqual([])
      expect(await world.outcomeOf(payment)).toBe([OUTCOME.refused, OUTCOME.released, OUTCOME.reclaimed][i])
      expect(paymentEvents(await end(first, [payment, other])), 'what is held beside it ends').toHaveLength(1)
    }
    expect(await world.money(NATIVE)).toEqual({ balance: 6_000n, owed: 6_000n })
    const ids = [idOf(await world.pay(world.alice)), zeroHash]
    const outcomes = await world.publicClient.readContract({ ...at(), functionName: 'outcomesOf', args: [ids] })
    expect(outcomes).toEqual([OUTCOME.held, OUTCOME.none])
  })

  test('late words of the relayer count as long as the payer has not reclaimed', async () => {
    const [a, b] = [await world.pay(world.alice), await world.pay(world.alice)]
    await world.wait(10n * RECLAIM_S)
    await world.succeed(refuseTx([a]))
    await world.succeed(releaseTx([b]))
    expect(await world.outcomeOf(a)).toBe(OUTCOME.refused)
    expect(await world.outcomeOf(b)).toBe(OUTCOME.released)
  })

  test('many in one call, each to its own side', async () => {
    const payments = [await world.pay(world.alice), await world.pay(world.bob, { token: world.token, amount: 7n })]
    const receipt = await world.succeed(refuseTx(payments))
    expect(paymentEvents(receipt).map(([, , ...rest]) => rest)).toEqual([
      [getAddress(world.alice), NATIVE, 1_000n],
      [getAddress(world.bob), world.token, 7n],
    ])
    expect(await world.creditOf(world.bob, world.token)).toBe(7n)
  })

  test('not by silence: nobody but the payer has anything of what nobody spoke about', async () => {
    const payment = await world.pay(world.alice)
    await world.wait(100n * 86_400n)
    for (const from of [world.treasury, world.bob, world.owner, world.pauser])
      expect(await world.reasonOf(releaseTx([payment], from))).toBe('NotRelayer')
    expect(await world.reasonOf(world.withdrawTx(world.treasury, NATIVE, TO))).toBe('NothingOwed')
    await world.succeed(world.call(world.alice, 'reclaimAndWithdraw', [[payment], NATIVE, TO]))
    expect(await world.balance(TO)).toBe(1_000n)
  })
})

describe('the relayer role`s word', () => {
  test('releases, whoever brings it, and pays the recipient at once', async () => {
    const [a, b] = [await world.pay(world.alice), await world.pay(world.bob)]
    const word = await world.sign([idOf(a)])
    const events = paymentEvents(await world.succeed(world.call(world.carol, 'releaseFor', [[a], word])))
    expect(events.map(([event, id]) => [event, id])).toEqual([['Released', idOf(a)]])
    const both = await world.sign([idOf(a), idOf(b)])
    await world.succeed(world.call(world.treasury, 'releaseAndWithdraw', [[a, b], both, NATIVE, TO]))
    expect(await world.balance(TO), 'the one that a stranger released first is skipped').toBe(2_000n)
  })

  test('is for these payments in this order, this chain and this contract', async () => {
    const [a, b] = [await world.pay(world.alice), await world.pay(world.bob)]
    const ids = [idOf(a), idOf(b)]
    const good = await world.sign(ids)
    const tries: readonly (readonly [readonly Payment[], Hex])[] = [
      [[a], good],
      [[b, a], good],
      [[a, b, b], good],
      [[a, { ...b, amount: 1n }], good],
      [[a, b], await world.sign(ids, world.owner)],
      [[a, b], await world.sign(ids, world.relayer, { chainId: 1 })],
      [[a, b], await world.sign(ids, world.relayer, { verifyingContract: world.token })],
      [[a, b], await world.sign(ids, world.relayer, { name: 'Hub' })],
      [[a, b], await world.sign(ids, world.relayer, { version: '2' })],
      [[a, b], `${good.slice(0, -2)}00` as Hex],
      [[a, b], good.slice(0, -2) as Hex],
      [[a, b], '0x'],
    ]
    for (const [payments, signature] of tries)
      expect(await world.reasonOf(world.call(world.treasury, 'releaseFor', [payments, signature]))).toBe('NotSigned')
    expect(await world.reasonOf(world.call(world.treasury, 'releaseFor', [[a, b], good]))).toBeUndefined()
  })

  test('ends with the role', async () => {
    const payment = await world.pay(world.alice)
    const old = await world.sign([idOf(payment)])
    await world.succeed(world.call(world.owner, 'setRelayer', [world.carol]))
    expect(await world.reasonOf(world.call(world.bob, 'releaseFor', [[payment], old]))).toBe('NotSigned')
    await world.succeed(world.call(world.owner, 'setRelayer', [NATIVE]))
    expect(await world.reasonOf(world.call(world.bob, 'releaseFor', [[payment], old]))).toBe('NotSigned')
    expect(await world.reasonOf(refuseTx([payment], world.carol))).toBe('NotRelayer')
    await world.wait(RECLAIM_S)
    await world.succeed(reclaimTx([payment]))
  })
})

describe('roles', () => {
  test('only the relayer refuses and releases, not even the owner', async () => {
    const payment = await world.pay(world.alice)
    for (const other of [world.owner, world.pauser, world.alice, world.treasury]) {
      expect(await world.reasonOf(refuseTx([payment], other))).toBe('NotRelayer')
      expect(await world.reasonOf(releaseTx([payment], other))).toBe('NotRelayer')
    }
  })

  test('a pause stops new payments and nothing else', async () => {
    const refused = await world.pay(world.alice, { amount: 1n })
    const sold = await world.pay(world.alice, { amount: 2n })
    const said = await world.pay(world.alice, { amount: 3n })
    const silent = await world.pay(world.alice, { amount: 4n })
    expect(await world.reasonOf(world.call(world.alice, 'pause', []))).toBe('NotPauser')
    await world.succeed(world.call(world.pauser, 'pause', []))
    expect(await world.reasonOf(world.bidTx(world.bob, world.request()))).toBe('EnforcedPause')
    await world.succeed(refuseTx([refused]))
    await world.succeed(releaseTx([sold]))
    await world.succeed(world.call(world.bob, 'releaseFor', [[said], await world.sign([idOf(said)])]))
    await world.wait(RECLAIM_S)
    await world.succeed(reclaimTx([silent]))
    await world.succeed(world.withdrawTx(world.alice, NATIVE, TO))
    await world.succeed(world.withdrawTx(world.treasury, NATIVE, TO))
    expect(await world.balance(TO)).toBe(10n)
    expect(await world.reasonOf(world.call(world.pauser, 'unpause', []))).toBe('OwnableUnauthorizedAccount')
    await world.succeed(world.call(world.owner, 'unpause', []))
    await world.pay(world.bob)
  })

  test('only the owner sets anything, and stays', async () => {
    const calls = [
      world.call(world.alice, 'setRelayer', [world.alice]),
      world.call(world.alice, 'setPauser', [world.alice]),
      world.call(world.alice, 'transferOwnership', [world.alice]),
      world.call(world.alice, 'renounceOwnership', []),
    ]
    for (const tx of calls) expect(await world.reasonOf(tx)).toBe('OwnableUnauthorizedAccount')
    expect(await world.reasonOf(world.call(world.owner, 'renounceOwnership', []))).toBe('OwnerRequired')
    await world.succeed(world.call(world.owner, 'transferOwnership', [world.bob]))
    await world.succeed(world.call(world.owner, 'setRelayer', [world.carol]))
    await world.succeed(world.call(world.bob, 'acceptOwnership', []))
    expect(await world.reasonOf(world.call(world.owner, 'setRelayer', [world.owner]))).toBe(
      'OwnableUnauthorizedAccount',
    )
  })

  test.each([
    [86_400n, undefined],
    [86_400n - 1n, 'ReclaimOutOfRange'],
    [0n, 'ReclaimOutOfRange'],
    [30n * 86_400n, undefined],
    [30n * 86_400n + 1n, 'ReclaimOutOfRange'],
  ])('payers wait a day to thirty before they reclaim: %d seconds, %s', async (seconds, error) => {
    expect(await world.reasonOf({ from: world.owner, data: world.deployment(seconds) })).toBe(error)
  })
})

/** Outcome of a transaction in a block of this time. */
async function statusAt(timestamp: bigint, tx: Parameters<PaymentsWorld['send']>[0]) {
  const snapshot = await world.testClient.snapshot()
  await world.testClient.setNextBlockTimestamp({ timestamp })
  const receipt = await world.send(tx)
  expect((await world.publicClient.getBlock({ blockNumber: receipt.blockNumber })).timestamp).toBe(timestamp)
  await world.testClient.revert({ id: snapshot })
  return receipt.status
}

const at = () => ({ address: world.payments, abi: communityPaymentsAbi }) as const
