import fc from 'fast-check'
import { type Address, encodeFunctionData, getAddress, type Hex, zeroHash } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import { testTokenAbi } from '../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { TEST_MNEMONIC } from '../../src/testing/chains/anvil.js'
import { useWorld } from '../support/useWorld.js'
import { createBlocks, MANY_CALLS } from './support/blocks.js'
import { nameOf } from './support/hub.js'
import {
  type EndingCall,
  errorOf,
  MAX_AMOUNT,
  NATIVE,
  type Payment,
  paymentEvents,
  RECLAIM_S,
  startPaymentsWorld,
  TOKEN,
} from './support/payments.js'
import { createPaymentsModel, type Outcome } from './support/paymentsModel.js'
import { expectRecord } from './support/record.js'

/** Number of calls in a run. `FUZZ_CALLS=100000` makes a long one, `FUZZ_SEED` repeats one. */
const CALLS = Number(process.env.FUZZ_CALLS ?? 1_000)
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))
const CALLS_A_BLOCK = 80
/** Addresses that only receive, so that their balance is the sum of their payments. */
const RECEIVERS = [
  '0x00000000000000000000000000000000000000e0',
  '0x00000000000000000000000000000000000000e1',
].map((address) => getAddress(address))

const name = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .constantFrom('club', 'guild', 'a', '0123456789abcdefghijklmnopqrst-_')
      .map(nameOf),
  },
  { weight: 1, arbitrary: fc.constantFrom(zeroHash, nameOf('Club'), nameOf('a b')) },
)
const amount = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt(1n, 10n ** 18n) },
  { weight: 2, arbitrary: fc.bigInt(1n, MAX_AMOUNT) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0n, 1n, 9n, 10n, MAX_AMOUNT, MAX_AMOUNT + 1n, 2n ** 256n - 1n),
  },
  { weight: 1, arbitrary: fc.bigInt(0n, 2n ** 256n - 1n) },
)
/** Any account, including accounts with roles. */
const who = fc.nat(9)
const rarely = fc.nat(19).map((n) => n === 0)
/** Index of a payment or credit, mostly an existing one, see `plan`. */
const pick = fc.nat(99_999)
const picks = fc.array(pick, { minLength: 0, maxLength: 4 })
const end = fc.record({ picks, who, isStranger: rarely, isForged: rarely })
const payout = { token: fc.nat(3), to: fc.nat(3) }
const of = <K extends string, T>(kind: K, arbitrary: fc.Arbitrary<T>, weight: number) => ({
  weight,
  arbitrary: arbitrary.map((rest) => ({ kind, ...rest })),
})
const action = fc.oneof(
  of(
    'pay',
    fc.record({ who, token: fc.nat(3), amount, to: who, community: name, name, isOff: rarely }),
    8,
  ),
  of('refuse', end, 2),
  of('release', end, 2),
  of('reclaim', end, 2),
  of('releaseFor', end, 2),
  of('releaseAndWithdraw', fc.record({ end, ...payout }), 1),
  of('reclaimAndWithdraw', fc.record({ end, ...payout }), 2),
  of('withdraw', fc.record({ pick, who, ...payout }), 3),
  of('withdrawFor', fc.record({ pick, who, account: who, token: fc.nat(3) }), 2),
  of('mode', fc.record({ mode: fc.constantFrom(...Object.values(TOKEN)), call: fc.nat(2) }), 1),
  of('blocked', fc.record({ account: fc.nat(11) }), 1),
  of('burn', fc.record({ amount: fc.bigInt(1n, 10n ** 6n) }), 1),
  of('relayer', fc.record({ who, next: who, isOwner: fc.boolean() }), 1),
  of('pause', fc.record({ who, isRole: fc.boolean() }), 1),
  of('unpause', fc.record({ who, isRole: fc.nat(9).map((n) => n > 0) }), 2),
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never
const waitS = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt(1n, 60n) },
  { weight: 1, arbitrary: fc.constantFrom(RECLAIM_S - 1n, RECLAIM_S, RECLAIM_S / 3n) },
)

const world = useWorld(() => startPaymentsWorld({ extraArgs: MANY_CALLS }))

beforeAll(async () => {
  for (const address of world.accounts)
    await world.testClient.setBalance({ address, value: 2n ** 200n })
})

