import { PublicKey, SystemProgram } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { initializeInstruction } from '../../src/testing/solana/registrar.js'
import { changed, createSolanaWorld, NOW, RICH_LAMPORTS, type SolanaWorld } from './support/solana.js'
import { callsOf, LAMPORTS, PAYMENT_BYTES, type SolanaCalls, TREASURY_BYTES, wordOf } from './support/solanaCalls.js'

let world: SolanaWorld
let calls: SolanaCalls
beforeEach(() => {
  world = createSolanaWorld()
  calls = callsOf(world)
})

function paid(...quotes: string[]): void {
  for (const quote of quotes) expect(world.send(calls.register(quote)).error).toBeUndefined()
}

describe('register', () => {
  it('moves the lamports, remembers the payment and says so', () => {
    const { alice } = world.keys
    const { error, logs } = world.send(calls.register())
    expect(error).toBeUndefined()
    const [payment, treasury] = [world.registrar.payment(wordOf('q')), world.registrar.treasury]
    const rent = world.rentOf(PAYMENT_BYTES)
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS - LAMPORTS - rent)
    expect(world.balanceOf(treasury)).toBe(world.rentOf(TREASURY_BYTES) + LAMPORTS)
    expect(world.balanceOf(payment)).toBe(rent)
    expect(world.registrar.decodePayment(world.accountOf(payment)!.data)).toEqual({
      payer: alice,
      quoteId: wordOf('q'),
      lamports: LAMPORTS,
      sequence: 1n,
    })
    expect(world.stateOf()).toMatchObject({ sequence: 1n, keptLamports: 0n, heldLamports: LAMPORTS })
    expect(world.eventsOf(logs)).toEqual([
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
        },
      },
    ])
  })

  it('works several times in one transaction', () => {
    const { error, logs } = world.send(
      calls.register('a'),
      calls.register('b', {}, world.keys.bob),
      calls.register('c'),
    )
    expect(error).toBeUndefined()
    expect(world.eventsOf(logs).map(({ data }) => data.sequence)).toEqual(['1', '2', '3'])
    expect(world.stateOf()).toMatchObject({ sequence: 3n, heldLamports: 3n * LAMPORTS })
  })

  it.each([
    ['less than its rent', 1n],
    ['its rent', undefined],
    ['more than its rent', 10n ** 9n],
  ])("is not stopped by lamports sent to the payment's address before: %s", (_, lamports) => {
    const payment = world.registrar.payment(wordOf('q'))
    const rent = world.rentOf(PAYMENT_BYTES)
    const gift = lamports ?? rent
    world.give(payment, gift)
    paid('q')
    const missing = gift < rent ? rent - gift : 0n
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS - LAMPORTS - missing)
    expect(world.send(calls.refund()).error).toBeUndefined()
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS + gift)
  })

  it('takes a quote once, and only until it expires', () => {
    paid('q')
    expect(world.send(calls.register()).error).toBe('QuoteAlreadyPaid')
    expect(world.send(calls.register('late', { expiresAt: NOW - 1n })).error).toBe('QuoteExpired')
    expect(world.send(calls.register('never', { expiresAt: -1n })).error).toBe('QuoteExpired')
    expect(world.stateOf().sequence).toBe(1n)
  })

  it('takes no payment of nothing, and none that the payer lacks', () => {
    expect(world.send(calls.register('q', { lamports: 0n })).error).toBe('ZeroLamports')
    expect(world.send(calls.register('q', { lamports: RICH_LAMPORTS })).error).toBe('runtime')
    expect(world.send(calls.register('q', { lamports: (1n << 64n) - 1n })).error).toBe('runtime')
    paid('q')
    expect(world.send(calls.register('r', { lamports: (1n << 64n) - 1n })).error).toBe('Overflow')
  })
})

describe('settle', () => {
  it('keeps the money of any number of payments and gives the rent back', () => {
    const quotes = Array.from({ length: 12 }, (_, n) => `q${n}`)
    paid(...quotes)
    const { error, logs } = world.send(calls.settle(...quotes))
    expect(error).toBeUndefined()
    expect(world.stateOf()).toMatchObject({ keptLamports: 12n * LAMPORTS, heldLamports: 0n })
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS - 12n * LAMPORTS)
    for (const quote of quotes) expect(world.balanceOf(world.registrar.payment(wordOf(quote)))).toBe(0n)
    expect(world.eventsOf(logs)).toEqual(
      quotes.map((quote, n) => ({
        name: 'PaymentSettled',
        data: { sequence: String(n + 1), quote_id: wordOf(quote).toString('hex') },
      })),
    )
  })

  it('is all or nothing, and once', () => {
    paid('a', 'b')
    expect(world.send(calls.settle('a', 'a')).error).toBe('PaymentNotHeld')
    expect(world.send(calls.settle('a', 'never')).error).toBe('PaymentNotHeld')
    expect(world.stateOf()).toMatchObject({ keptLamports: 0n, heldLamports: 2n * LAMPORTS })
    expect(world.send(calls.settle('a')).error).toBeUndefined()
    expect(world.send(calls.settle('a')).error).toBe('PaymentNotHeld')
    expect(world.send(calls.refund('a')).error).toBe('PaymentNotHeld')
  })

  it('needs a payment, and a payer to each', () => {
    paid('a')
    expect(world.send(calls.settle()).error).toBe('WrongAccountCount')
    expect(world.send(changed(calls.settle('a'), { keys: (keys) => keys.slice(0, -1) })).error).toBe(
      'WrongAccountCount',
    )
  })
})

