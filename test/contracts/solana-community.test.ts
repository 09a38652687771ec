import { Keypair, PublicKey } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAssociated } from '../../src/chains/solana/tokens.js'
import { createSolanaWorld, NOW, RICH_LAMPORTS, type SolanaWorld } from './support/solana.js'
import { callsOf, wordOf } from './support/solanaCalls.js'
import {
  AMOUNT,
  accepted,
  type Calls,
  COMMUNITY_PAYMENT_BYTES,
  type CommunityCalls,
  communityOf,
  HOLD_SECONDS,
  NAME_BYTES,
  stockTokens,
} from './support/solanaCommunity.js'

let world: SolanaWorld
let club: CommunityCalls
const mint = Keypair.generate().publicKey
const otherMint = Keypair.generate().publicKey
beforeEach(() => {
  world = createSolanaWorld()
  club = communityOf(world)
})

const ok = (...calls: Calls) => accepted(world, ...calls)
const refused = (...calls: Calls) => world.send(...calls).error

const setTokens = (): PublicKey => stockTokens(world, club, mint, otherMint)

const word = (text: string) => Buffer.concat([Buffer.from(text, 'latin1')], 32)
const hex = (text: string) => word(text).toString('hex')

describe('pay_community', () => {
  it('holds the lamports, remembers the payment and says so', () => {
    const { alice, bob } = world.keys
    const events = ok(club.pay())
    const payment = club.program.paymentAccount(club.keyOf())
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS - AMOUNT - club.rents())
    expect(world.balanceOf(payment)).toBe(world.rentOf(COMMUNITY_PAYMENT_BYTES) + AMOUNT)
    const heldUntil = NOW + HOLD_SECONDS
    const rest = { token: null, amount: AMOUNT, recipient: bob, slot: 1n, isRefused: false }
    expect(club.paymentAt()).toEqual({ ...club.keyOf(), ...rest, sequence: 1n, heldUntil })
    const name = world.accountOf(club.program.nameAccount(word('club'), word('ann')))!
    expect(club.program.decodeName(name.data)).toEqual({ ...club.keyOf(), sequence: 1n, heldUntil })
    const data = {
      sequence: '1',
      payer: alice.toBase58(),
      token: PublicKey.default.toBase58(),
      amount: String(AMOUNT),
      recipient: bob.toBase58(),
      community: hex('club'),
      name: hex('ann'),
      referral: wordOf('referral').toString('hex'),
      held_until: String(heldUntil),
    }
    expect(events).toEqual([{ name: 'CommunityPaid', data }])
  })

  it('counts its payments apart from those for names on the hub', () => {
    ok(callsOf(world).register(), club.pay(), club.pay('bob'))
    expect(world.stateOf()).toMatchObject({ sequence: 1n, communitySequence: 2n, holdSeconds: HOLD_SECONDS })
  })

  it.each(['', 'Ann', 'a b', 'ä', 'a\0b', 'a.b', 'a/b', '\0a', '\xff'])('takes no malformed name: %j', (text) => {
    expect(refused(club.pay('ann', { name: word(text) }))).toBe('MalformedName')
    expect(refused(club.pay('ann', { community: word(text) }))).toBe('MalformedName')
  })

  it('takes every name that is one', () => {
    for (const text of ['a', '-', '_', '0', 'a-z_09', 'z'.repeat(32)]) ok(club.pay('ann', { name: word(text) }))
  })

  it('takes no payment of nothing, to nobody, or that the payer lacks', () => {
    expect(refused(club.pay('ann', { amount: 0n }))).toBe('ZeroAmount')
    expect(refused(club.pay('ann', { recipient: PublicKey.default }))).toBe('ZeroRecipient')
    expect(refused(club.pay('ann', { amount: RICH_LAMPORTS }))).toBe('runtime')
    expect(refused(club.pay('ann', { amount: (1n << 64n) - 1n }))).toBe('runtime')
    expect(world.stateOf().communitySequence).toBe(0n)
  })

  it('takes one payment a name', () => {
    ok(club.pay())
    expect(refused(club.pay())).toBe('NameTaken')
    expect(refused(club.pay('ann', { payer: world.keys.stranger }))).toBe('NameTaken')
    ok(club.pay('bob'))
    ok(club.pay('ann', { community: word('other') }))
    club.at(HOLD_SECONDS)
    ok(club.release())
    expect(refused(club.pay())).toBe('NameTaken')
  })

  it('is not stopped by lamports sent to its accounts before, and gives them to the payer', () => {
    const accounts = [club.program.paymentAccount(club.keyOf()), club.program.nameAccount(word('club'), word('ann'))]
    for (const account of accounts) world.give(account, 10n ** 9n)
    ok(club.pay())
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS - AMOUNT)
    ok(club.refuse(), club.release('ann', world.keys.alice))
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS + 2n * 10n ** 9n)
  })
})

