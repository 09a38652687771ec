import { Keypair, PublicKey } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { createSolanaWorld, NOW, RECLAIM_SECONDS, RICH_LAMPORTS, type SolanaWorld } from './support/solana.js'
import { callsOf, wordOf } from './support/solanaCalls.js'
import { AMOUNT, accepted, type Calls, type CommunityCalls, communityOf } from './support/solanaCommunity.js'

let world: SolanaWorld
let club: CommunityCalls
beforeEach(() => {
  world = createSolanaWorld()
  club = communityOf(world)
})

const ok = (...calls: Calls) => accepted(world, ...calls)
const refused = (...calls: Calls) => world.send(...calls).error

const word = (text: string) => Buffer.concat([Buffer.from(text, 'latin1')], 32)
const hex = (text: string) => word(text).toString('hex')
const NATIVE = PublicKey.default.toBase58()

describe('pay_community', () => {
  it('holds the lamports, remembers the payment and says so', () => {
    const { alice, bob } = world.keys
    const events = ok(club.pay(7n))
    const payment = club.program.paymentAccount({ payer: alice, number: 7n })
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS - AMOUNT - club.rent())
    expect(world.balanceOf(payment)).toBe(club.rent() + AMOUNT)
    const reclaimableAt = NOW + RECLAIM_SECONDS
    expect(club.paymentAt(7n)).toEqual({
      ...{ payer: alice, number: 7n, sequence: 1n, token: null, amount: AMOUNT, recipient: bob },
      ...{ reclaimableAt, state: 'held' },
    })
    const data = {
      sequence: '1',
      payer: alice.toBase58(),
      number: '7',
      token: NATIVE,
      amount: String(AMOUNT),
      recipient: bob.toBase58(),
      community: hex('club'),
      name: hex('ann'),
      referral: wordOf('referral').toString('hex'),
      reclaimable_at: String(reclaimableAt),
    }
    expect(events).toEqual([{ name: 'CommunityPaid', data }])
  })

  it('counts its payments apart from those for names on the hub', () => {
    ok(callsOf(world).register(), club.pay(1n), club.pay(2n))
    expect(world.stateOf()).toMatchObject({ sequence: 1n, communitySequence: 2n })
  })

  it.each(['', 'Ann', 'a b', 'ä', 'a\0b', 'a.b', 'a/b', '\0a', '\xff'])('takes no malformed name: %j', (text) => {
    expect(refused(club.pay(1n, { name: word(text) }))).toBe('MalformedName')
    expect(refused(club.pay(1n, { community: word(text) }))).toBe('MalformedName')
  })

  it('takes every name that is one', () => {
    for (const [i, text] of ['a', '-', '_', '0', 'a-z_09', 'z'.repeat(32)].entries())
      ok(club.pay(BigInt(i), { name: word(text) }))
  })

  it('takes no payment of nothing, to nobody, or that the payer lacks', () => {
    expect(refused(club.pay(1n, { amount: 0n }))).toBe('ZeroAmount')
    expect(refused(club.pay(1n, { recipient: PublicKey.default }))).toBe('ZeroRecipient')
    expect(refused(club.pay(1n, { amount: RICH_LAMPORTS }))).toBe('runtime')
    expect(refused(club.pay(1n, { amount: (1n << 64n) - 1n }))).toBe('runtime')
    expect(world.stateOf().communitySequence).toBe(0n)
  })

  it('keeps nobody from a name, and a number from nobody but its payer', () => {
    ok(club.pay(1n, { payer: world.keys.stranger, amount: 1n }))
    ok(club.pay(1n))
    expect(refused(club.pay(1n))).toBe('NumberInUse')
    ok(club.pay(2n), club.pay((1n << 64n) - 1n))
    ok(club.refuse(club.paid(1n, { sequence: 2n })))
    ok(club.pay(1n))
  })

  it('is not stopped by lamports sent to its account before, and gives them to the payer', () => {
    world.give(club.program.paymentAccount({ payer: world.keys.alice, number: 1n }), 10n ** 9n)
    ok(club.pay())
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS - AMOUNT)
    ok(club.refuse())
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS + 10n ** 9n)
  })
})

