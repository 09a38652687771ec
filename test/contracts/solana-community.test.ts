import { Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { capitals, malformed, wellFormed } from '../support/names.js'
import {
  createSolanaWorld,
  NOW,
  RECLAIM_SECONDS,
  RICH_LAMPORTS,
  type SolanaWorld,
} from './support/solana.js'
import { callsOf } from './support/solanaCalls.js'
import {
  AMOUNT,
  accepted,
  type Calls,
  type CommunityCalls,
  communityOf,
} from './support/solanaCommunity.js'

/** Refusals by name, and limits of payments in SOL. solana-fuzz.test.ts covers successful calls. */

let world: SolanaWorld
let club: CommunityCalls
beforeEach(() => {
  world = createSolanaWorld()
  club = communityOf(world)
})

const ok = (...calls: Calls) => accepted(world, ...calls)
const refused = (...calls: Calls) => world.send(...calls).error
/** Place of the rule for names. */
const NAMES =
  'contracts/solana/registrar/src/community.rs has another rule than test/vectors/names.json (after a change: npm run contracts:solana)'
const isWord = (text: string) => Buffer.byteLength(text) <= 32
const word = (text: string) => Buffer.concat([Buffer.from(text)], 32)

describe('pay_community', () => {
  it('stores the payment, with a separate count from payments for names on the hub', () => {
    const { alice, bob } = world.keys
    ok(callsOf(world).register(), club.pay(7n))
    expect(club.paymentAt(7n)).toEqual({
      payer: alice,
      number: 7n,
      sequence: 1n,
      token: null,
      amount: AMOUNT,
      recipient: bob,
      reclaimableAt: NOW + RECLAIM_SECONDS,
      state: 'held',
    })
    expect(world.stateOf()).toMatchObject({ sequence: 1n, communitySequence: 1n })
  })

  it.each([...capitals, ...malformed.filter(isWord)])('refuses a malformed name: %j', (text) => {
    expect(refused(club.pay(1n, { name: word(text) })), NAMES).toBe('MalformedName')
    expect(refused(club.pay(1n, { community: word(text) })), NAMES).toBe('MalformedName')
  })

  it.each([0x7f, 0x80, 0xad, 0xe4, 0xff])('refuses a name with the byte %i', (byte) => {
    expect(refused(club.pay(1n, { name: Buffer.concat([Buffer.from([0x61, byte])], 32) }))).toBe(
      'MalformedName',
    )
  })

  it('accepts every valid name', () => {
    for (const [i, text] of wellFormed.entries()) ok(club.pay(BigInt(i), { name: word(text) }))
  })

  it.each<[string, string, Parameters<CommunityCalls['pay']>[1]]>([
    ['of nothing', 'ZeroAmount', { amount: 0n }],
    ['to nobody', 'ZeroRecipient', { recipient: PublicKey.default }],
    ['of more than the payer has', 'runtime', { amount: RICH_LAMPORTS }],
    ['of the most that there may be', 'runtime', { amount: (1n << 64n) - 1n }],
  ])('takes no payment %s: %s', (_, error, change) => {
    expect(refused(club.pay(1n, change))).toBe(error)
    expect(world.stateOf().communitySequence).toBe(0n)
  })

  it('blocks no name for others, and a number only for its payer', () => {
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

describe('a decision', () => {
  it.each<[string, string, () => TransactionInstruction]>([
    [
      'a stranger`s refusal',
      'WrongAuthority',
      () => club.program.refuse(world.keys.stranger, [club.paid(1n)]),
    ],
    [
      'the admin`s refusal',
      'WrongAuthority',
      () => club.program.refuse(world.keys.admin, [club.paid(1n)]),
    ],
    [
      'the recipient`s release',
      'WrongAuthority',
      () => club.program.release(world.keys.bob, [club.paid(1n)]),
    ],
    [
      'of another payment',
      'CommunityPaymentNotHeld',
      () => club.refuse(club.paid(1n, { sequence: 2n })),
    ],
    [
      'to another recipient',
      'WrongBeneficiary',
      () => club.release(club.paid(1n, { recipient: world.keys.stranger })),
    ],
    [
      'to the payer',
      'WrongBeneficiary',
      () => club.release(club.paid(1n, { recipient: world.keys.alice })),
    ],
    ['a refusal to the recipient', 'WrongBeneficiary', refusalToRecipient],
  ])('is the relay authority`s, of the payment that is meant: not %s: %s', (_, error, call) => {
    ok(club.pay(1n), club.pay(2n))
    expect(refused(call())).toBe(error)
    world.at(10n * RECLAIM_SECONDS)
    ok(club.refuse(), club.release(club.paid(2n)))
    for (const number of [1n, 2n])
      for (const again of [club.refuse, club.release])
        expect(refused(again(club.paid(number)))).toBe('CommunityPaymentNotHeld')
  })

  function refusalToRecipient(): TransactionInstruction {
    const call = club.release()
    call.data = club.refuse().data
    return call
  }

  it.each([
    [6_960n, 1],
    [13_920n, 1],
  ])(
    'reaches a payer that holds nothing any more at a rent of %d lamports a byte',
    (lamportsPerByte, factor) => {
      const { alice } = world.keys
      ok(club.pay(1n, { amount: 1n }))
      const before = world.balanceOf(club.program.paymentAccount({ payer: alice, number: 1n }))
      world.give(alice, 0n)
      world.setRent(lamportsPerByte, factor)
      ok(club.refuse())
      expect(world.balanceOf(alice)).toBe(before)
    },
  )

  it('pays a payer with a balance even where the rent can’t be read', () => {
    ok(club.pay())
    world.setRent(6_960n, 1.5)
    const [event] = ok(club.refuse())
    expect(event?.data.paid).toBe(String(AMOUNT))
  })

  it('waits for a recipient whose balance stays below the rent', () => {
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
    expect(world.balanceOf(recipient)).toBe(world.rentOf(0) + 1n)
    expect(world.balanceOf(world.keys.alice)).toBe(RICH_LAMPORTS - 1n)
  })

  it('pays an empty recipient once the amount covers the rent', () => {
    const recipient = Keypair.generate().publicKey
    ok(club.pay(1n, { recipient, amount: world.rentOf(0) }))
    ok(club.release(club.paid(1n, { recipient })))
    expect(world.balanceOf(recipient)).toBe(world.rentOf(0))
  })
})

describe('claim_community', () => {
  it('pays the payer, and nobody else, what nobody has decided in time', () => {
    const { alice, bob, stranger, relay } = world.keys
    ok(club.pay())
    world.at(RECLAIM_SECONDS - 1n)
    expect(refused(club.claim(alice))).toBe('NotReclaimable')
    world.at(RECLAIM_SECONDS)
    for (const by of [bob, stranger, relay])
      expect(refused(club.claim(by))).toBe('WrongBeneficiary')
    expect(refused(club.claim(alice, club.paid(1n, { sequence: 2n })))).toBe(
      'CommunityPaymentNotHeld',
    )
    const toBob = club.claim(alice)
    toBob.keys = toBob.keys.with(3, { pubkey: bob, isSigner: false, isWritable: true })
    expect(refused(toBob)).toBe('WrongPayer')
    const [event] = ok(club.claim(alice))
    expect(event?.name).toBe('CommunityReclaimed')
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS)
    for (const call of [club.claim(alice), club.refuse(), club.release()])
      expect(refused(call)).toBe('CommunityPaymentNotHeld')
  })
})

it('keeps its money separate from the treasury', () => {
  const calls = callsOf(world)
  ok(calls.register('kept'), club.pay(), calls.settle({ kept: 1n }))
  const kept = world.stateOf().keptLamports
  expect(refused(calls.withdraw(kept + 1n))).toBe('InsufficientKept')
  ok(calls.withdraw(kept))
  const payment = club.program.paymentAccount({ payer: world.keys.alice, number: 1n })
  expect(refused(calls.withdraw(1n, payment))).toBe('InvalidDestination')
  ok(club.refuse())
})