describe('refuse_community', () => {
  it('makes the payment its payer’s and the name free, and nothing else', () => {
    const { alice, bob } = world.keys
    ok(club.pay())
    const events = ok(club.refuse())
    expect(events.map(({ name, data }) => [name, data.sequence, data.payer, data.amount])).toEqual([
      ['CommunityRefused', '1', alice.toBase58(), String(AMOUNT)],
    ])
    expect(club.paymentAt()).toMatchObject({ isRefused: true })
    expect(refused(club.release('ann', bob))).toBe('WrongBeneficiary')
    club.at(2n * HOLD_SECONDS)
    expect(refused(club.release('ann', bob))).toBe('WrongBeneficiary')
    const [returned] = ok(club.release('ann', alice))
    expect([returned?.name, returned?.data.payer]).toEqual(['CommunityReturned', alice.toBase58()])
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS)
    expect(refused(club.release('ann', alice))).toBe('CommunityPaymentNotHeld')
  })

  it('is the relay authority’s, once, and until the hold is over', () => {
    ok(club.pay())
    expect(refused(club.program.refuse(world.keys.stranger, club.keyOf(), 1n))).toBe('WrongAuthority')
    club.at(HOLD_SECONDS)
    expect(refused(club.refuse())).toBe('HoldOver')
    club.at(HOLD_SECONDS - 1n)
    expect(refused(club.refuse('ann', 2n))).toBe('CommunityPaymentNotHeld')
    ok(club.refuse())
    expect(refused(club.refuse())).toBe('CommunityPaymentNotHeld')
  })

  it('lets the name be paid for again, also by who waits for the money', () => {
    const { stranger, alice } = world.keys
    ok(club.pay())
    ok(club.refuse())
    expect(refused(club.pay())).toBe('PaymentOpen')
    ok(club.release('ann', alice), club.pay())
    // a refusal that comes late means the first payment
    expect(refused(club.refuse())).toBe('CommunityPaymentNotHeld')
    ok(club.refuse('ann', 2n))
    ok(club.pay('ann', { payer: stranger }))
    expect(world.stateOf().communitySequence).toBe(3n)
    expect(refused(club.refuse('ann', 3n))).toBe('CommunityPaymentNotHeld')
    expect(club.paymentAt('ann', stranger)).toMatchObject({ sequence: 3n, isRefused: false })
  })

  it('does not wait for a payer that can’t be paid, nor for a token', () => {
    const source = setTokens()
    const { alice, stranger } = world.keys
    ok(club.payToken(mint))
    club.giveTokens(alice, mint, 0n, 'frozen')
    ok(club.refuse())
    ok(club.payToken(mint, 'ann', { payer: stranger }))
    expect(refused(club.releaseToken(mint, 'ann', alice))).toBe('runtime')
    world.setAccount(source, PublicKey.default, 0n, Buffer.alloc(0))
    expect(refused(club.releaseToken(mint, 'ann', alice))).toBe('NotATokenAccount')
    ok(createAssociated(stranger, alice, mint), club.releaseToken(mint, 'ann', alice))
    expect([club.tokensAt(source), club.tokensAt(club.program.vault(mint))]).toEqual([AMOUNT, AMOUNT])
  })
})