describe('refuse_community', () => {
  it('pays back to the payers, all in one', () => {
    const { alice, stranger } = world.keys
    ok(club.pay(1n), club.pay(2n, { amount: 2n * AMOUNT }), club.pay(1n, { payer: stranger }))
    const events = ok(club.refuse(club.paid(1n), club.paid(2n), club.paid(1n, { payer: stranger, sequence: 3n })))
    const event = (sequence: string, payer: PublicKey, amount: bigint) => ({
      name: 'CommunityRefused',
      data: { sequence, payer: payer.toBase58(), token: NATIVE, amount: String(amount), paid: String(amount) },
    })
    expect(events).toEqual([event('1', alice, AMOUNT), event('2', alice, 2n * AMOUNT), event('3', stranger, AMOUNT)])
    expect([world.balanceOf(alice), world.balanceOf(stranger)]).toEqual([RICH_LAMPORTS, RICH_LAMPORTS])
    expect(club.paymentAt()).toBeUndefined()
    for (const call of [club.refuse(), club.release(), club.claim(alice)])
      expect(refused(call)).toBe('CommunityPaymentNotHeld')
  })

  it('is the relay authority’s, of the payment that is meant, at any time', () => {
    const { stranger, admin, relay, bob } = world.keys
    ok(club.pay(1n), club.pay(2n))
    for (const by of [stranger, admin]) expect(refused(club.program.refuse(by, [club.paid(1n)]))).toBe('WrongAuthority')
    const others = [club.paid(1n, { sequence: 2n }), club.paid(2n, { sequence: 1n })]
    for (const one of others) expect(refused(club.refuse(one))).toBe('CommunityPaymentNotHeld')
    const elsewhere = club.program.release(relay, [club.paid(1n, { recipient: bob })])
    const refusal = club.refuse()
    elsewhere.data = refusal.data
    expect(refused(elsewhere)).toBe('WrongBeneficiary')
    world.at(10n * RECLAIM_SECONDS)
    ok(club.refuse(), club.refuse(club.paid(2n)))
  })

  it('reaches a payer that holds nothing any more, whatever the rent', () => {
    const { alice } = world.keys
    for (const [lamportsPerByte, factor] of [
      [6_960n, 1],
      [13_920n, 1],
    ] as const) {
      ok(club.pay(1n, { amount: 1n }))
      const before = world.balanceOf(club.program.paymentAccount({ payer: alice, number: 1n }))
      world.give(alice, 0n)
      world.setRent(lamportsPerByte, factor)
      const sequence = world.stateOf().communitySequence
      ok(club.refuse(club.paid(1n, { sequence })))
      expect(world.balanceOf(alice)).toBe(before)
      world.give(alice, RICH_LAMPORTS)
    }
  })

  it('reaches a payer that holds something where the rent can’t be read', () => {
    ok(club.pay())
    world.setRent(6_960n, 1.5)
    const [event] = ok(club.refuse())
    expect(event?.data.paid).toBe(String(AMOUNT))
  })
})