describe('refund', () => {
  it('pays back what was paid, to who paid it, once', () => {
    paid('q')
    const { error, logs } = world.send(calls.refund())
    expect(error).toBeUndefined()
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS)
    expect(world.balanceOf(world.registrar.treasury)).toBe(world.rentOf(TREASURY_BYTES))
    expect(world.stateOf()).toMatchObject({ keptLamports: 0n, heldLamports: 0n })
    expect(world.eventsOf(logs)).toEqual([
      {
        name: 'PaymentRefunded',
        data: {
          sequence: '1',
          quote_id: wordOf('q').toString('hex'),
          payer: world.keys.alice.toBase58(),
          lamports: String(LAMPORTS),
        },
      },
    ])
    expect(world.send(calls.refund()).error).toBe('PaymentNotHeld')
    expect(world.send(calls.settle('q')).error).toBe('PaymentNotHeld')
  })

  it('leaves nothing to come back within its transaction', () => {
    paid('q')
    const payment = world.registrar.payment(wordOf('q'))
    const revive = SystemProgram.transfer({ fromPubkey: world.keys.bob, toPubkey: payment, lamports: 10_000_000 })
    expect(world.send(calls.refund(), revive, calls.refund()).error).toBe('PaymentNotHeld')
    expect(world.send(calls.refund(), revive).error).toBeUndefined()
    expect(world.accountOf(payment)).toMatchObject({ owner: SystemProgram.programId.toBase58(), data: Buffer.alloc(0) })
    paid('q')
    expect(world.stateOf()).toMatchObject({ sequence: 2n, heldLamports: LAMPORTS })
  })

  it('reaches a payer that holds nothing any more', () => {
    paid('q')
    world.give(world.keys.alice, 0n)
    expect(world.send(calls.refund()).error).toBeUndefined()
    expect(world.balanceOf(world.keys.alice)).toBe(LAMPORTS + world.rentOf(PAYMENT_BYTES))
  })
})

describe('withdraw', () => {
  beforeEach(() => {
    paid('kept', 'held')
    expect(world.send(calls.settle('kept')).error).toBeUndefined()
  })

  it('takes what is kept, never what is held', () => {
    expect(world.send(calls.withdraw(LAMPORTS + 1n)).error).toBe('InsufficientKept')
    expect(world.send(calls.withdraw((1n << 64n) - 1n)).error).toBe('InsufficientKept')
    expect(world.send(calls.withdraw(0n)).error).toBe('ZeroLamports')
    expect(world.send(calls.withdraw(LAMPORTS - 1n)).error).toBeUndefined()
    expect(world.send(calls.withdraw(1n)).error).toBeUndefined()
    expect(world.send(calls.withdraw(1n)).error).toBe('InsufficientKept')
    expect(world.balanceOf(world.keys.bob)).toBe(RICH_LAMPORTS + LAMPORTS)
    expect(world.balanceOf(world.registrar.treasury)).toBe(world.rentOf(TREASURY_BYTES) + LAMPORTS)
  })

  it("pays into no account of the program's own", () => {
    const { registrar } = world
    for (const destination of [registrar.treasury, registrar.state, registrar.payment(wordOf('held'))]) {
      expect(world.send(calls.withdraw(1n, destination)).error).toBe('InvalidDestination')
    }
  })

  it('leaves a gift to the treasury where it is, and is not stopped by it', () => {
    const { treasury } = world.registrar
    world.send(SystemProgram.transfer({ fromPubkey: world.keys.bob, toPubkey: treasury, lamports: 5 }))
    expect(world.send(calls.withdraw(LAMPORTS + 1n)).error).toBe('InsufficientKept')
    expect(world.send(calls.withdraw(LAMPORTS)).error).toBeUndefined()
  })
})

describe('authorities', () => {
  it('are named by the upgrade authority alone, once', () => {
    const fresh = createSolanaWorld({ isInitialized: false })
    const { deployer, stranger, relay, treasurer } = fresh.keys
    const initialize = (by: PublicKey) => initializeInstruction(fresh.programId, by, relay, treasurer)
    expect(fresh.send(initialize(stranger)).error).toBe('NotUpgradeAuthority')
    fresh.give(fresh.registrar.state, 1n) // in the way of nobody
    expect(fresh.send(initialize(deployer)).error).toBeUndefined()
    expect(fresh.stateOf()).toMatchObject({ relayAuthority: relay, treasuryAuthority: treasurer, sequence: 0n })
    expect(fresh.send(initialize(deployer)).error).toBe('AlreadyInitialized')
  })

  it('are changed by the upgrade authority alone', () => {
    const { stranger, bob, deployer } = world.keys
    paid('a', 'b')
    expect(world.send(calls.setAuthorities(stranger, bob, stranger)).error).toBe('NotUpgradeAuthority')
    expect(world.send(calls.setAuthorities(stranger, bob, deployer)).error).toBeUndefined()
    expect(world.send(calls.settle('a')).error).toBe('WrongAuthority')
    expect(world.send(world.registrar.settle(stranger, [calls.paymentOf('a')])).error).toBeUndefined()
    expect(world.send(calls.withdraw(1n)).error).toBe('WrongAuthority')
    expect(world.stateOf()).toMatchObject({ sequence: 2n, keptLamports: LAMPORTS, heldLamports: LAMPORTS })
  })

  it('have no power where the program can no longer be upgraded', () => {
    const final = Buffer.from(world.accountOf(world.programData)!.data)
    final.writeUInt8(0, 12)
    const { owner, lamports } = world.accountOf(world.programData)!
    world.setAccount(world.programData, new PublicKey(owner), lamports, final)
    const { deployer, bob } = world.keys
    expect(world.send(calls.setAuthorities(bob, bob, deployer)).error).toBe('NotUpgradeAuthority')
  })
})
