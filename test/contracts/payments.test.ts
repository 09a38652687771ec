import {
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  toEventSelector,
  toFunctionSelector,
  zeroHash,
} from 'viem'
import { describe, expect, test } from 'vitest'
import {
  testSmartWalletAbi,
  testSmartWalletBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestSmartWallet.js'
import { testTokenAbi } from '../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { testWalletAbi } from '../../contracts/evm/artifacts/test-doubles/TestWallet.js'
import {
  communityPaymentsAbi,
  communityPaymentsBytecode,
} from '../../src/chains/evm/contracts/index.js'
import { useWorld } from '../support/useWorld.js'
import { freshEach } from './support/chain.js'
import { nameOf, word } from './support/hub.js'
import {
  type EndingCall,
  MAX_AMOUNT,
  NATIVE,
  OUTCOME,
  type Payment,
  paymentEvents,
  paymentId,
  paymentInReceipt,
  RECLAIM_S,
  startPaymentsWorld,
} from './support/payments.js'
import { REFUSE, startWallet } from './support/wallet.js'

/**
 * Refusals, forged payments, signed releases and receivers. payments-fuzz.test.ts covers payments and money by their
 * model.
 */

const TO = '0x00000000000000000000000000000000000000B0'
const OTHER = nameOf('other')

const world = useWorld(() => startPaymentsWorld())

freshEach(() => world)

const idOf = (payment: Payment) => paymentId(payment, world.payments)
const refuseTx = (payments: readonly Payment[], from = world.relayer) =>
  world.endTx('refuse', payments, from)
const releaseTx = (payments: readonly Payment[], from = world.relayer) =>
  world.endTx('release', payments, from)
const reclaimTx = (payments: readonly Payment[], from = world.alice) =>
  world.endTx('reclaim', payments, from)
const CALLS: readonly EndingCall[] = ['refuse', 'release', 'reclaim']

test('has the selector and the topic that existing clients use', () => {
  const placeBid = communityPaymentsAbi.find(
    (item) => item.type === 'function' && item.name === 'placeBid',
  )!
  expect(toFunctionSelector(placeBid)).toBe(
    toFunctionSelector('placeBid((address,uint256,address,bytes32,bytes32,bytes32))'),
  )
  const events = communityPaymentsAbi.filter((item) => item.type === 'event')
  const bid = events.find(({ name }) => name === 'Bid')!
  expect(toEventSelector(bid)).toBe(
    toEventSelector('Bid(bytes32,uint256,address,uint256,address,bytes32,bytes32,bytes32)'),
  )
  const unindexed = events
    .filter(({ inputs }) => inputs.every((input) => !input.indexed))
    .map(({ name }) => name)
  expect(unindexed.sort(), 'Roles and OpenZeppelin`s own beside Bid').toEqual([
    'Bid',
    'Paused',
    'Unpaused',
  ])
  expect(communityPaymentsBytecode.length / 2).toBeLessThan(24_576)
})

describe('a payment', () => {
  test('is logged in two logs, with its id indexed', async () => {
    const receipt = await world.succeed(
      world.bidTx(world.alice, world.request({ referralAddress: word(world.carol) })),
    )
    const payment = paymentInReceipt(receipt)
    expect(paymentEvents(receipt).map(([event]) => event)).toEqual(['Bid', 'Held'])
    expect(receipt.logs[1]!.topics[1]).toBe(idOf(payment))
    expect(
      await world.publicClient.readContract({ ...at(), functionName: 'idOf', args: [payment] }),
    ).toBe(idOf(payment))
    const { logs } = await world.succeed(refuseTx([payment]))
    expect(logs[0]!.topics.slice(1)).toEqual([idOf(payment), word(world.alice), word(NATIVE)])
  })

  test('has a unique id: from its number, its time and its chain', async () => {
    const first = await world.pay(world.alice)
    const again = await world.pay(world.alice)
    expect([first.number, again.number]).toEqual([1n, 2n])
    const id = idOf(first)
    for (const other of [
      again,
      { ...first, number: 2n },
      { ...first, reclaimableAt: first.reclaimableAt + 1n },
    ])
      expect(idOf(other)).not.toBe(id)
    const changed: readonly Partial<Payment>[] = [
      ...[
        { number: 9n },
        { reclaimableAt: 0n },
        { payer: world.bob },
        { recipient: world.bob },
        { amount: 999n },
      ],
      ...[
        { token: world.token },
        { communityName: OTHER },
        { walletName: OTHER },
        { referralAddress: OTHER },
      ],
    ]
    for (const change of changed) {
      const forged = { ...first, ...change }
      expect(await world.outcomeOf(forged)).toBe(OUTCOME.none)
      expect(paymentEvents(await world.succeed(refuseTx([forged])))).toEqual([])
    }
    expect(await world.money(NATIVE)).toEqual({ balance: 2_000n, owed: 2_000n })
  })

  test('that a reorg removes has another id when it is made again', async () => {
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
    ['MalformedName', { walletName: nameOf('foo bar') }],
    ['ZeroAmount', { amount: 0n }],
    ['ZeroAddress', { paymentRecipient: NATIVE }],
    ['AmountTooLarge', { amount: MAX_AMOUNT + 1n }],
  ] as const)('is taken for a name, an amount and a recipient: %s', async (error, changes) => {
    expect((await world.send({ from: world.alice, to: world.payments, value: 1n })).status).toBe(
      'reverted',
    )
    for (const token of [NATIVE, world.token])
      expect(
        await world.reasonOf(world.bidTx(world.alice, world.request({ ...changes, token }), 0n)),
      ).toBe(error)
  })

  test('of the largest amount never prevents the refusal of another', async () => {
    const most = { token: world.token, amount: MAX_AMOUNT }
    const payments = [await world.pay(world.alice, most), await world.pay(world.bob, most)]
    const small = await world.pay(world.carol, { token: world.token, amount: 1n })
    await world.succeed(refuseTx([...payments, small]))
    expect(await world.creditOf(world.carol, world.token)).toBe(1n)
    expect(await world.money(world.token)).toMatchObject({ owed: 2n * MAX_AMOUNT + 1n })
  })
})

describe('a payment ends once', () => {
  test('reclaimed: only by its payer, from its time on, to the second', async () => {
    const payment = await world.pay(world.alice)
    expect(await world.reasonOf(reclaimTx([payment], world.treasury))).toBe('NotPayer')
    expect(await world.reasonOf(reclaimTx([payment]))).toBe('NotReclaimable')
    expect(await world.statusAt(payment.reclaimableAt - 1n, reclaimTx([payment]))).toBe('reverted')
    await world.testClient.setNextBlockTimestamp({ timestamp: payment.reclaimableAt })
    const receipt = await world.succeed(reclaimTx([payment]))
    expect(paymentEvents(receipt)).toEqual([
      ['Reclaimed', idOf(payment), getAddress(world.alice), NATIVE, 1_000n],
    ])
  })

  test('any later call skips it, and its outcome stays readable', async () => {
    for (const [i, first] of CALLS.entries()) {
      const payment = await world.pay(world.alice)
      const other = await world.pay(world.alice)
      await world.wait(RECLAIM_S)
      const end = (kind: EndingCall, payments: readonly Payment[]) =>
        world.succeed(world.endTx(kind, payments, kind === 'reclaim' ? world.alice : world.relayer))
      expect(paymentEvents(await end(first, [payment, payment]))).toHaveLength(1)
      for (const later of CALLS) expect(paymentEvents(await end(later, [payment]))).toEqual([])
      expect(await world.outcomeOf(payment)).toBe(
        [OUTCOME.refused, OUTCOME.released, OUTCOME.reclaimed][i],
      )
      expect(
        paymentEvents(await end(first, [payment, other])),
        'what is held beside it ends',
      ).toHaveLength(1)
    }
    expect(await world.money(NATIVE)).toEqual({ balance: 6_000n, owed: 6_000n })
    const ids = [idOf(await world.pay(world.alice)), zeroHash]
    const outcomes = await world.publicClient.readContract({
      ...at(),
      functionName: 'outcomesOf',
      args: [ids],
    })
    expect(outcomes).toEqual([OUTCOME.held, OUTCOME.none])
  })

  test('not by silence: only the payer can get the money of an undecided payment', async () => {
    const payment = await world.pay(world.alice)
    await world.wait(100n * 86_400n)
    for (const from of [world.treasury, world.bob, world.owner, world.pauser])
      expect(await world.reasonOf(releaseTx([payment], from))).toBe('NotRelayer')
    expect(await world.reasonOf(world.withdrawTx(world.treasury, NATIVE, TO))).toBe('NothingOwed')
    await world.succeed(world.call(world.alice, 'reclaimAndWithdraw', [[payment], NATIVE, TO]))
    expect(await world.balance(TO)).toBe(1_000n)
  })
})

describe('the relayer role’s signed release', () => {
  test('is valid only for these payments in this order, this chain and this contract', async () => {
    const a = await world.pay(world.alice)
    const b = await world.pay(world.bob)
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
      expect(
        await world.reasonOf(world.call(world.treasury, 'releaseFor', [payments, signature])),
      ).toBe('NotSigned')
    expect(
      await world.reasonOf(world.call(world.treasury, 'releaseFor', [[a, b], good])),
    ).toBeUndefined()
  })

  test('ends with the role', async () => {
    const payment = await world.pay(world.alice)
    const old = await world.sign([idOf(payment)])
    await world.succeed(world.call(world.owner, 'setRelayer', [world.carol]))
    expect(await world.reasonOf(world.call(world.bob, 'releaseFor', [[payment], old]))).toBe(
      'NotSigned',
    )
    await world.succeed(world.call(world.owner, 'setRelayer', [NATIVE]))
    expect(await world.reasonOf(world.call(world.bob, 'releaseFor', [[payment], old]))).toBe(
      'NotSigned',
    )
    expect(await world.reasonOf(refuseTx([payment], world.carol))).toBe('NotRelayer')
    await world.wait(RECLAIM_S)
    await world.succeed(reclaimTx([payment]))
  })
})

describe('roles', () => {
  test('a pause stops new payments and nothing else', async () => {
    const refused = await world.pay(world.alice, { amount: 1n })
    const sold = await world.pay(world.alice, { amount: 2n })
    const silent = await world.pay(world.alice, { amount: 4n })
    expect(await world.reasonOf(world.call(world.alice, 'pause', []))).toBe('NotPauser')
    await world.succeed(world.call(world.pauser, 'pause', []))
    expect(await world.reasonOf(world.bidTx(world.bob, world.request()))).toBe('EnforcedPause')
    await world.succeed(refuseTx([refused]))
    await world.succeed(releaseTx([sold]))
    await world.wait(RECLAIM_S)
    await world.succeed(reclaimTx([silent]))
    await world.succeed(world.withdrawTx(world.alice, NATIVE, TO))
    await world.succeed(world.withdrawTx(world.treasury, NATIVE, TO))
    expect(await world.balance(TO)).toBe(7n)
    expect(await world.reasonOf(world.call(world.pauser, 'unpause', []))).toBe(
      'OwnableUnauthorizedAccount',
    )
    await world.succeed(world.call(world.owner, 'unpause', []))
    await world.pay(world.bob)
  })

  test('only the owner changes settings, and can’t renounce the role', async () => {
    const calls = [
      world.call(world.alice, 'setRelayer', [world.alice]),
      world.call(world.alice, 'setPauser', [world.alice]),
      world.call(world.alice, 'transferOwnership', [world.alice]),
      world.call(world.alice, 'renounceOwnership', []),
    ]
    for (const tx of calls) expect(await world.reasonOf(tx)).toBe('OwnableUnauthorizedAccount')
    expect(await world.reasonOf(world.call(world.owner, 'renounceOwnership', []))).toBe(
      'OwnerRequired',
    )
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

describe('a token', () => {
  test('that has no code, or was not approved, is refused', async () => {
    const none = world.request({ token: TO })
    expect(await world.reasonOf(world.bidTx(world.alice, none)).catch(() => 'no contract')).toBe(
      'no contract',
    )
    expect(
      await world.reasonOf(world.bidTx(world.till, world.request({ token: world.token }))),
    ).toBe('ERC20InsufficientAllowance')
  })

  test('that calls back is refused', async () => {
    const payment = await world.pay(world.alice, { token: world.token })
    const word = await world.sign([paymentId(payment, world.payments)])
    // all calls that a stranger, or the token, may make at any time
    const calls = [
      world.bidTx(world.bob, world.request({ token: world.otherToken })),
      world.call(world.bob, 'releaseFor', [[payment], word]),
      world.call(world.bob, 'releaseAndWithdraw', [[payment], word, NATIVE, TO]),
      world.endTx('reclaim', [], world.alice),
      world.call(world.bob, 'withdrawFor', [world.alice, NATIVE]),
      world.withdrawTx(world.alice, NATIVE, TO),
    ]
    await world.succeed(refuseTx([await world.pay(world.alice)]))
    for (const { data } of calls) {
      const callBack = {
        abi: testTokenAbi,
        functionName: 'setCallBack',
        args: [world.payments, data],
      } as const
      await world.succeed({
        from: world.owner,
        to: world.token,
        data: encodeFunctionData(callBack),
      })
      const snapshot = await world.testClient.snapshot()
      await world.succeed(world.bidTx(world.alice, world.request({ token: world.token })))
      const token = { address: world.token, abi: testTokenAbi } as const
      expect(await world.publicClient.readContract({ ...token, functionName: 'calledBack' })).toBe(
        false,
      )
      expect(await world.money(world.token)).toEqual({ balance: 2_000n, owed: 2_000n })
      await world.testClient.revert({ id: snapshot })
    }
  })
})

describe('an account', () => {
  test('that can’t be paid harms only itself, as recipient and as payer', async () => {
    const wallet = await startWallet(world, world.payments)
    await wallet.call('setMode', [REFUSE])
    const bad = await world.pay(world.alice, { paymentRecipient: wallet.address })
    const good = await world.pay(world.alice)
    const own = paymentInReceipt(
      await wallet.execute(world.bidTx(wallet.address, world.request()).data, 1_000n),
    )
    await world.succeed(refuseTx([own]))
    await world.succeed(releaseTx([bad, good]))
    await world.succeed(world.withdrawTx(world.treasury, NATIVE, TO))
    expect(await world.balance(TO)).toBe(1_000n)
    const toItself = world.withdrawTx(wallet.address, NATIVE, wallet.address).data
    await expect(wallet.execute(toItself)).rejects.toThrow()
    expect(await world.money(NATIVE)).toEqual({ balance: 2_000n, owed: 2_000n })
    await wallet.execute(world.withdrawTx(wallet.address, NATIVE, TO).data)
    expect(await world.balance(TO)).toBe(3_000n)
  })

  test('that calls back while it is paid is paid once', async () => {
    const wallet = await startWallet(world, world.payments)
    await world.pay(world.alice)
    const own = paymentInReceipt(
      await wallet.execute(world.bidTx(wallet.address, world.request()).data, 1_000n),
    )
    await world.succeed(refuseTx([own]))
    const again = world.withdrawTx(wallet.address, NATIVE, wallet.address).data
    await wallet.call('setCallBack', [world.payments, again])
    await wallet.execute(again)
    const receiver = { address: wallet.address, abi: testWalletAbi } as const
    expect(await world.publicClient.readContract({ ...receiver, functionName: 'calledBack' })).toBe(
      false,
    )
    expect(await world.balance(wallet.address)).toBe(1_000n)
    expect(await world.money(NATIVE)).toEqual({ balance: 1_000n, owed: 1_000n })
  })

  test('with the relayer role may be a contract that signs by ERC-1271', async () => {
    const wallet = await world.deploy(
      encodeDeployData({
        abi: testSmartWalletAbi,
        bytecode: testSmartWalletBytecode,
        args: [world.carol],
      }),
    )
    await world.succeed(world.call(world.owner, 'setRelayer', [wallet]))
    const payment = await world.pay(world.alice, { walletName: OTHER })
    const ids = [paymentId(payment, world.payments)]
    const releasing = async (signer: typeof world.carol) =>
      world.call(world.bob, 'releaseFor', [[payment], await world.sign(ids, signer)])
    expect(await world.reasonOf(await releasing(world.bob))).toBe('NotSigned')
    await world.succeed(await releasing(world.carol))
    expect(await world.outcomeOf(payment)).toBe(OUTCOME.released)
  })
})

const at = () => ({ address: world.payments, abi: communityPaymentsAbi }) as const