test(`${CALLS} calls of anybody do what the description says, to money and payments (seed ${SEED})`, async () => {
  const accounts = world.accounts.map((address) => getAddress(address))
  const tokens = [NATIVE, world.otherToken, world.token, world.token]
  const [owner, relayer, pauser] = [world.owner, world.relayer, world.pauser].map((address) =>
    getAddress(address),
  ) as [Address, Address, Address]
  const model = createPaymentsModel(world.payments, RECLAIM_S, world.token, {
    owner,
    relayer,
    pauser,
  })
  const blocks = createBlocks(world)
  const seen = new Map<string, number>()
  const actions = fc.sample(action, { seed: SEED, numRuns: CALLS })
  const waits = fc.sample(waitS, { seed: SEED, numRuns: Math.ceil(CALLS / CALLS_A_BLOCK) })

  const payoutOf = (one: { token: number; to: number }, payment: Payment | undefined) => ({
    token: one.token === 0 ? NATIVE : (payment?.token ?? tokens[one.token]!),
    to: one.to === 3 ? NATIVE : RECEIVERS[one.to % 2]!,
  })

  const keys = accounts.map((_, addressIndex) => mnemonicToAccount(TEST_MNEMONIC, { addressIndex }))
  const signed = (signer: Address, payments: readonly Payment[]) =>
    keys[accounts.indexOf(signer)]!.signTypedData(
      world.release(payments.map((payment) => model.idOf(payment))),
    )
  const tokenTx = (functionName: string, args: readonly unknown[]) => ({
    from: owner,
    to: world.token,
    data: encodeFunctionData({ abi: testTokenAbi, functionName, args } as Parameters<
      typeof encodeFunctionData
    >[0]),
  })
  const none = (_: unknown): Outcome => []

  for (const [i, afterS] of waits.entries()) {
    const planned: Planned[] = []
    for (const one of actions.slice(i * CALLS_A_BLOCK, (i + 1) * CALLS_A_BLOCK))
      planned.push({ kind: one.kind, ...(await plan(one)) })
    const { mined, nowS } = await blocks.mine(planned, afterS)
    for (const [{ kind, expected }, receipt] of mined) {
      const logs = receipt.status === 'success' ? paymentEvents(receipt) : errorOf(receipt.output!)
      expect(logs, `${kind} in block ${i}`).toEqual(expected(nowS))
      const done = logs.length > 0 ? 'ok' : 'skipped'
      const result = typeof logs === 'string' ? logs : done
      seen.set(`${kind} ${result}`, (seen.get(`${kind} ${result}`) ?? 0) + 1)
    }
    for (const token of new Set(tokens)) expect(await moneyOf(token)).toEqual(model.money(token))
  }

  await expectRecord(world.publicClient, { payments: world.payments })

  // so that a token which hides its balances answers truthfully
  await world.succeed(tokenTx('setMode', [0]))
  for (const [key, paid] of model.paidOut) {
    const [to, token] = key.split(' ').map((address) => getAddress(address))
    if (RECEIVERS.includes(to!)) expect(await world.balanceOf(token!, to!)).toBe(paid)
  }
  for (const account of [...accounts, ...RECEIVERS])
    for (const token of new Set(tokens))
      expect(await world.creditOf(account, token)).toBe(
        model.credits.get(model.keyOf(account, token)) ?? 0n,
      )
  for (const payment of model.made.slice(-500))
    expect(await world.outcomeOf(payment)).toBe(model.outcomes.get(model.idOf(payment)))
  // rarer ends occur only in long runs
  const often = [
    'pay ok',
    'pay AmountTooLarge',
    'refuse ok',
    'releaseFor ok',
    'reclaim NotReclaimable',
    'withdraw ok',
    'withdrawFor ok',
  ]
  const rare = [
    'release ok',
    'reclaim ok',
    'reclaimAndWithdraw ok',
    'releaseAndWithdraw ok',
    'refuse skipped',
  ]
  for (const what of CALLS >= 10_000 ? [...often, ...rare] : often)
    expect(seen.get(what) ?? 0, what).toBeGreaterThan(0)
  if (CALLS > 10_000) console.log(Object.fromEntries([...seen].sort()))

  /** The contract's money, by the token's own books where the token's answer may be wrong. */
  async function moneyOf(token: Address) {
    const { balance, owed } = await world.money(token)
    const isOdd = balance === (0xefn << 248n) + 1n
    return { balance: isOdd ? model.money(token).balance : balance, owed }
  }

  interface Planned {
    kind: string
    from: Address
    to: Address
    data: Hex
    value?: bigint
    expected: (nowS: bigint) => Outcome
  }

  async function plan(one: Action): Promise<Omit<Planned, 'kind'>> {
    switch (one.kind) {
      case 'pay': {
        const from = accounts[one.who]!
        const token = tokens[one.token]!
        const to = accounts[one.to]!
        const bid = world.request({ token, amount: one.amount, paymentRecipient: to })
        const full = { ...bid, communityName: one.community, walletName: one.name }
        const exact = token === NATIVE && one.amount <= MAX_AMOUNT ? one.amount : 0n
        const value = exact + (one.isOff ? 1n : 0n)
        return {
          ...world.bidTx(from, full, value),
          expected: (nowS) => model.pay(from, full, value, nowS),
        }
      }
      case 'refuse':
      case 'release':
      case 'reclaim': {
        const { payments, from } = chosen(one.kind, one)
        const tx = world.endTx(one.kind, payments, from)
        return { ...tx, expected: (nowS) => model.end(one.kind, payments, from, nowS) }
      }
      case 'releaseFor': {
        const { payments, from } = chosen('refuse', one)
        const signature = await signed(from, payments)
        const tx = world.call(accounts[one.who]!, 'releaseFor', [payments, signature])
        return { ...tx, expected: (nowS) => model.releaseFor(payments, from, nowS) }
      }
      case 'releaseAndWithdraw': {
        const { payments, from: signer } = chosen('refuse', one.end)
        const from = one.end.isStranger
          ? accounts[one.end.who]!
          : (payments[0]?.recipient ?? accounts[one.end.who]!)
        const { token, to } = payoutOf(one, payments[0])
        const tx = world.call(from, one.kind, [payments, await signed(signer, payments), token, to])
        const release = (nowS: bigint) => () => model.releaseFor(payments, signer, nowS)
        return { ...tx, expected: (nowS) => model.endAndWithdraw(release(nowS), from, token, to) }
      }
      case 'reclaimAndWithdraw': {
        const { payments, from } = chosen('reclaim', one.end)
        const { token, to } = payoutOf(one, payments[0])
        const tx = world.call(from, one.kind, [payments, token, to])
        const reclaim = (nowS: bigint) => () => model.end('reclaim', payments, from, nowS)
        return { ...tx, expected: (nowS) => model.endAndWithdraw(reclaim(nowS), from, token, to) }
      }
      case 'withdraw': {
        const [from, token] = creditor(one, tokens[one.token]!)
        const to = one.to === 3 ? NATIVE : RECEIVERS[one.to % 2]!
        return {
          ...world.withdrawTx(from, token, to),
          expected: () => model.withdraw(from, token, to),
        }
      }
      case 'withdrawFor': {
        const [account, token] = creditor({ ...one, who: one.account }, tokens[one.token]!)
        const tx = world.call(accounts[one.who]!, 'withdrawFor', [account, token])
        return { ...tx, expected: () => model.withdraw(account, token, account) }
      }
      case 'mode': {
        const calls = [world.withdrawTx(owner, NATIVE, owner), world.endTx('reclaim', [], owner)]
        const tx =
          one.mode === TOKEN.callBack
            ? tokenTx('setCallBack', [
                world.payments,
                (calls[one.call] ?? world.call(owner, 'withdrawFor', [owner, NATIVE])).data,
              ])
            : tokenTx('setMode', [one.mode])
        return { ...tx, expected: () => none(model.setMode(one.mode)) }
      }
      case 'blocked': {
        const account = [...accounts, ...RECEIVERS][one.account]!
        return {
          ...tokenTx('setBlocked', [account]),
          expected: () => none(model.setBlocked(account)),
        }
      }
      case 'burn':
        return {
          ...tokenTx('burn', [world.payments, one.amount]),
          expected: () => model.burn(one.amount),
        }
      case 'relayer': {
        // mostly set back, so that signatures stay valid
        const next = one.next < 7 ? relayer : accounts[one.next]!
        const from = one.isOwner ? owner : accounts[one.who]!
        const tx = world.call(from, 'setRelayer', [next])
        return { ...tx, expected: () => model.setRelayer(from, next) }
      }
      case 'pause': {
        const from = one.isRole ? pauser : accounts[one.who]!
        return { ...world.call(from, 'pause', []), expected: () => model.pause(from) }
      }
      case 'unpause': {
        const from = one.isRole ? owner : accounts[one.who]!
        return { ...world.call(from, 'unpause', []), expected: () => model.unpause(from) }
      }
    }
  }

  /** Payments of a call that ends them, and an account that mostly may end them. */
  function chosen(
    kind: EndingCall,
    { picks, who, isStranger, isForged }: typeof end extends fc.Arbitrary<infer T> ? T : never,
  ) {
    const all = model.made
    const newest = all.slice(-40)
    const pool = (n: number) => (n % 3 === 0 ? all[n % all.length] : newest[n % newest.length])
    const picked = picks.flatMap((n) => pool(n) ?? [])
    const [first] = picked
    const payer = first?.payer ?? accounts[who]!
    const ofOne =
      kind === 'reclaim' && !isStranger
        ? picked.filter((payment) => payment.payer === payer)
        : picked
    const payments = isForged
      ? ofOne.map((payment): Payment => ({ ...payment, amount: payment.amount ^ 1n }))
      : ofOne
    if (isStranger) return { payments, from: accounts[who]! }
    return { payments, from: kind === 'reclaim' ? payer : model.relayer() }
  }

  /** Mostly an account with a credit. */
  function creditor(
    { pick, who }: { pick: number; who: number },
    token: Address,
  ): [Address, Address] {
    const owed = [...model.credits]
      .filter(([, amount]) => amount > 0n)
      .map(([key]) => key.split(' '))
    const [account, of] = pick % 10 === 0 ? [] : (owed[pick % owed.length] ?? [])
    return account && of ? [getAddress(account), getAddress(of)] : [accounts[who]!, token]
  }
})
