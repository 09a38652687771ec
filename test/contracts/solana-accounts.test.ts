import {
  type AccountMeta,
  Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { initialize } from '../../src/chains/solana/admin.js'
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../src/chains/solana/tokens.js'
import {
  changed,
  createSolanaWorld,
  RECLAIM_SECONDS,
  type SolanaWorld,
  termsOf,
} from './support/solana.js'
import { callsOf, PAYMENT_BYTES, writes } from './support/solanaCalls.js'
import { COMMUNITY_PAYMENT_BYTES, communityOf } from './support/solanaCommunity.js'

/**
 * Each instruction of the registrar with one thing wrong about its accounts or data: refused, and nothing has changed.
 */

const INSTRUCTIONS = [
  ...(['initialize', 'set_authorities', 'propose_admin', 'accept_admin'] as const),
  ...(['register', 'settle', 'refund', 'reclaim_payment', 'withdraw'] as const),
  ...(['pay_community', 'pay_community_token', 'refuse_community', 'refuse_tokens'] as const),
  ...(['release_community', 'release_tokens', 'claim_community', 'claim_tokens'] as const),
] as const
type Name = (typeof INSTRUCTIONS)[number]
/** Places at which another account is as good: who registers, who is paid. */
const FREE: Partial<Record<Name, number>> = { withdraw: 3 }

/** A world in which the instruction would go through as it is. */
function enter(name: Name): { world: SolanaWorld; right: TransactionInstruction } {
  const world = createSolanaWorld({ isInitialized: name !== 'initialize' })
  const { keys, registrar } = world
  const calls = callsOf(world)
  if (name === 'initialize')
    return { world, right: initialize(registrar, keys.deployer, termsOf(keys)) }
  const club = communityOf(world)
  const inTokens = club.paid(2n, { token: MINT })
  setMints(world)
  const bobs = calls.register('bob', {}, keys.bob)
  const paid = [calls.register('kept'), calls.register('a'), bobs, calls.settle({ kept: 1n })]
  expect(
    world.send(...paid, club.pay(1n), club.payToken(MINT, 2n), calls.proposeAdmin(keys.bob)).error,
  ).toBeUndefined()
  if (name === 'reclaim_payment') world.at(RECLAIM_SECONDS)
  if (name.startsWith('claim')) release(world)
  const right = {
    set_authorities: () => calls.setAuthorities(keys.relay, keys.treasurer),
    propose_admin: () => calls.proposeAdmin(keys.alice),
    accept_admin: () => calls.acceptAdmin(keys.bob),
    register: () => calls.register('new'),
    settle: () => calls.settle({ a: 2n }),
    refund: () => calls.refund({ a: 2n }),
    reclaim_payment: () => calls.reclaim('a', 2n),
    withdraw: () => calls.withdraw(1n),
    pay_community: () => club.pay(3n),
    pay_community_token: () => club.payToken(MINT, 3n),
    refuse_community: () => club.refuse(),
    refuse_tokens: () => club.refuse(inTokens),
    release_community: () => club.release(),
    release_tokens: () => club.release(inTokens),
    claim_community: () => club.claim(keys.bob),
    claim_tokens: () => club.claim(keys.bob, inTokens),
  }[name]()
  return { world, right }
}

/** Makes alice's payments bob's to collect. */
function release(world: SolanaWorld): void {
  const { program } = communityOf(world)
  for (const number of [1n, 2n]) {
    const account = program.paymentAccount({ payer: world.keys.alice, number })
    const { lamports, data } = world.accountOf(account)!
    data[STATE_OFFSET] = RELEASED
    world.setAccount(account, world.programId, lamports, data)
  }
}

const STATE_OFFSET = 136
const RELEASED = 3
const MINT = Keypair.generate().publicKey
const OTHER_MINT = Keypair.generate().publicKey

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
  const { program } = communityOf(world)
  const { alice, bob } = world.keys
  return [
    ...[1n, 2n, 3n].map((number) => program.paymentAccount({ payer: alice, number })),
    ...[MINT, OTHER_MINT].flatMap((mint) => [
      program.vault(mint),
      ...[alice, bob].map((owner) => associatedTokenAddress(owner, mint)),
    ]),
  ]
}

