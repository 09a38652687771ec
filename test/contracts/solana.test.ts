import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { initializeRegistrarInstruction } from '../../src/chains/solana/admin.js'
import {
  changed,
  createSolanaWorld,
  EVENT_TAG,
  NOW,
  RECLAIM_SECONDS,
  RICH_LAMPORTS,
  type SolanaWorld,
  termsOf,
} from './support/solana.js'
import {
  callsOf,
  LAMPORTS,
  PAYMENT_BYTES,
  reads,
  type SolanaCalls,
  wordOf,
} from './support/solanaCalls.js'
import { accepted, type Calls } from './support/solanaCommunity.js'

/** Refusals by name, and limits to the second and to the lamport. solana-fuzz.test.ts covers successful calls. */

let world: SolanaWorld
let calls: SolanaCalls
beforeEach(() => {
  world = createSolanaWorld()
  calls = callsOf(world)
})

const ok = (...sent: Calls) => accepted(world, ...sent)
const refused = (...sent: Calls) => world.send(...sent).error
const paid = (...quotes: string[]) => quotes.map((quote) => ok(calls.register(quote)))
const U64_MAX = (1n << 64n) - 1n
const balances = () => {
  const { sequence, keptLamports: kept, heldLamports: held } = world.stateOf()
  const treasury = world.balanceOf(world.registrar.treasury) - world.reserve
  return { sequence, kept, held, treasury }
}

describe('register', () => {
  it('stores the payment', () => {
    ok(calls.register(), calls.register('q', {}, world.keys.bob))
    expect(world.registrar.decodePayment(world.accountOf(calls.paymentAt())!.data)).toEqual({
      payer: world.keys.alice,
      quoteId: wordOf('q'),
      lamports: LAMPORTS,
      sequence: 1n,
      reclaimableAt: NOW + RECLAIM_SECONDS,
    })
    expect(balances()).toEqual({
      sequence: 2n,
      kept: 0n,
      held: 2n * LAMPORTS,
      treasury: 2n * LAMPORTS,
    })
  })

  it.each([
    ['less than its rent', 1n],
    ['its rent', undefined],
    ['more than its rent', 10n ** 9n],
  ])("is not stopped by lamports sent to the payment's address before: %s", (_, lamports) => {
    const rent = world.rentOf(PAYMENT_BYTES)
    const gift = lamports ?? rent
    world.give(calls.paymentAt(), gift)
    paid('q')
    const missing = gift < rent ? rent - gift : 0n
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS - LAMPORTS - missing)
    ok(calls.refund())
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS + gift)
  })

  it.each<[string, string, Parameters<SolanaCalls['register']>[1]]>([
    ['a quote that is paid', 'QuoteAlreadyPaid', {}],
    ['a quote a second too late', 'QuoteExpired', { expiresAt: NOW - 1n }],
    ['a quote that never was', 'QuoteExpired', { expiresAt: -1n }],
    ['nothing', 'ZeroLamports', { lamports: 0n }],
    ['more than the payer has', 'runtime', { lamports: RICH_LAMPORTS }],
    ['more than can be held', 'Overflow', { lamports: U64_MAX }],
  ])('takes no payment of %s: %s', (_, error, change) => {
    paid('q')
    expect(refused(calls.register(error === 'QuoteAlreadyPaid' ? 'q' : 'r', change))).toBe(error)
    expect(world.stateOf().sequence).toBe(1n)
  })
})

