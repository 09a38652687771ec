import { encodeDeployData, encodeFunctionData, getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  testSmartWalletAbi,
  testSmartWalletBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestSmartWallet.js'
import { testTokenAbi } from '../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { testWalletAbi } from '../../contracts/evm/artifacts/test-doubles/TestWallet.js'
import { freshEach } from './support/chain.js'
import { nameOf } from './support/hub.js'
import {
  NATIVE,
  OUTCOME,
  type Payment,
  type PaymentsWorld,
  paymentEvents,
  paymentId,
  paymentOf,
  startPaymentsWorld,
  TOKEN,
} from './support/payments.js'
import { REFUSE, startWallet } from './support/wallet.js'

const TO = '0x00000000000000000000000000000000000000B0'

let world: PaymentsWorld

beforeAll(async () => {
  world = await startPaymentsWorld()
})
freshEach(() => world)
afterAll(() => world.stop())

const refuse = (...payments: Parameters<typeof world.endTx>[1]) =>
  world.succeed(world.endTx('refuse', payments, world.relayer))
const release = (...payments: Parameters<typeof world.endTx>[1]) =>
  world.succeed(world.endTx('release', payments, world.relayer))
const tokenTx = (functionName: 'setBlocked' | 'setCallBack' | 'burn', args: readonly unknown[]) => ({
  from: world.owner,
  to: world.token,
  data: encodeFunctionData({ abi: testTokenAbi, functionName, args: args as never }),
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
    expect(await world.money(world.token)).toEqual({ balance: 1_000n, owed: 1_000n })
    expect(await world.money(NATIVE)).toEqual({ balance: 0n, owed: 0n })
  })

  test.each([
    ['takes a fee', TOKEN.feeFromReceiver, 'WrongTransfer'],
    ['rounds down', TOKEN.roundDown, 'WrongTransfer'],
    ['says that it has moved what it has not', TOKEN.lie, 'WrongTransfer'],
    ['answers balances that no code can begin with', TOKEN.answerEf, 'WrongTransfer'],
    ['says no', TOKEN.sayNo, 'SafeERC20FailedOperation'],
    ['reverts', TOKEN.revert, 'Error'],
  ])('that %s is refused as payment; what can`t be paid out of it stays owed', async (_, mode, error) => {
    await refuse(await world.pay(world.bob, { token: world.token }))
    await world.setToken(mode)
    expect(await world.reasonOf(world.bidTx(world.alice, inToken()))).toBe(error)
    const payout = world.withdrawTx(world.bob, world.token, TO)
    const reason = await world.reasonOf(payout)
    expect([error, undefined]).toContain(reason)
    if (reason === undefined) await world.succeed(payout)
    await world.setToken(TOKEN.plain)
    const left = await world.creditOf(world.bob, world.token)
    expect((await world.balanceOf(world.token, TO)) + left).toBe(1_000n)
    if (left > 0n) await world.succeed(world.withdrawTx(world.bob, world.token, TO))
    expect(await world.money(world.token)).toEqual({ balance: 0n, owed: 0n })
  })

  test('that rounds its transfers down pays out all but what it rounded off, which stays owed', async () => {
    await refuse(await world.pay(world.bob, { token: world.token }))
    await world.setToken(TOKEN.roundDown)
    const receipt = await world.succeed(world.withdrawTx(world.bob, world.token, TO))
    expect(paymentEvents(receipt).at(-1)).toEqual(['Withdrawn', getAddress(world.bob), world.token, TO, 999n])
    expect(await world.creditOf(world.bob, world.token)).toBe(1n)
    expect(await world.money(world.token)).toEqual({ balance: 1n, owed: 1n })
    expect(await world.reasonOf(world.withdrawTx(world.bob, world.token, TO))).toBe('WrongTransfer')
  })

  test('that charges its sender on top can`t take it from what others are owed', async () => {
    const payment = await world.pay(world.alice, { token: world.token })
    await world.pay(world.bob, { token: world.token })
    await refuse(payment)
    await world.setToken(TOKEN.feeFromSender)
    expect(await world.reasonOf(world.withdrawTx(world.alice, world.token, TO))).toBe('WrongTransfer')
  })

  test('that takes balances away leaves no other token short, nor the chain`s coin', async () => {
    const payments = [
      await world.pay(world.alice, { token: world.token }),
      await world.pay(world.alice),
      await world.pay(world.alice, { token: world.otherToken }),
    ]
    await refuse(...payments)
    await world.succeed(tokenTx('burn', [world.payments, 1_000n]))
    expect(await world.reasonOf(world.withdrawTx(world.alice, world.token, TO))).toBe('ERC20InsufficientBalance')
    for (const other of [NATIVE, world.otherToken]) await world.succeed(world.withdrawTx(world.alice, other, TO))
    expect(await world.balanceOf(world.otherToken, TO)).toBe(1_000n)
  })

  test('that is none, or was not approved, is refused', async () => {
    const none = world.request({ token: TO })
    expect(await world.reasonOf(world.bidTx(world.alice, none)).catch(() => 'no contract')).toBe('no contract')
    expect(await world.reasonOf(world.bidTx(world.till, inToken()))).toBe('ERC20InsufficientAllowance')
  })

  test('that calls back finds the door shut', async () => {
    const payment = await world.pay(world.alice, { token: world.token })
    const word = await world.sign([paymentId(payment, world.payments)])
    // all that a stranger, the token among them, may do at any time
    const calls = [
      world.bidTx(world.bob, world.request({ token: world.otherToken })),
      world.call(world.bob, 'releaseFor', [[payment], word]),
      world.call(world.bob, 'releaseAndWithdraw', [[payment], word, NATIVE, TO]),
      world.endTx('reclaim', [], world.alice),
      world.call(world.bob, 'withdrawFor', [world.alice, NATIVE]),
      world.withdrawTx(world.alice, NATIVE, TO),
    ]
    await refuse(await world.pay(world.alice))
    for (const { data } of calls) {
      await world.succeed(tokenTx('setCallBack', [world.payments, data]))
      const snapshot = await world.testClient.snapshot()
      await world.succeed(world.bidTx(world.alice, inToken()))
      const at = { address: world.token, abi: testTokenAbi } as const
      expect(await world.publicClient.readContract({ ...at, functionName: 'calledBack' })).toBe(false)
      expect(await world.money(world.token)).toEqual({ balance: 2_000n, owed: 2_000n })
      await world.testClient.revert({ id: snapshot })
    }
  })

  test('that shuts an account out harms nobody: who is owed names another address', async () => {
    const payment = await world.pay(world.alice, { token: world.token })
    await world.succeed(tokenTx('setBlocked', [world.treasury]))
    await release(payment)
    expect(await world.reasonOf(world.withdrawTx(world.treasury, world.token, world.treasury))).toBe('Error')
    expect(await world.reasonOf(world.call(world.bob, 'withdrawFor', [world.treasury, world.token]))).toBe('Error')
    await world.succeed(world.withdrawTx(world.treasury, world.token, TO))
    expect(await world.balanceOf(world.token, TO)).toBe(1_000n)
  })
})

