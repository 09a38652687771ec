import {
  type Abi,
  type Address,
  encodeFunctionData,
  getAddress,
  type Hex,
  toEventSelector,
  toFunctionSelector,
  zeroHash,
} from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testTokenAbi } from '../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { testWalletAbi } from '../../contracts/evm/artifacts/test-doubles/TestWallet.js'
import { communityPaymentsAbi, communityPaymentsBytecode } from '../../src/chains/evm/contracts/index.js'
import { nameOf, word } from './support/hub.js'
import { HOLD_S, NATIVE, type PaymentsWorld, paymentEvents, startPaymentsWorld, TOKEN } from './support/payments.js'
import { REFUSE, startWallet } from './support/wallet.js'

const SIGNATURE = 'placeBid((address,uint256,address,bytes32,bytes32,bytes32))'
const TO = '0x00000000000000000000000000000000000000B0'
const CLUB = nameOf('club')
const FOOBAR = nameOf('foobar')

let world: PaymentsWorld
let fresh: Hex

beforeAll(async () => {
  world = await startPaymentsWorld()
})
beforeEach(async () => {
  if (fresh) await world.testClient.revert({ id: fresh })
  fresh = await world.testClient.snapshot()
})
afterAll(() => world.stop())

test('has the selector and the topic that clients in use send and read, nothing of it indexed', () => {
  const placeBid = communityPaymentsAbi.find((item) => item.type === 'function' && item.name === 'placeBid')!
  expect(toFunctionSelector(placeBid)).toBe(toFunctionSelector(SIGNATURE))
  const bid = communityPaymentsAbi.find((item) => item.type === 'event' && item.name === 'Bid')!
  expect(toEventSelector(bid)).toBe(
    toEventSelector('Bid(bytes32,uint256,address,uint256,address,bytes32,bytes32,bytes32)'),
  )
  const events = communityPaymentsAbi.filter((item) => item.type === 'event')
  const indexed = events.filter(({ inputs }) => inputs.some((input) => input.indexed)).map(({ name }) => name)
  // OpenZeppelin's own, and that of the roles
  expect(indexed.sort()).toEqual(['OwnershipTransferStarted', 'OwnershipTransferred', 'PauserSet'])
  expect(communityPaymentsBytecode.length / 2).toBeLessThan(24_576)
})