describe('settle and refund', () => {
  it.each<[string, string, () => TransactionInstruction]>([
    ['a payment twice', 'PaymentNotHeld', () => bothTimes('a')],
    ['another that never was', 'PaymentNotHeld', () => calls.settle({ b: 3n, never: 4n })],
    ['a settled one', 'PaymentNotHeld', () => calls.settle({ a: 1n })],
    ['a settled one, to refund', 'PaymentNotHeld', () => calls.refund({ a: 1n })],
    ['a refunded one', 'PaymentNotHeld', () => calls.settle({ q: 2n })],
    ['a refunded one, to refund', 'PaymentNotHeld', () => calls.refund({ q: 2n })],
    ['none', 'InvalidInstruction', () => calls.settle({})],
  ])('take all or nothing, once, by sequence: not %s: %s', (_, error, call) => {
    paid('a', 'q', 'b')
    ok(calls.settle({ a: 1n }), calls.refund({ q: 2n }))
    paid('q')
    expect(refused(call())).toBe(error)
    expect(balances()).toEqual({
      sequence: 4n,
      kept: LAMPORTS,
      held: 2n * LAMPORTS,
      treasury: 3n * LAMPORTS,
    })
  })

  const bothTimes = (quote: string) =>
    world.registrar.settle(world.keys.relay, [calls.keyOf(quote, 3n), calls.keyOf(quote, 3n)])

  it('leave no way to recreate the account within their transaction', () => {
    paid('q')
    const payment = calls.paymentAt()
    const revive = SystemProgram.transfer({
      fromPubkey: world.keys.bob,
      toPubkey: payment,
      lamports: 10_000_000,
    })
    expect(refused(calls.refund(), revive, calls.refund())).toBe('PaymentNotHeld')
    ok(calls.refund(), revive)
    expect(world.accountOf(payment)).toMatchObject({
      owner: SystemProgram.programId.toBase58(),
      data: Buffer.alloc(0),
    })
    paid('q')
    expect(balances()).toEqual({ sequence: 2n, kept: 0n, held: LAMPORTS, treasury: LAMPORTS })
  })

  it('pay a payer whose balance is zero', () => {
    paid('q')
    world.give(world.keys.alice, 0n)
    ok(calls.refund())
    expect(world.balanceOf(world.keys.alice)).toBe(LAMPORTS + world.rentOf(PAYMENT_BYTES))
  })

  it.each([
    ['dearer', 20_000n, 1],
    ['in another form', 6_960n, 1.5],
  ])('need no rent that is %s, nor does a withdrawal', (_, lamportsPerByte, factor) => {
    paid('lost', 'won')
    world.setRent(lamportsPerByte, factor)
    ok(calls.refund({ lost: 1n }), calls.settle({ won: 2n }))
    ok(calls.withdraw(LAMPORTS))
    expect(balances()).toMatchObject({ kept: 0n, held: 0n, treasury: 0n })
  })

  it('use no money that the treasury holds for others', () => {
    paid('a', 'b')
    const { treasury } = world.registrar
    const { owner, data } = world.accountOf(treasury)!
    world.setAccount(treasury, new PublicKey(owner), 2n * LAMPORTS - 1n, data)
    expect(refused(calls.refund({ a: 1n }))).toBe('TreasuryShort')
    world.setAccount(treasury, new PublicKey(owner), 2n * LAMPORTS, data)
    ok(calls.refund({ a: 1n }))
  })
})

it('a payment can be reclaimed by its payer from its time on, and can still be decided then', () => {
  paid('q', 'r', 's')
  world.at(RECLAIM_SECONDS - 1n)
  expect(refused(calls.reclaim())).toBe('NotReclaimable')
  world.at(RECLAIM_SECONDS)
  const toBob = changed(calls.reclaim(), {
    keys: (metas) => metas.with(0, { ...metas[0]!, pubkey: world.keys.bob }),
  })
  expect(refused(toBob)).toBe('WrongPayer')
  expect(refused(calls.reclaim('q', 2n))).toBe('PaymentNotHeld')
  ok(calls.reclaim())
  for (const call of [calls.reclaim(), calls.refund(), calls.settle({ q: 1n })])
    expect(refused(call)).toBe('PaymentNotHeld')
  ok(calls.settle({ r: 2n }), calls.refund({ s: 3n }))
})

describe('withdraw', () => {
  beforeEach(() => {
    paid('kept', 'held')
    ok(calls.settle({ kept: 1n }))
    // a gift to the treasury is not withdrawn
    ok(
      SystemProgram.transfer({
        fromPubkey: world.keys.bob,
        toPubkey: world.registrar.treasury,
        lamports: 5,
      }),
    )
  })

  it.each<[bigint, string]>([
    [LAMPORTS + 1n, 'InsufficientKept'],
    [U64_MAX, 'InsufficientKept'],
    [0n, 'ZeroLamports'],
  ])('takes what is kept, not %d lamports: %s', (lamports, error) => {
    expect(refused(calls.withdraw(lamports))).toBe(error)
    ok(calls.withdraw(LAMPORTS - 1n), calls.withdraw(1n))
    expect(balances()).toEqual({ sequence: 2n, kept: 0n, held: LAMPORTS, treasury: LAMPORTS + 5n })
  })

  it("pays into no account of the program's own", () => {
    const { registrar } = world
    for (const destination of [registrar.treasury, registrar.state, calls.paymentAt('held')])
      expect(refused(calls.withdraw(1n, destination))).toBe('InvalidDestination')
  })
})

it('an event is accepted only from the program', () => {
  const { programId, keys, registrar } = world
  const authority = reads(registrar.eventAuthority)
  const data = Buffer.concat([EVENT_TAG, Buffer.alloc(48)])
  const forged = (metas: TransactionInstruction['keys']) =>
    new TransactionInstruction({ programId, keys: metas, data })
  expect(refused(forged([{ ...reads(keys.stranger), isSigner: true }]))).toBe('WrongAddress')
  expect(refused(forged([authority]))).toBe('MissingSignature')
  expect(refused(forged([]))).toBe('WrongAccountCount')
  expect(refused(forged([authority, reads(programId)]))).toBe('WrongAccountCount')
})