test('a payment costs one slot: 75,000 gas in the chain`s coin, 100,000 in a token, whatever the name', async () => {
  const long = nameOf('abcdefghijklmnopqrstuvwxyz012345')
  const names = { communityName: long, walletName: long }
  const gasOf = async (tx: Parameters<typeof world.succeed>[0]) => Number((await world.succeed(tx)).gasUsed)
  const first = await gasOf(world.bidTx(world.alice, world.request()))
  await world.pay(world.alice, { token: world.token })
  const gas = {
    first,
    native: await gasOf(world.bidTx(world.bob, world.request())),
    nativeLong: await gasOf(world.bidTx(world.bob, world.request(names))),
    token: await gasOf(world.bidTx(world.alice, world.request({ token: world.token }))),
    tokenLong: await gasOf(world.bidTx(world.alice, world.request({ ...names, token: world.token }))),
  }
  expect(Math.max(gas.native, gas.nativeLong), JSON.stringify(gas)).toBeLessThanOrEqual(75_000)
  expect(Math.max(gas.token, gas.tokenLong), JSON.stringify(gas)).toBeLessThanOrEqual(100_000)
  expect(first).toBeLessThanOrEqual(95_000)
  const many: Payment[] = []
  for (let i = 0; i < 21; i++) many.push(await world.pay(world.alice))
  const alone = await gasOf(world.endTx('refuse', many.slice(0, 1), world.relayer))
  const refused = await gasOf(world.endTx('refuse', many.slice(1), world.relayer))
  expect(refused / 20, `${alone} alone`).toBeLessThanOrEqual(22_000)
  expect(alone).toBeLessThanOrEqual(82_000)
})