describe('a payment', () => {
  test('is held for its recipient, and keeps others off the name', async () => {
    const referralAddress = word(world.carol)
    const receipt = await world.succeed(world.bidTx(world.alice, world.request({ referralAddress })))
    const { timestamp } = await world.publicClient.getBlock({ blockNumber: receipt.blockNumber })
    const id = await world.paymentOf(CLUB, FOOBAR)
    const treasury = getAddress(world.treasury)
    expect(paymentEvents(receipt)).toEqual([
      ['Bid', word(world.alice), 31_337n, NATIVE, 1_000n, treasury, CLUB, FOOBAR, referralAddress],
      ['Held', id, timestamp + HOLD_S],
    ])
    expect(await world.money(NATIVE)).toEqual({ balance: 1_000n, held: 1_000n, credited: 0n })
    expect(await world.reasonOf(world.bidTx(world.bob, world.request({ amount: 9_999n })))).toBe('NameTaken')
    expect(await world.reasonOf(world.bidTx(world.alice, world.request()))).toBe('NameTaken')
    expect(await world.reasonOf(world.bidTx(world.bob, world.request({ walletName: nameOf('other') })))).toBeUndefined()
    expect(await world.reasonOf(world.bidTx(world.bob, world.request({ communityName: nameOf('o') })))).toBeUndefined()
  })

  test('that is refused goes back to its payer, to nobody else, and frees the name', async () => {
    const first = await world.pay(world.alice)
    const receipt = await world.succeed(world.refuseTx(first))
    expect(paymentEvents(receipt)).toEqual([['Refused', first, getAddress(world.alice), NATIVE, 1_000n]])
    expect(await world.money(NATIVE)).toEqual({ balance: 1_000n, held: 0n, credited: 1_000n })
    expect(await world.paymentOf(CLUB, FOOBAR)).toBe(zeroHash)
    for (const other of [world.owner, world.relayer, world.treasury, world.bob]) {
      expect(await world.reasonOf(world.withdrawTx(other, NATIVE, TO))).toBe('NothingOwed')
    }

    const second = await world.pay(world.alice)
    expect(second).not.toBe(first)
    expect(await world.reasonOf(world.refuseTx(first)), 'a late refusal hits nothing else').toBe('NotHeld')
    const paid = await world.succeed(world.withdrawTx(world.alice, NATIVE, TO))
    expect(paymentEvents(paid)).toEqual([['Withdrawn', getAddress(world.alice), NATIVE, TO, 1_000n]])
    expect(await world.balance(TO)).toBe(1_000n)
    expect(await world.reasonOf(world.withdrawTx(world.alice, NATIVE, TO))).toBe('NothingOwed')
    expect(await world.money(NATIVE)).toEqual({ balance: 1_000n, held: 1_000n, credited: 0n })
  })

  test('is the recipient`s once its time is over, whoever says so, and then can`t be refused', async () => {
    const id = await world.pay(world.alice)
    const { timestamp } = await world.publicClient.getBlock()
    const end = timestamp + HOLD_S
    expect(await world.reasonOf(world.releaseTx([id]))).toBe('StillHeld')
    expect(await statusAt(end - 1n, world.releaseTx([id]))).toBe('reverted')
    expect(await statusAt(end - 1n, world.refuseTx(id))).toBe('success')
    expect(await statusAt(end, world.refuseTx(id))).toBe('reverted')

    await world.testClient.setNextBlockTimestamp({ timestamp: end })
    const receipt = await world.succeed(world.releaseTx([id]))
    expect(paymentEvents(receipt)).toEqual([['Released', id, getAddress(world.treasury), NATIVE, 1_000n]])
    expect(await world.reasonOf(world.releaseTx([id]))).toBe('NotHeld')
    expect(await world.reasonOf(world.refuseTx(id))).toBe('NotHeld')
    expect(await world.reasonOf(world.bidTx(world.bob, world.request())), 'the name is sold').toBe('NameTaken')
    await world.succeed(world.withdrawTx(world.treasury, NATIVE, TO))
    expect(await world.balance(TO)).toBe(1_000n)
    expect(await world.money(NATIVE)).toEqual({ balance: 0n, held: 0n, credited: 0n })
  })

  test('and others of its recipient are released and fetched at once, or none', async () => {
    const a = await world.pay(world.alice, { walletName: nameOf('a') })
    const b = await world.pay(world.bob, { walletName: nameOf('b') })
    await world.wait(HOLD_S)
    const late = await world.pay(world.carol, { walletName: nameOf('c') })
    expect(await world.reasonOf(world.takeTx(world.treasury, [a, b, late], NATIVE, TO))).toBe('StillHeld')
    expect(await world.reasonOf(world.takeTx(world.treasury, [a, a], NATIVE, TO))).toBe('NotHeld')
    await world.succeed(world.takeTx(world.treasury, [a, b], NATIVE, TO))
    expect(await world.balance(TO)).toBe(2_000n)
    expect(await world.money(NATIVE)).toEqual({ balance: 1_000n, held: 1_000n, credited: 0n })
  })

  test.each([
    ['MalformedName', { communityName: nameOf('Club') }],
    ['MalformedName', { communityName: zeroHash }],
    ['MalformedName', { walletName: nameOf('foo bar') }],
    ['MalformedName', { walletName: zeroHash }],
    ['ZeroAmount', { amount: 0n }],
    ['ZeroAddress', { paymentRecipient: NATIVE }],
  ] as const)('is taken for a name, an amount and a recipient: %s', async (error, changes) => {
    expect(await world.reasonOf(world.bidTx(world.alice, world.request(changes)))).toBe(error)
  })

  test('brings exactly its amount', async () => {
    const native = world.request()
    for (const value of [0n, 999n, 1_001n]) {
      expect(await world.reasonOf(world.bidTx(world.alice, native, value))).toBe('WrongValue')
    }
    const inToken = world.request({ token: world.token })
    expect(await world.reasonOf(world.bidTx(world.alice, inToken, 1_000n))).toBe('WrongValue')
    expect(
      await world.reasonOf({ from: world.alice, to: world.payments, value: 1n, data: '0x' }).catch(() => 'none'),
    ).toBe('none')
  })

  test('that was not refused in time may be overridden by the owner, when its time is over; its money stays its own', async () => {
    const id = await world.pay(world.alice)
    expect(await world.reasonOf(world.reopenTx(CLUB, FOOBAR))).toBe('StillHeld')
    await world.wait(HOLD_S)
    expect(await world.reasonOf(world.reopenTx(CLUB, FOOBAR, world.relayer))).toBe('OwnableUnauthorizedAccount')
    const receipt = await world.succeed(world.reopenTx(CLUB, FOOBAR))
    expect(paymentEvents(receipt)).toEqual([['Reopened', CLUB, FOOBAR, id]])
    expect(await world.reasonOf(world.reopenTx(CLUB, FOOBAR))).toBe('NoPayment')
    const second = await world.pay(world.bob)
    expect(await world.paymentOf(CLUB, FOOBAR)).toBe(second)
    await world.succeed(world.takeTx(world.treasury, [id], NATIVE, TO))
    expect(await world.money(NATIVE)).toEqual({ balance: 1_000n, held: 1_000n, credited: 0n })
  })
})