describe('initialize', () => {
  let fresh: SolanaWorld
  beforeEach(() => {
    fresh = createSolanaWorld({ isInitialized: false })
  })
  const call = (by: PublicKey, reclaimSeconds = RECLAIM_SECONDS) =>
    initializeRegistrarInstruction(fresh.registrar, by, { ...termsOf(fresh.keys), reclaimSeconds })

  it('is allowed only to the upgrade authority, once', () => {
    const { deployer, stranger, admin, relay, treasurer } = fresh.keys
    expect(fresh.send(call(stranger)).error).toBe('NotUpgradeAuthority')
    fresh.give(fresh.registrar.state, 1n) // in the way of nobody
    expect(fresh.send(call(deployer)).error).toBeUndefined()
    const named = {
      adminAuthority: admin,
      proposedAdmin: null,
      relayAuthority: relay,
      treasuryAuthority: treasurer,
    }
    const counts = { sequence: 0n, communitySequence: 0n, keptLamports: 0n, heldLamports: 0n }
    expect(fresh.stateOf()).toEqual({ ...named, ...counts, reclaimSeconds: RECLAIM_SECONDS })
    expect(fresh.send(call(deployer)).error).toBe('AlreadyInitialized')
  })

  it('refuses another program’s upgrade authority', () => {
    const { stranger } = fresh.keys
    const { programData } = fresh.addForeignProgram(stranger)
    const at = call(stranger).keys.findIndex(({ pubkey }) => pubkey.equals(fresh.programData))
    const foreign = changed(call(stranger), { keys: (keys) => keys.with(at, reads(programData)) })
    expect(fresh.send(foreign).error).toBe('WrongAddress')
  })

  it.each<[string, string, (data: Buffer) => Buffer]>([
    ['of another owner', 'WrongOwner', (data) => data],
    ['cut short', 'InvalidAccountData', (data) => data.subarray(0, 44)],
    ['of another kind', 'InvalidAccountData', (data) => Buffer.from(data.with(0, 2))],
    ['without an authority', 'NotUpgradeAuthority', (data) => Buffer.from(data.with(12, 0))],
  ])('takes no program data %s: %s', (_, error, spoilt) => {
    const { owner, lamports, data } = fresh.accountOf(fresh.programData)!
    const by = error === 'WrongOwner' ? fresh.keys.deployer : new PublicKey(owner)
    fresh.setAccount(fresh.programData, by, lamports, spoilt(data))
    expect(fresh.send(call(fresh.keys.deployer)).error).toBe(error)
  })

  it.each([
    ['a second less than a day', 86_399n, 'ReclaimOutOfRange'],
    ['a day', 86_400n, undefined],
    ['30 days', 30n * 86_400n, undefined],
    ['a second more than 30 days', 30n * 86_400n + 1n, 'ReclaimOutOfRange'],
    ['for ever', U64_MAX, 'ReclaimOutOfRange'],
  ])('sets the time until payers may take back: %s', (_, seconds, error) => {
    expect(fresh.send(call(fresh.keys.deployer, seconds)).error).toBe(error)
    if (error === undefined) expect(fresh.stateOf().reclaimSeconds).toBe(seconds)
  })
})

describe('the admin authority', () => {
  it('sets the others, without the upgrade key', () => {
    const { stranger, bob, deployer, relay, treasurer } = world.keys
    paid('a')
    for (const by of [stranger, deployer, relay, treasurer])
      expect(refused(calls.setAuthorities(stranger, bob, by))).toBe('WrongAuthority')
    ok(calls.setAuthorities(stranger, bob))
    expect(refused(calls.settle({ a: 1n }))).toBe('WrongAuthority')
    ok(world.registrar.settle(stranger, [calls.keyOf('a', 1n)]))
    expect(refused(calls.withdraw(1n))).toBe('WrongAuthority')
  })

  it('hands over in two steps, of which the first can be undone', () => {
    const { bob, stranger, admin, relay } = world.keys
    const nobody = PublicKey.default
    for (const call of [
      calls.acceptAdmin(bob),
      calls.acceptAdmin(nobody),
      calls.proposeAdmin(bob, relay),
    ])
      expect(refused(call)).toBe('WrongAuthority')
    ok(calls.proposeAdmin(bob), calls.proposeAdmin(nobody))
    expect(refused(calls.acceptAdmin(bob))).toBe('WrongAuthority')
    ok(calls.proposeAdmin(bob))
    for (const call of [calls.acceptAdmin(stranger), calls.setAuthorities(bob, bob, bob)])
      expect(refused(call)).toBe('WrongAuthority')
    ok(calls.acceptAdmin(bob))
    expect(world.stateOf()).toMatchObject({ adminAuthority: bob, proposedAdmin: null })
    for (const call of [calls.proposeAdmin(admin), calls.acceptAdmin(bob)])
      expect(refused(call)).toBe('WrongAuthority')
  })
})