/** Everything that an instruction could change; data as text, since `expect` goes through bytes one by one. */
function snapshot(world: SolanaWorld): unknown {
  const { registrar, keys, programData, accountOf } = world
  const { paymentAt } = callsOf(world)
  const payments = [paymentAt('a'), paymentAt('new'), paymentAt('bob', keys.bob)]
  const own = [registrar.state, registrar.treasury, programData]
  return [...Object.values(keys), ...own, ...payments, ...communityAccounts(world)].map(
    (address) => {
      const account = accountOf(address)
      return account && { ...account, data: account.data.toString('hex') }
    },
  )
}

/**
 * Accounts of all kinds, with look-alikes: the state's data under another owner, state and treasury of this program at
 * no address of its, another program and the data that says who may upgrade it.
 */
function strangers(world: SolanaWorld) {
  const { registrar, keys, programId, programData, setAccount, accountOf, addForeignProgram } =
    world
  const [foreign, placeless, till] = Array.from({ length: 3 }, () => Keypair.generate().publicKey)
  const { paymentAt } = callsOf(world)
  const data = accountOf(registrar.state)?.data ?? Buffer.alloc(184)
  setAccount(foreign!, keys.stranger, 10n ** 12n, data)
  setAccount(placeless!, programId, 10n ** 12n, data)
  setAccount(till!, programId, 10n ** 12n, accountOf(registrar.treasury)?.data ?? Buffer.alloc(8))
  const other = addForeignProgram(keys.stranger)
  return [
    ...[
      keys.stranger,
      registrar.state,
      registrar.treasury,
      ...registrar.log.map(({ pubkey }) => pubkey),
    ],
    ...[
      paymentAt('bob', keys.bob),
      paymentAt('nobody'),
      foreign!,
      programData,
      SystemProgram.programId,
      TOKEN_PROGRAM,
    ],
    ...[other.programId, other.programData],
    ...(accountOf(registrar.state)
      ? [placeless!, till!, MINT, OTHER_MINT, ...communityAccounts(world)]
      : []),
  ]
}

describe.each(INSTRUCTIONS)('%s', (name) => {
  let world: SolanaWorld
  let right: TransactionInstruction
  beforeAll(() => {
    ;({ world, right } = enter(name))
  })
  const refused = (call: TransactionInstruction, where: string) => {
    const { error } = world.send(call)
    expect(error, where).toBeDefined()
    return error
  }

  it('refuses another account at any place', () => {
    const others: PublicKey[] = strangers(world)
    const before = snapshot(world)
    for (const [place, meta] of right.keys.entries()) {
      for (const [which, pubkey] of others.entries()) {
        if (pubkey.equals(meta.pubkey) || place === FREE[name]) continue
        refused(
          changed(right, { keys: (keys) => keys.with(place, { ...meta, pubkey }) }),
          `${which} at ${place}`,
        )
      }
    }
    expect(snapshot(world)).toEqual(before)
  })

  it('refuses two of its accounts in each other’s places', () => {
    const before = snapshot(world)
    for (let a = 0; a < right.keys.length; a++) {
      for (let b = 0; b < a; b++) {
        if (right.keys[a]!.pubkey.equals(right.keys[b]!.pubkey)) continue
        const keys = (metas: AccountMeta[]) => metas.with(a, metas[b]!).with(b, metas[a]!)
        refused(changed(right, { keys }), `${a} and ${b}`)
      }
    }
    expect(snapshot(world)).toEqual(before)
  })

  it('refuses an account without its flag', () => {
    const before = snapshot(world)
    for (const [place, meta] of right.keys.entries()) {
      // who is paid back stands there twice, and the runtime joins the flags
      if (right.keys.filter(({ pubkey }) => pubkey.equals(meta.pubkey)).length > 1) continue
      const without = (flag: 'isSigner' | 'isWritable') =>
        world.send(changed(right, { keys: (keys) => keys.with(place, { ...meta, [flag]: false }) }))
          .error
      if (meta.isSigner) expect(without('isSigner'), `${place}`).toBe('MissingSignature')
      if (meta.isWritable) expect(without('isWritable'), `${place}`).toBe('NotWritable')
    }
    expect(snapshot(world)).toEqual(before)
  })

  it('refuses an account too many and one that is missing', () => {
    const before = snapshot(world)
    const more = (keys: AccountMeta[]) => [...keys, writes(world.keys.stranger)]
    expect(world.send(changed(right, { keys: more })).error).toBe('WrongAccountCount')
    for (let count = 0; count < right.keys.length; count++) {
      const keys = (all: AccountMeta[]) => all.slice(0, count)
      const { error } = world.send(changed(right, { keys }))
      expect(error, `${count}`).toBe('WrongAccountCount')
    }
    expect(snapshot(world)).toEqual(before)
  })

  it('refuses data of another length', () => {
    for (let length = 0; length < right.data.length; length++) {
      const data = right.data.subarray(0, length)
      expect(world.send(changed(right, { data })).error).toBe('InvalidInstruction')
    }
    const data = Buffer.concat([right.data, Buffer.alloc(1)])
    expect(world.send(changed(right, { data })).error).toBe('InvalidInstruction')
  })

  it('goes through as it is, at last', () => {
    expect(world.send(right).error).toBeUndefined()
  })
})

