import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  changed,
  createSolanaWorld,
  EVENT_TAG,
  eventsOf,
  NOW,
  RECLAIM_SECONDS,
  RICH_LAMPORTS,
  type SolanaWorld,
} from './support/solana.js'
import { callsOf, LAMPORTS, PAYMENT_BYTES, reads, type SolanaCalls, wordOf } from './support/solanaCalls.js'
import { accepted, type Calls } from './support/solanaCommunity.js'

let world: SolanaWorld
let calls: SolanaCalls
beforeEach(() => {
  world = createSolanaWorld()
  calls = callsOf(world)
})

const ok = (...sent: Calls) => accepted(world, ...sent)
const refused = (...sent: Calls) => world.send(...sent).error
const paid = (...quotes: string[]) => quotes.map((quote) => ok(calls.register(quote)))
const balances = () => {
  const { sequence, keptLamports: kept, heldLamports: held } = world.stateOf()
  const treasury = world.balanceOf(world.registrar.treasury) - world.reserve
  return { sequence, kept, held, treasury }
}

describe('register', () => {
  it('moves the lamports, remembers the payment and says so', () => {
    const { alice } = world.keys
    const events = ok(calls.register())
    const rent = world.rentOf(PAYMENT_BYTES)
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS - LAMPORTS - rent)
    expect(world.balanceOf(calls.paymentAt())).toBe(rent)
    const reclaimableAt = NOW + RECLAIM_SECONDS
    expect(world.registrar.decodePayment(world.accountOf(calls.paymentAt())!.data)).toEqual({
      ...{ payer: alice, quoteId: wordOf('q'), lamports: LAMPORTS, sequence: 1n, reclaimableAt },
    })
    expect(balances()).toEqual({ sequence: 1n, kept: 0n, held: LAMPORTS, treasury: LAMPORTS })
    expect(events).toEqual([
      {
        name: 'RegistrationPaid',
        data: {
          sequence: '1',
          payer: alice.toBase58(),
          quote_id: wordOf('q').toString('hex'),
          name: wordOf('name').toString('hex'),
          amount_wei: String((1n << 127n) + 10n ** 16n),
          lamports: String(LAMPORTS),
          expires_at: String(NOW),
          referral: wordOf('referral').toString('hex'),
          reclaimable_at: String(reclaimableAt),
        },
      },
    ])
  })

  it('works several times in one transaction', () => {
    const events = ok(calls.register('a'), calls.register('b', {}, world.keys.bob), calls.register('c'))
    expect(events.map(({ data }) => data.sequence)).toEqual(['1', '2', '3'])
    expect(balances()).toEqual({ sequence: 3n, kept: 0n, held: 3n * LAMPORTS, treasury: 3n * LAMPORTS })
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

  it('takes a quote once of each payer, and only until it expires', () => {
    paid('q')
    expect(refused(calls.register())).toBe('QuoteAlreadyPaid')
    ok(calls.register('q', {}, world.keys.bob))
    expect(refused(calls.register('late', { expiresAt: NOW - 1n }))).toBe('QuoteExpired')
    expect(refused(calls.register('never', { expiresAt: -1n }))).toBe('QuoteExpired')
    expect(world.stateOf().sequence).toBe(2n)
  })

  it('takes no payment of nothing, and none that the payer lacks', () => {
    expect(refused(calls.register('q', { lamports: 0n }))).toBe('ZeroLamports')
    expect(refused(calls.register('q', { lamports: RICH_LAMPORTS }))).toBe('runtime')
    expect(refused(calls.register('q', { lamports: (1n << 64n) - 1n }))).toBe('runtime')
    paid('q')
    expect(refused(calls.register('r', { lamports: (1n << 64n) - 1n }))).toBe('Overflow')
  })
})

describe('settle', () => {
  it('keeps the money of any number of payments and gives the rent back', () => {
    const quotes = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`q${n}`, BigInt(n + 1)]))
    paid(...Object.keys(quotes))
    const events = ok(calls.settle(quotes))
    expect(balances()).toEqual({ sequence: 12n, kept: 12n * LAMPORTS, held: 0n, treasury: 12n * LAMPORTS })
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS - 12n * LAMPORTS)
    for (const quote of Object.keys(quotes)) expect(world.balanceOf(calls.paymentAt(quote))).toBe(0n)
    const payer = world.keys.alice.toBase58()
    const settled = Object.entries(quotes).map(([quote, sequence]) => ({
      name: 'PaymentSettled',
      data: { sequence: String(sequence), payer, quote_id: wordOf(quote).toString('hex') },
    }))
    expect(events).toEqual(settled)
  })

  it('is all or nothing, and once', () => {
    paid('a', 'b')
    const twice = world.registrar.settle(world.keys.relay, [calls.keyOf('a', 1n), calls.keyOf('a', 1n)])
    expect(refused(twice)).toBe('PaymentNotHeld')
    expect(refused(calls.settle({ a: 1n, never: 2n }))).toBe('PaymentNotHeld')
    expect(balances()).toEqual({ sequence: 2n, kept: 0n, held: 2n * LAMPORTS, treasury: 2n * LAMPORTS })
    ok(calls.settle({ a: 1n }))
    expect(refused(calls.settle({ a: 1n }))).toBe('PaymentNotHeld')
    expect(refused(calls.refund({ a: 1n }))).toBe('PaymentNotHeld')
  })

  it('means the payment of its sequence, not a later one under the same quote, and so does a refund', () => {
    paid('q')
    ok(calls.refund())
    paid('q')
    expect(refused(calls.settle({ q: 1n }))).toBe('PaymentNotHeld')
    expect(refused(calls.refund({ q: 1n }))).toBe('PaymentNotHeld')
    ok(calls.settle({ q: 2n }))
  })

  it('needs a payment, and a payer to each', () => {
    paid('a')
    expect(refused(calls.settle({}))).toBe('InvalidInstruction')
    expect(refused(changed(calls.settle({ a: 1n }), { keys: (keys) => keys.slice(0, -1) }))).toBe('WrongAccountCount')
  })
})