describe('release_community', () => {
  it('pays the recipients by the relay authority’s word, all in one', () => {
    const { alice, bob, stranger } = world.keys
    ok(club.pay(1n), club.pay(2n, { recipient: stranger }))
    expect(refused(club.program.release(bob, [club.paid(1n)]))).toBe('WrongAuthority')
    expect(refused(club.release(club.paid(1n, { recipient: stranger })))).toBe('WrongBeneficiary')
    expect(refused(club.release(club.paid(1n, { recipient: alice })))).toBe('WrongBeneficiary')
    const events = ok(club.release(club.paid(1n), club.paid(2n, { recipient: stranger })))
    const event = (sequence: string, recipient: PublicKey) => ({
      name: 'CommunityReleased',
      data: {
        ...{ sequence, recipient: recipient.toBase58(), token: NATIVE },
        ...{ amount: String(AMOUNT), paid: String(AMOUNT) },
      },
    })
    expect(events).toEqual([event('1', bob), event('2', stranger)])
    expect([world.balanceOf(bob), world.balanceOf(stranger)]).toEqual([RICH_LAMPORTS + AMOUNT, RICH_LAMPORTS + AMOUNT])
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS - 2n * AMOUNT)
    expect(refused(club.release())).toBe('CommunityPaymentNotHeld')
  })

  it('is no matter of time: silence pays nobody but the payer', () => {
    const { bob } = world.keys
    ok(club.pay())
    world.at(10n * RECLAIM_SECONDS)
    expect(refused(club.claim(bob))).toBe('WrongBeneficiary')
    ok(club.release())
    expect(world.balanceOf(bob)).toBe(RICH_LAMPORTS + AMOUNT)
  })

  it('waits for a recipient that may not hold so little yet', () => {
    const recipient = Keypair.generate().publicKey
    const payment = club.paid(1n, { recipient })
    ok(club.pay(1n, { recipient, amount: 1n }))
    const [event] = ok(club.release(payment))
    expect(event?.data).toMatchObject({ amount: '1', paid: '0' })
    expect(club.paymentAt()?.state).toBe('released')
    for (const call of [club.release(payment), club.refuse(payment)])
      expect(refused(call)).toBe('CommunityPaymentNotHeld')
    world.at(10n * RECLAIM_SECONDS)
    expect(refused(club.claim(world.keys.alice))).toBe('WrongBeneficiary')
    world.give(recipient, world.rentOf(0))
    const [collected] = ok(club.claim(recipient))
    expect(collected?.name).toBe('CommunityCollected')
    expect(collected?.data).toEqual({ sequence: '1', beneficiary: recipient.toBase58(), token: NATIVE, amount: '1' })
    expect(world.balanceOf(recipient)).toBe(world.rentOf(0) + 1n)
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS - 1n)
  })

  it('pays a recipient that holds nothing once what it gets is its rent', () => {
    const recipient = Keypair.generate().publicKey
    ok(club.pay(1n, { recipient, amount: world.rentOf(0) }))
    const [event] = ok(club.release(club.paid(1n, { recipient })))
    expect(event?.data.paid).toBe(String(world.rentOf(0)))
    expect(world.balanceOf(recipient)).toBe(world.rentOf(0))
  })
})

describe('claim_community', () => {
  it('pays the payer what nobody has decided in time', () => {
    const { alice, bob, stranger, relay } = world.keys
    ok(club.pay())
    world.at(RECLAIM_SECONDS - 1n)
    expect(refused(club.claim(alice))).toBe('NotReclaimable')
    world.at(RECLAIM_SECONDS)
    for (const by of [bob, stranger, relay]) expect(refused(club.claim(by))).toBe('WrongBeneficiary')
    expect(refused(club.claim(alice, club.paid(1n, { sequence: 2n })))).toBe('CommunityPaymentNotHeld')
    const events = ok(club.claim(alice))
    const data = { sequence: '1', payer: alice.toBase58(), token: NATIVE, amount: String(AMOUNT) }
    expect(events).toEqual([{ name: 'CommunityReclaimed', data }])
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS)
    for (const call of [club.claim(alice), club.refuse(), club.release()])
      expect(refused(call)).toBe('CommunityPaymentNotHeld')
  })

  it('leaves a payer alone with its own money', () => {
    ok(club.pay())
    world.at(RECLAIM_SECONDS)
    const claim = club.claim(world.keys.alice)
    const [owner, state, payment, , ...rest] = claim.keys
    const toBob = { pubkey: world.keys.bob, isSigner: false, isWritable: true }
    claim.keys = [owner!, state!, payment!, toBob, ...rest]
    expect(refused(claim)).toBe('WrongPayer')
  })
})

it('keeps its money apart from the treasury', () => {
  const calls = callsOf(world)
  ok(calls.register('kept'), club.pay(), calls.settle({ kept: 1n }))
  const kept = world.stateOf().keptLamports
  expect(refused(calls.withdraw(kept + 1n))).toBe('InsufficientKept')
  ok(calls.withdraw(kept))
  const payment = club.program.paymentAccount({ payer: world.keys.alice, number: 1n })
  expect(refused(calls.withdraw(1n, payment))).toBe('InvalidDestination')
  ok(club.refuse())
})