describe('an account', () => {
  test('that can`t be paid harms itself alone, as recipient and as payer', async () => {
    const wallet = await startWallet(world, world.payments)
    await wallet.call('setMode', [REFUSE])
    const bad = await world.pay(world.alice, { paymentRecipient: wallet.address })
    const good = await world.pay(world.alice)
    const own = paymentOf(await wallet.execute(world.bidTx(wallet.address, world.request()).data, 1_000n))
    await refuse(own)
    await release(bad, good)
    await world.succeed(world.withdrawTx(world.treasury, NATIVE, TO))
    expect(await world.balance(TO)).toBe(1_000n)
    const toItself = world.withdrawTx(wallet.address, NATIVE, wallet.address).data
    await expect(wallet.execute(toItself)).rejects.toThrow()
    expect(await world.money(NATIVE)).toEqual({ balance: 2_000n, owed: 2_000n })
    await wallet.execute(world.withdrawTx(wallet.address, NATIVE, TO).data)
    expect(await world.balance(TO)).toBe(3_000n)
  })

  test('that can`t call `withdraw` is paid by anybody, and nobody else is', async () => {
    const wallet = await startWallet(world, world.token)
    await release(await world.pay(world.alice, { paymentRecipient: wallet.address }))
    await world.succeed(world.call(world.bob, 'withdrawFor', [wallet.address, NATIVE]))
    expect(await world.balance(wallet.address)).toBe(1_000n)
    expect(await world.reasonOf(world.call(world.bob, 'withdrawFor', [wallet.address, NATIVE]))).toBe('NothingOwed')
    await refuse(await world.pay(world.alice))
    expect(await world.reasonOf(world.call(world.alice, 'withdrawFor', [NATIVE, NATIVE]))).toBe('ZeroAddress')
    expect(await world.reasonOf(world.withdrawTx(world.alice, NATIVE, NATIVE))).toBe('ZeroAddress')
  })

  test('that calls back while it is paid is paid once', async () => {
    const wallet = await startWallet(world, world.payments)
    await world.pay(world.alice)
    await refuse(paymentOf(await wallet.execute(world.bidTx(wallet.address, world.request()).data, 1_000n)))
    const again = world.withdrawTx(wallet.address, NATIVE, wallet.address).data
    await wallet.call('setCallBack', [world.payments, again])
    await wallet.execute(again)
    const at = { address: wallet.address, abi: testWalletAbi } as const
    expect(await world.publicClient.readContract({ ...at, functionName: 'calledBack' })).toBe(false)
    expect(await world.balance(wallet.address)).toBe(1_000n)
    expect(await world.money(NATIVE)).toEqual({ balance: 1_000n, owed: 1_000n })
  })

  test('with the relayer role may be a contract, whose word is ERC-1271`s', async () => {
    const wallet = await world.deploy(
      encodeDeployData({ abi: testSmartWalletAbi, bytecode: testSmartWalletBytecode, args: [world.carol] }),
    )
    await world.succeed(world.call(world.owner, 'setRelayer', [wallet]))
    const payment = await world.pay(world.alice, { walletName: nameOf('other') })
    const ids = [paymentId(payment, world.payments)]
    const releasing = async (signer: typeof world.carol) =>
      world.call(world.bob, 'releaseFor', [[payment], await world.sign(ids, signer)])
    expect(await world.reasonOf(await releasing(world.bob))).toBe('NotSigned')
    await world.succeed(await releasing(world.carol))
    expect(await world.outcomeOf(payment)).toBe(OUTCOME.released)
  })
})