describe('refund', () => {
  it('pays back what was paid, to who paid it, once', () => {
    paid('a', 'b')
    const events = ok(calls.refund({ a: 1n, b: 2n }))
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS)
    expect(balances()).toEqual({ sequence: 2n, kept: 0n, held: 0n, treasury: 0n })
    const data = { payer: world.keys.alice.toBase58(), lamports: String(LAMPORTS) }
    expect(events).toEqual([
      { name: 'PaymentRefunded', data: { ...data, sequence: '1', quote_id: wordOf('a').toString('hex') } },
      { name: 'PaymentRefunded', data: { ...data, sequence: '2', quote_id: wordOf('b').toString('hex') } },
    ])
    expect(refused(calls.refund({ a: 1n }))).toBe('PaymentNotHeld')
    expect(refused(calls.settle({ a: 1n }))).toBe('PaymentNotHeld')
  })

  it('leaves nothing to come back within its transaction', () => {
    paid('q')
    const payment = calls.paymentAt()
    const revive = SystemProgram.transfer({ fromPubkey: world.keys.bob, toPubkey: payment, lamports: 10_000_000 })
    expect(refused(calls.refund(), revive, calls.refund())).toBe('PaymentNotHeld')
    ok(calls.refund(), revive)
    expect(world.accountOf(payment)).toMatchObject({ owner: SystemProgram.programId.toBase58(), data: Buffer.alloc(0) })
    paid('q')
    expect(balances()).toEqual({ sequence: 2n, kept: 0n, held: LAMPORTS, treasury: LAMPORTS })
  })

  it('reaches a payer that holds nothing any more', () => {
    paid('q')
    world.give(world.keys.alice, 0n)
    ok(calls.refund())
    expect(world.balanceOf(world.keys.alice)).toBe(LAMPORTS + world.rentOf(PAYMENT_BYTES))
  })

  it.each([
    ['dearer', 20_000n, 1],
    ['in another form', 6_960n, 1.5],
  ])('needs no rent that is %s, nor does a withdrawal', (_, lamportsPerByte, factor) => {
    paid('lost', 'won')
    world.setRent(lamportsPerByte, factor)
    ok(calls.refund({ lost: 1n }), calls.settle({ won: 2n }))
    ok(calls.withdraw(LAMPORTS))
    expect(balances()).toMatchObject({ kept: 0n, held: 0n, treasury: 0n })
  })

  it('takes nothing that the treasury holds for others', () => {
    paid('a', 'b')
    const { treasury } = world.registrar
    const { owner, data } = world.accountOf(treasury)!
    world.setAccount(treasury, new PublicKey(owner), 2n * LAMPORTS - 1n, data)
    expect(refused(calls.refund({ a: 1n }))).toBe('TreasuryShort')
    world.setAccount(treasury, new PublicKey(owner), 2n * LAMPORTS, data)
    expect(refused(calls.refund({ a: 1n }))).toBe(undefined)
  })
})

