import { type AccountMeta, Keypair, type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { associatedTokenAddress } from '../../src/chains/solana/tokens.js'
import { initializeInstruction } from '../../src/testing/solana/registrar.js'
import { changed, createSolanaWorld, type SolanaWorld } from './support/solana.js'
import { callsOf, PAYMENT_BYTES, wordOf, writes } from './support/solanaCalls.js'
import { communityOf, HOLD_SECONDS } from './support/solanaCommunity.js'

/**
 * Each instruction of the registrar with one thing wrong about its accounts or data: refused, and nothing has changed.
 */

const INSTRUCTIONS = [
  'initialize',
  'set_authorities',
  'register',
  'settle',
  'refund',
  'withdraw',
  'set_hold',
  'pay_community',
  'pay_community_token',
  'refuse_community',
  'release_community',
  'release_community_token',
  'reopen_community',
] as const
type Name = (typeof INSTRUCTIONS)[number]
/** Places at which another account is as good: who registers, who is paid, another name of the same payer. */
const FREE: Partial<Record<Name, number>> = { withdraw: 3, register: 0, reopen_community: 2 }

/** A world in which the instruction would go through as it is. */
function enter(name: Name): { world: SolanaWorld; right: TransactionInstruction } {
  const world = createSolanaWorld({ isInitialized: name !== 'initialize' })
  const { keys, programId } = world
  const calls = callsOf(world)
  if (name === 'initialize')
    return { world, right: initializeInstruction(programId, keys.deployer, keys.relay, keys.treasurer) }
  const club = communityOf(world)
  if (name.includes('community')) {
    setMints(world)
    expect(world.send(club.pay('held'), club.payToken(MINT, 'tokens')).error).toBeUndefined()
  } else {
    const bobs = calls.register('bob', {}, keys.bob)
    expect(world.send(calls.register('kept'), calls.register('a'), bobs, calls.settle('kept')).error).toBeUndefined()
  }
  if (name === 'release_community' || name === 'release_community_token' || name === 'reopen_community')
    club.at(HOLD_SECONDS)
  const right = {
    register: () => calls.register('new'),
    settle: () => calls.settle('a'),
    refund: () => calls.refund('a'),
    withdraw: () => calls.withdraw(1n),
    set_authorities: () => calls.setAuthorities(keys.relay, keys.treasurer),
    set_hold: () => club.setHold(60n),
    pay_community: () => club.pay(),
    pay_community_token: () => club.payToken(MINT),
    refuse_community: () => club.refuse('held'),
    release_community: () => club.release('held'),
    release_community_token: () => club.releaseToken(MINT, 'tokens'),
    reopen_community: () => club.reopen('held'),
  }[name]()
  return { world, right }
}

const [MINT, OTHER_MINT] = [Keypair.generate().publicKey, Keypair.generate().publicKey]

/** Two tokens, of which the payer and the recipient have accounts. */
function setMints(world: SolanaWorld): void {
  const { setMint, giveTokens } = communityOf(world)
  for (const mint of [MINT, OTHER_MINT]) {
    setMint(mint)
    for (const owner of [world.keys.alice, world.keys.bob]) giveTokens(owner, mint)
  }
}

/** The accounts of payments for names of communities. */
function communityAccounts(world: SolanaWorld): PublicKey[] {
  const { program, keyOf } = communityOf(world)
  const keys = ['held', 'tokens', 'ann'].map((name) => keyOf(name))
  return [
    ...keys.flatMap((key) => [program.paymentAccount(key), program.nameAccount(key.community, key.name)]),
    ...[MINT, OTHER_MINT].flatMap((mint) => [
      program.vault(mint),
      ...[world.keys.alice, world.keys.bob].map((owner) => associatedTokenAddress(owner, mint)),
    ]),
  ]
}

/** Everything that an instruction could change. */
function snapshot(world: SolanaWorld): unknown {
  const { registrar, keys, programData, accountOf } = world
  const payments = ['a', 'bob', 'new'].map((quote) => registrar.payment(wordOf(quote)))
  return [
    ...Object.values(keys),
    registrar.state,
    registrar.treasury,
    programData,
    ...payments,
    ...communityAccounts(world),
  ].map(accountOf)
}

/**
 * Accounts of all kinds, with look-alikes: the state's data under another owner, an account of this program at no
 * address of its.
 */
function strangers(world: SolanaWorld) {
  const { registrar, keys, programId, programData, setAccount, accountOf } = world
  const [foreign, placeless] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
  const data = accountOf(registrar.state)?.data ?? Buffer.alloc(120)
  setAccount(foreign, keys.stranger, 10n ** 12n, data)
  setAccount(placeless, programId, 10n ** 12n, data)
  return [
    keys.stranger,
    registrar.state,
    registrar.treasury,
    registrar.payment(wordOf('bob')),
    registrar.payment(wordOf('nobody')),
    foreign,
    ...(accountOf(registrar.state) ? [placeless] : []),
    programData,
    SystemProgram.programId,
    programId,
    ...(accountOf(MINT) ? [MINT, OTHER_MINT, ...communityAccounts(world)] : []),
  ]
}

describe.each(INSTRUCTIONS)('%s', (name) => {
  const refused = (world: SolanaWorld, call: TransactionInstruction, where: string) => {
    const { error } = world.send(call)
    expect(error, where).toBeDefined()
    return error
  }

  it('goes through as it is', () => {
    const { world, right } = enter(name)
    expect(world.send(right).error).toBeUndefined()
  })

  it('refuses another account at any place', () => {
    const { world, right } = enter(name)
    const others: PublicKey[] = strangers(world)
    const before = snapshot(world)
    for (const [place, meta] of right.keys.entries()) {
      for (const [which, pubkey] of others.entries()) {
        if (pubkey.equals(meta.pubkey) || place === FREE[name]) continue
        refused(
          world,
          changed(right, { keys: (keys) => keys.with(place, { ...meta, pubkey }) }),
          `${which} at ${place}`,
        )
      }
    }
    expect(snapshot(world)).toEqual(before)
  })

  it('refuses two of its accounts in each other’s places', () => {
    const { world, right } = enter(name)
    const before = snapshot(world)
    for (let a = 0; a < right.keys.length; a++) {
      for (let b = 0; b < a; b++) {
        const keys = (metas: AccountMeta[]) => metas.with(a, metas[b]!).with(b, metas[a]!)
        refused(world, changed(right, { keys }), `${a} and ${b}`)
      }
    }
    expect(snapshot(world)).toEqual(before)
  })

  it('refuses an account without its flag', () => {
    const { world, right } = enter(name)
    const before = snapshot(world)
    for (const [place, meta] of right.keys.entries()) {
      const without = (flag: 'isSigner' | 'isWritable') =>
        world.send(changed(right, { keys: (keys) => keys.with(place, { ...meta, [flag]: false }) })).error
      if (meta.isSigner) expect(without('isSigner'), `${place}`).toBe('MissingSignature')
      if (meta.isWritable) expect(without('isWritable'), `${place}`).toBe('NotWritable')
    }
    expect(snapshot(world)).toEqual(before)
  })

  it('refuses an account too many and one that is missing', () => {
    const { world, right } = enter(name)
    const before = snapshot(world)
    const more = (keys: AccountMeta[]) => [...keys, writes(world.keys.stranger)]
    expect(world.send(changed(right, { keys: more })).error).toBe('WrongAccountCount')
    for (let count = 0; count < right.keys.length; count++) {
      const keys = (all: AccountMeta[]) => all.slice(0, count)
      expect(world.send(changed(right, { keys })).error).toBe('WrongAccountCount')
    }
    expect(snapshot(world)).toEqual(before)
  })

  it('refuses data of another length', () => {
    const { world, right } = enter(name)
    for (let length = 0; length < right.data.length; length++) {
      const data = right.data.subarray(0, length)
      expect(world.send(changed(right, { data })).error).toBe('InvalidInstruction')
    }
    const data = Buffer.concat([right.data, Buffer.alloc(1)])
    expect(world.send(changed(right, { data })).error).toBe('InvalidInstruction')
  })
})

describe('a payment', () => {
  it('is one by owner, kind and address', () => {
    const { world } = enter('refund')
    const { registrar, programId, keys, setAccount, accountOf, send } = world
    const real = accountOf(registrar.payment(wordOf('a')))!
    const fake = registrar.payment(wordOf('fake'))
    const refund = callsOf(world).refund('fake')
    setAccount(fake, keys.stranger, real.lamports, real.data)
    expect(send(refund).error).toBe('PaymentNotHeld')
    setAccount(fake, programId, real.lamports, real.data)
    expect(send(refund).error).toBe('WrongAddress')
    setAccount(fake, programId, real.lamports, accountOf(registrar.state)!.data.subarray(0, PAYMENT_BYTES))
    expect(send(refund).error).toBe('InvalidAccountData')
  })

  it('goes back to its own payer only', () => {
    const { world, right } = enter('refund')
    const { bob } = world.keys
    expect(world.send(changed(right, { keys: (keys) => keys.with(4, writes(bob)) })).error).toBe('WrongPayer')
    const settle = callsOf(world).settle('a')
    expect(world.send(changed(settle, { keys: (keys) => keys.with(3, writes(bob)) })).error).toBe('WrongPayer')
  })
})

describe('a payment for a name of a community', () => {
  it('is one by owner, kind and address, and so is its name', () => {
    const { world } = enter('refuse_community')
    const { programId, keys, setAccount, accountOf, send } = world
    const club = communityOf(world)
    const { paymentAccount, nameAccount } = club.program
    const accountsOf = (name: string) => {
      const key = club.keyOf(name)
      return { payment: paymentAccount(key), paidName: nameAccount(key.community, key.name) }
    }
    const [held, fake] = [accountsOf('held'), accountsOf('fake')]
    const [payment, paidName] = [accountOf(held.payment)!, accountOf(held.paidName)!]
    const refuse = (at: number, account: PublicKey) =>
      send(changed(club.refuse('held'), { keys: (metas) => metas.with(at, writes(account)) })).error
    const [NAME, PAYMENT] = [2, 3]
    setAccount(fake.payment, keys.stranger, payment.lamports, payment.data)
    setAccount(fake.paidName, keys.stranger, paidName.lamports, paidName.data)
    expect(refuse(PAYMENT, fake.payment)).toBe('CommunityPaymentNotHeld')
    expect(refuse(NAME, fake.paidName)).toBe('NoCommunityPayment')
    setAccount(fake.payment, programId, payment.lamports, payment.data)
    setAccount(fake.paidName, programId, paidName.lamports, paidName.data)
    expect(refuse(PAYMENT, fake.payment)).toBe('WrongAddress')
    expect(refuse(NAME, fake.paidName)).toBe('WrongAddress')
    expect(refuse(PAYMENT, held.paidName)).toBe('InvalidAccountData')
    expect(refuse(NAME, held.payment)).toBe('InvalidAccountData')
  })

  it('is made at its own addresses, by the programs that it is to be made by', () => {
    const { world, right } = enter('pay_community_token')
    const stranger = world.keys.stranger
    for (const place of [2, 3, 4, 7, 8]) {
      const call = changed(right, { keys: (metas) => metas.with(place, { ...metas[place]!, pubkey: stranger }) })
      expect(world.send(call).error, `${place}`).toBe('WrongAddress')
    }
  })
})
