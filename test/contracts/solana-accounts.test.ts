import { type AccountMeta, Keypair, type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { initializeInstruction } from '../../src/testing/solana/registrar.js'
import { changed, createSolanaWorld, type SolanaWorld } from './support/solana.js'
import { callsOf, PAYMENT_BYTES, wordOf, writes } from './support/solanaCalls.js'

/** Each instruction of the registrar with one thing wrong about its accounts or data: refused, and nothing has changed. */

const INSTRUCTIONS = ['initialize', 'set_authorities', 'register', 'settle', 'refund', 'withdraw'] as const
type Name = (typeof INSTRUCTIONS)[number]
/** Places at which another account is as good: who registers, and who is paid. */
const FREE: Partial<Record<Name, number>> = { withdraw: 3, register: 0 }

/** A world in which the instruction would go through as it is. */
function enter(name: Name): { world: SolanaWorld; right: TransactionInstruction } {
  const world = createSolanaWorld({ isInitialized: name !== 'initialize' })
  const { keys, programId } = world
  const calls = callsOf(world)
  if (name === 'initialize')
    return { world, right: initializeInstruction(programId, keys.deployer, keys.relay, keys.treasurer) }
  const bobs = calls.register('bob', {}, keys.bob)
  expect(world.send(calls.register('kept'), calls.register('a'), bobs, calls.settle('kept')).error).toBeUndefined()
  const right = {
    register: () => calls.register('new'),
    settle: () => calls.settle('a'),
    refund: () => calls.refund('a'),
    withdraw: () => calls.withdraw(1n),
    set_authorities: () => calls.setAuthorities(keys.relay, keys.treasurer),
  }[name]()
  return { world, right }
}

/** Everything that an instruction could change. */
function snapshot({ registrar, keys, programData, accountOf }: SolanaWorld): unknown {
  const payments = ['a', 'bob', 'new'].map((quote) => registrar.payment(wordOf(quote)))
  return [...Object.values(keys), registrar.state, registrar.treasury, programData, ...payments].map(accountOf)
}

/** Accounts of all kinds, with look-alikes: the state's data under another owner, an account of this program at no address of its. */
function strangers({ registrar, keys, programId, programData, setAccount, accountOf }: SolanaWorld) {
  const [foreign, placeless] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
  const data = accountOf(registrar.state)?.data ?? Buffer.alloc(104)
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