describe('release_community', () => {
  it('pays the recipient once the hold is over, whoever asks', () => {
    const { alice, bob, stranger } = world.keys
    ok(club.pay())
    club.at(HOLD_SECONDS - 1n)
    expect(refused(club.release())).toBe('StillHeld')
    club.at(HOLD_SECONDS)
    expect(refused(club.release('ann', stranger))).toBe('WrongBeneficiary')
    expect(refused(club.release('ann', alice))).toBe('WrongBeneficiary')
    const [released] = ok(club.release())
    expect([released?.name, released?.data.recipient, released?.data.amount]).toEqual([
      'CommunityReleased',
      bob.toBase58(),
      String(AMOUNT),
    ])
    expect(world.balanceOf(bob)).toBe(RICH_LAMPORTS + AMOUNT)
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS - AMOUNT - world.rentOf(NAME_BYTES))
    expect(refused(club.release())).toBe('CommunityPaymentNotHeld')
  })

  it('pays a payment in SOL as SOL, one in tokens as tokens', () => {
    setTokens()
    club.giveTokens(world.keys.bob, mint, 0n)
    club.giveTokens(world.keys.bob, otherMint, 0n)
    ok(club.pay(), club.payToken(mint, 'tok'), club.payToken(otherMint, 'other'))
    club.at(HOLD_SECONDS)
    expect(refused(club.release('tok'))).toBe('WrongToken')
    expect(refused(club.releaseToken(mint, 'ann'))).toBe('WrongToken')
    expect(refused(club.releaseToken(otherMint, 'tok'))).toBe('WrongToken')
  })

  it('reaches a recipient that holds nothing once it may exist', () => {
    const recipient = Keypair.generate().publicKey
    ok(club.pay('ann', { recipient, amount: 1n }))
    club.at(HOLD_SECONDS)
    expect(refused(club.release('ann', recipient))).toBe('runtime')
    world.give(recipient, world.rentOf(0))
    ok(club.release('ann', recipient))
    expect(world.balanceOf(recipient)).toBe(world.rentOf(0) + 1n)
  })
})

describe('the upgrade authority', () => {
  it('reopens a name after the hold, without touching its money', () => {
    ok(club.pay())
    expect(refused(club.reopen())).toBe('StillHeld')
    club.at(HOLD_SECONDS)
    expect(refused(club.reopen('ann', world.keys.relay))).toBe('NotUpgradeAuthority')
    const [reopened] = ok(club.reopen())
    expect([reopened?.name, reopened?.data]).toEqual([
      'CommunityReopened',
      { sequence: '1', community: hex('club'), name: hex('ann') },
    ])
    expect(refused(club.reopen())).toBe('NoCommunityPayment')
    ok(club.pay('ann', { payer: world.keys.stranger }))
    // the first payment's refusal is out of time, and no other's
    expect(refused(club.refuse())).toBe('HoldOver')
    ok(club.release())
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS - AMOUNT)
  })

  it('sets the hold of payments to come', () => {
    ok(club.pay())
    expect(refused(club.setHold(1n, world.keys.relay))).toBe('NotUpgradeAuthority')
    expect(refused(club.setHold(7n * 86_400n + 1n))).toBe('HoldTooLong')
    expect(refused(club.setHold((1n << 64n) - 1n))).toBe('HoldTooLong')
    ok(club.setHold(0n))
    ok(club.pay('bob'))
    expect(refused(club.refuse('bob', 2n))).toBe('HoldOver')
    ok(club.release('bob'))
    expect(refused(club.release())).toBe('StillHeld')
    ok(club.setHold(7n * 86_400n))
    expect(world.stateOf().holdSeconds).toBe(7n * 86_400n)
  })
})

it('keeps its money apart from the treasury', () => {
  const calls = callsOf(world)
  ok(calls.register('kept'), club.pay(), calls.settle('kept'))
  const kept = world.stateOf().keptLamports
  expect(refused(calls.withdraw(kept + 1n))).toBe('InsufficientKept')
  ok(calls.withdraw(kept))
  const payment = club.program.paymentAccount(club.keyOf())
  expect(refused(calls.withdraw(1n, payment))).toBe('InvalidDestination')
  ok(club.refuse(), club.release('ann', world.keys.alice))
})