describe('roles', () => {
  test('only the relayer refuses, not even the owner', async () => {
    const id = await world.pay(world.alice)
    for (const other of [world.owner, world.pauser, world.alice, world.treasury]) {
      expect(await world.reasonOf(world.refuseTx(id, other))).toBe('NotRelayer')
    }
  })

  test('a pause stops new payments and nothing else', async () => {
    const refused = await world.pay(world.alice, { walletName: nameOf('a') })
    const sold = await world.pay(world.alice, { walletName: nameOf('b') })
    expect(await world.reasonOf(call(world.alice, 'pause', []))).toBe('NotPauser')
    await world.succeed(call(world.pauser, 'pause', []))
    expect(await world.reasonOf(world.bidTx(world.bob, world.request()))).toBe('EnforcedPause')
    await world.succeed(world.refuseTx(refused))
    await world.wait(HOLD_S)
    await world.succeed(world.releaseTx([sold]))
    await world.succeed(world.withdrawTx(world.alice, NATIVE, TO))
    await world.succeed(world.withdrawTx(world.treasury, NATIVE, TO))
    expect(await world.balance(TO)).toBe(2_000n)
    expect(await world.reasonOf(call(world.pauser, 'unpause', []))).toBe('OwnableUnauthorizedAccount')
    await world.succeed(call(world.owner, 'unpause', []))
    await world.pay(world.bob)
  })

  test('only the owner sets anything, and stays', async () => {
    const calls = [
      call(world.alice, 'setHold', [1n]),
      call(world.alice, 'setRelayer', [world.alice]),
      call(world.alice, 'setPauser', [world.alice]),
      call(world.alice, 'transferOwnership', [world.alice]),
      call(world.alice, 'renounceOwnership', []),
    ]
    for (const tx of calls) expect(await world.reasonOf(tx)).toBe('OwnableUnauthorizedAccount')
    expect(await world.reasonOf(call(world.owner, 'renounceOwnership', []))).toBe('OwnerRequired')
    await world.succeed(call(world.owner, 'transferOwnership', [world.bob]))
    await world.succeed(call(world.owner, 'setHold', [1n]))
    await world.succeed(call(world.bob, 'acceptOwnership', []))
    expect(await world.reasonOf(call(world.owner, 'setHold', [1n]))).toBe('OwnableUnauthorizedAccount')
  })

  test('another hold is for payments to come, and never longer than a week', async () => {
    const id = await world.pay(world.alice)
    await world.succeed(call(world.owner, 'setHold', [0n]))
    expect(await world.reasonOf(world.releaseTx([id]))).toBe('StillHeld')
    const next = await world.pay(world.alice, { walletName: nameOf('next') })
    expect(await world.reasonOf(world.refuseTx(next))).toBe('HoldOver')
    await world.succeed(world.releaseTx([next]))
    expect(await world.reasonOf(call(world.owner, 'setHold', [7n * 86_400n]))).toBeUndefined()
    expect(await world.reasonOf(call(world.owner, 'setHold', [7n * 86_400n + 1n]))).toBe('HoldTooLong')
  })
})