describe('reclaim_payment', () => {
  it('is the payer’s, once nobody has decided in time', () => {
    paid('q')
    world.at(RECLAIM_SECONDS - 1n)
    expect(refused(calls.reclaim())).toBe('NotReclaimable')
    world.at(RECLAIM_SECONDS)
    const { keys, registrar } = world
    const theirs = changed(calls.reclaim(), { keys: (metas) => metas.with(0, { ...metas[0]!, pubkey: keys.bob }) })
    expect(refused(theirs)).toBe('WrongPayer')
    expect(refused(calls.reclaim('q', 2n))).toBe('PaymentNotHeld')
    const [event] = ok(calls.reclaim())
    const data = { sequence: '1', payer: keys.alice.toBase58(), quote_id: wordOf('q').toString('hex') }
    expect(event).toEqual({ name: 'PaymentReclaimed', data: { ...data, lamports: String(LAMPORTS) } })
    expect(world.balanceOf(keys.alice)).toBe(RICH_LAMPORTS)
    expect(balances()).toEqual({ sequence: 1n, kept: 0n, held: 0n, treasury: 0n })
    for (const call of [calls.reclaim(), calls.refund(), registrar.settle(keys.relay, [calls.keyOf()])])
      expect(refused(call)).toBe('PaymentNotHeld')
  })

  it('doesn’t end the relay authority’s power to decide', () => {
    paid('a', 'b')
    world.at(2n * RECLAIM_SECONDS)
    ok(calls.settle({ a: 1n }), calls.refund({ b: 2n }))
  })
})

describe('withdraw', () => {
  beforeEach(() => {
    paid('kept', 'held')
    ok(calls.settle({ kept: 1n }))
  })

  it('takes what is kept, never what is held', () => {
    expect(refused(calls.withdraw(LAMPORTS + 1n))).toBe('InsufficientKept')
    expect(refused(calls.withdraw((1n << 64n) - 1n))).toBe('InsufficientKept')
    expect(refused(calls.withdraw(0n))).toBe('ZeroLamports')
    ok(calls.withdraw(LAMPORTS - 1n))
    ok(calls.withdraw(1n))
    expect(refused(calls.withdraw(1n))).toBe('InsufficientKept')
    expect(world.balanceOf(world.keys.bob)).toBe(RICH_LAMPORTS + LAMPORTS)
    expect(balances()).toEqual({ sequence: 2n, kept: 0n, held: LAMPORTS, treasury: LAMPORTS })
  })

  it("pays into no account of the program's own", () => {
    const { registrar } = world
    for (const destination of [registrar.treasury, registrar.state, calls.paymentAt('held')]) {
      expect(refused(calls.withdraw(1n, destination))).toBe('InvalidDestination')
    }
  })

  it('leaves a gift to the treasury where it is, and is not stopped by it', () => {
    const { treasury } = world.registrar
    ok(SystemProgram.transfer({ fromPubkey: world.keys.bob, toPubkey: treasury, lamports: 5 }))
    expect(refused(calls.withdraw(LAMPORTS + 1n))).toBe('InsufficientKept')
    ok(calls.withdraw(LAMPORTS))
  })
})

describe('an event', () => {
  it('is logged whole whatever was logged before', () => {
    const noise = Array.from({ length: 12 }, (_, n) => calls.register(`q${n}`))
    const outcome = world.send(...noise.slice(0, 3))
    expect(eventsOf(outcome)).toHaveLength(3)
    expect(outcome.logs.some((line) => line.startsWith('Program data: '))).toBe(false)
  })

  it('is taken from the program alone', () => {
    const { programId, keys, registrar } = world
    const [authority] = registrar.log
    const data = Buffer.concat([EVENT_TAG, Buffer.alloc(48)])
    const forged = (metas: TransactionInstruction['keys']) =>
      new TransactionInstruction({ programId, keys: metas, data })
    expect(refused(forged([{ ...reads(keys.stranger), isSigner: true }]))).toBe('WrongAddress')
    expect(refused(forged([authority!]))).toBe('MissingSignature')
    expect(refused(forged([]))).toBe('WrongAccountCount')
    expect(refused(forged([authority!, reads(programId)]))).toBe('WrongAccountCount')
  })
})