describe('a payment', () => {
  it('is one by owner, kind and address', () => {
    const { world } = enter('refund')
    const { registrar, programId, keys, setAccount, accountOf, send } = world
    const calls = callsOf(world)
    const real = accountOf(calls.paymentAt('a'))!
    const fake = calls.paymentAt('fake')
    const refund = calls.refund({ fake: 2n })
    setAccount(fake, keys.stranger, real.lamports, real.data)
    expect(send(refund).error).toBe('PaymentNotHeld')
    setAccount(fake, programId, real.lamports, real.data)
    expect(send(refund).error).toBe('WrongAddress')
    setAccount(
      fake,
      programId,
      real.lamports,
      accountOf(registrar.state)!.data.subarray(0, PAYMENT_BYTES),
    )
    expect(send(refund).error).toBe('InvalidAccountData')
  })

  it('goes back to its own payer only', () => {
    const { world, right } = enter('refund')
    const last = right.keys.length - 1
    const toBob = (keys: AccountMeta[]) => keys.with(last, writes(world.keys.bob))
    expect(world.send(changed(right, { keys: toBob })).error).toBe('WrongPayer')
    const settle = callsOf(world).settle({ a: 2n })
    const keys = (metas: AccountMeta[]) => metas.with(metas.length - 1, writes(world.keys.bob))
    expect(world.send(changed(settle, { keys })).error).toBe('WrongPayer')
  })
})

describe('a payment for a name of a community', () => {
  it('is one by owner, kind and address', () => {
    const { world } = enter('refuse_community')
    const { programId, keys, setAccount, accountOf, send, registrar } = world
    const club = communityOf(world)
    const [held, fake] = [1n, 9n].map((number) =>
      club.program.paymentAccount({ payer: keys.alice, number }),
    )
    const real = accountOf(held!)!
    const refuse = club.refuse(club.paid(9n, { sequence: 1n }))
    setAccount(fake!, keys.stranger, real.lamports, real.data)
    expect(send(refuse).error).toBe('CommunityPaymentNotHeld')
    setAccount(fake!, programId, real.lamports, real.data)
    expect(send(refuse).error).toBe('WrongAddress')
    setAccount(
      fake!,
      programId,
      real.lamports,
      accountOf(registrar.state)!.data.subarray(0, COMMUNITY_PAYMENT_BYTES),
    )
    expect(send(refuse).error).toBe('InvalidAccountData')
  })

  it('is made at its own addresses, by the programs that it is to be made by', () => {
    const { world, right } = enter('pay_community_token')
    const stranger = world.keys.stranger
    for (const place of [2, 3, 6, 7, 8, 9]) {
      const call = changed(right, {
        keys: (metas) => metas.with(place, { ...metas[place]!, pubkey: stranger }),
      })
      expect(world.send(call).error, `${place}`).toBe('WrongAddress')
    }
  })
})