describe('a token', () => {
  const inToken = () => world.request({ token: world.token })

  test.each([
    ['plain', TOKEN.plain],
    ['that answers nothing', TOKEN.sayNothing],
    ['that charges its sender something on top', TOKEN.feeFromSender],
  ])('%s is taken', async (_, mode) => {
    await world.setToken(mode)
    await world.pay(world.alice, { token: world.token })
    expect(await world.money(world.token)).toEqual({ balance: 1_000n, held: 1_000n, credited: 0n })
    expect(await world.money(NATIVE)).toEqual({ balance: 0n, held: 0n, credited: 0n })
  })

  test.each([
    ['takes a fee', TOKEN.feeFromReceiver, 'WrongTransfer'],
    ['says that it has moved what it has not', TOKEN.lie, 'WrongTransfer'],
    ['says no', TOKEN.sayNo, 'SafeERC20FailedOperation'],
    ['reverts', TOKEN.revert, 'Error'],
  ])('that %s is refused, as payment and as payout', async (_, mode, error) => {
    const id = await world.pay(world.bob, { token: world.token, walletName: nameOf('before') })
    await world.succeed(world.refuseTx(id))
    await world.setToken(mode)
    expect(await world.reasonOf(world.bidTx(world.alice, inToken()))).toBe(error)
    expect(await world.reasonOf(world.withdrawTx(world.bob, world.token, TO))).toBe(error)
    expect(await world.creditOf(world.bob, world.token), 'the credit stands').toBe(1_000n)
    await world.setToken(TOKEN.plain)
    await world.succeed(world.withdrawTx(world.bob, world.token, TO))
    expect(await world.balanceOf(world.token, TO)).toBe(1_000n)
  })

  test('that charges its sender on top can`t take it from what others are owed', async () => {
    const id = await world.pay(world.alice, { token: world.token })
    await world.pay(world.bob, { token: world.token, walletName: nameOf('other') })
    await world.succeed(world.refuseTx(id))
    await world.setToken(TOKEN.feeFromSender)
    expect(await world.reasonOf(world.withdrawTx(world.alice, world.token, TO))).toBe('WrongTransfer')
  })

  test('that is none, or was not approved, is refused', async () => {
    const none = world.request({ token: TO })
    expect(await world.reasonOf(world.bidTx(world.alice, none)).catch(() => 'no contract')).toBe('no contract')
    expect(await world.reasonOf(world.bidTx(world.till, inToken()))).toBe('ERC20InsufficientAllowance')
  })

  test('that calls back finds the door shut', async () => {
    const id = await world.pay(world.alice, { token: world.token, walletName: nameOf('before') })
    // whose time is over, so that anybody may release it, the token too
    await world.wait(HOLD_S)
    const other = world.bidTx(world.bob, world.request({ token: world.otherToken }))
    for (const { data } of [
      other,
      world.releaseTx([id]),
      world.withdrawTx(world.alice, NATIVE, TO),
      world.refuseTx(id),
    ]) {
      await world.succeed({
        from: world.owner,
        to: world.token,
        data: encodeFunctionData({ abi: testTokenAbi, functionName: 'setCallBack', args: [world.payments, data] }),
      })
      const snapshot = await world.testClient.snapshot()
      await world.succeed(world.bidTx(world.alice, inToken()))
      const at = { address: world.token, abi: testTokenAbi } as const
      expect(await world.publicClient.readContract({ ...at, functionName: 'calledBack' })).toBe(false)
      expect(await world.money(world.token)).toEqual({ balance: 2_000n, held: 2_000n, credited: 0n })
      await world.testClient.revert({ id: snapshot })
    }
  })

  test('that shuts an account out harms nobody: who is owed names another address', async () => {
    const id = await world.pay(world.alice, { token: world.token })
    await world.succeed({
      from: world.owner,
      to: world.token,
      data: encodeFunctionData({ abi: testTokenAbi, functionName: 'setBlocked', args: [world.treasury] }),
    })
    await world.wait(HOLD_S)
    expect(await world.reasonOf(world.takeTx(world.treasury, [id], world.token, world.treasury))).toBe('Error')
    await world.succeed(world.takeTx(world.treasury, [id], world.token, TO))
    expect(await world.balanceOf(world.token, TO)).toBe(1_000n)
  })
})

describe('an account that can`t be paid', () => {
  test('harms itself alone, as recipient and as payer', async () => {
    const wallet = await startWallet(world, world.payments)
    await wallet.call('setMode', [REFUSE])
    const bad = await world.pay(world.alice, { paymentRecipient: wallet.address, walletName: nameOf('bad') })
    const good = await world.pay(world.alice, { walletName: nameOf('good') })
    await wallet.execute(world.bidTx(wallet.address, world.request({ walletName: nameOf('own') })).data, 1_000n)
    await world.succeed(world.refuseTx(await world.paymentOf(CLUB, nameOf('own'))))
    await world.wait(HOLD_S)
    await world.succeed(world.releaseTx([bad, good]))
    await world.succeed(world.withdrawTx(world.treasury, NATIVE, TO))
    expect(await world.balance(TO)).toBe(1_000n)
    const toItself = world.withdrawTx(wallet.address, NATIVE, wallet.address).data
    await expect(wallet.execute(toItself)).rejects.toThrow()
    expect(await world.money(NATIVE)).toEqual({ balance: 2_000n, held: 0n, credited: 2_000n })
    await wallet.execute(world.withdrawTx(wallet.address, NATIVE, TO).data)
    expect(await world.balance(TO)).toBe(3_000n)
  })

  test('and one that calls back while it is paid is paid once', async () => {
    const wallet = await startWallet(world, world.payments)
    await world.pay(world.alice, { walletName: nameOf('other') })
    await wallet.execute(world.bidTx(wallet.address, world.request()).data, 1_000n)
    await world.succeed(world.refuseTx(await world.paymentOf(CLUB, FOOBAR)))
    const again = world.withdrawTx(wallet.address, NATIVE, wallet.address).data
    await wallet.call('setCallBack', [world.payments, again])
    await wallet.execute(again)
    const at = { address: wallet.address, abi: testWalletAbi } as const
    expect(await world.publicClient.readContract({ ...at, functionName: 'calledBack' })).toBe(false)
    expect(await world.balance(wallet.address)).toBe(1_000n)
    expect(await world.money(NATIVE)).toEqual({ balance: 1_000n, held: 1_000n, credited: 0n })
  })

  test('what is owed is paid to somebody', async () => {
    const id = await world.pay(world.alice)
    await world.succeed(world.refuseTx(id))
    expect(await world.reasonOf(world.withdrawTx(world.alice, NATIVE, NATIVE))).toBe('ZeroAddress')
  })
})

/** Outcome of a transaction in a block of this time. */
async function statusAt(timestamp: bigint, tx: ReturnType<PaymentsWorld['refuseTx']>) {
  const snapshot = await world.testClient.snapshot()
  await world.testClient.setNextBlockTimestamp({ timestamp })
  const receipt = await world.send(tx)
  expect((await world.publicClient.getBlock({ blockNumber: receipt.blockNumber })).timestamp).toBe(timestamp)
  await world.testClient.revert({ id: snapshot })
  return receipt.status
}

function call(from: Address, functionName: string, args: readonly unknown[]) {
  const data = encodeFunctionData<Abi, string>({ abi: communityPaymentsAbi, functionName, args })
  return { from, to: world.payments, data }
}
