import {
  type AccountMeta,
  Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { initializeRegistrarInstruction } from '../../src/chains/solana/admin.js'
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../src/chains/solana/tokens.js'
import { changed, RECLAIM_SECONDS, type SolanaWorld, termsOf } from './support/solana.js'
import { PAYMENT_BYTES, writes } from './support/solanaCalls.js'
import { COMMUNITY_PAYMENT_BYTES } from './support/solanaCommunity.js'
import {
  createScene,
  keyOf,
  run,
  type Scene,
  setFrozen,
  succeed,
  wait,
} from './support/solanaScene.js'

/**
 * Each instruction of the registrar with one mistake in its accounts or data: program and model refuse it, and nothing
 * changes.
 */

const INSTRUCTIONS = [
  ...(['initialize', 'set_authorities', 'propose_admin', 'accept_admin'] as const),
  ...(['register', 'settle', 'refund', 'reclaim_payment', 'withdraw'] as const),
  ...(['pay_community', 'pay_community_token', 'refuse_community', 'refuse_tokens'] as const),
  ...(['release_community', 'release_tokens', 'claim_community', 'claim_tokens'] as const),
] as const
type Name = (typeof INSTRUCTIONS)[number]
/** Positions at which any account is accepted: the payer of a registration, the receiver of a payment. */
const FREE: Partial<Record<Name, number>> = { withdraw: 3 }
const QUOTES = ['kept', 'a', 'bob', 'new']
const NUMBERS = [1n, 2n, 3n]

/** A scene in which the unchanged instruction succeeds. */
function enter(name: Name): { scene: Scene; right: TransactionInstruction } {
  const isInitialized = name !== 'initialize'
  const scene = createScene({ isInitialized, quotes: QUOTES, numbers: NUMBERS })
  const { world, calls, club, mints } = scene
  const { keys, registrar } = world
  if (!isInitialized)
    return { scene, right: initializeRegistrarInstruction(registrar, keys.deployer, termsOf(keys)) }

  const inTokens = club.paid(2n, { token: mints[0] })
  const before = [
    calls.register('kept'),
    calls.register('a'),
    calls.register('bob', {}, keys.bob),
    calls.settle({ kept: 1n }),
    // too little for bob's rent, if he holds nothing
    club.pay(1n, { amount: 1n }),
    club.payToken(mints[0], 2n),
    calls.proposeAdmin(keys.bob),
  ]
  for (const call of before) succeed(scene, call)
  if (name === 'reclaim_payment') wait(scene, RECLAIM_SECONDS)
  if (name.startsWith('claim')) releaseUnpaid(scene)

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
    pay_community_token: () => club.payToken(mints[0], 3n),
    refuse_community: () => club.refuse(),
    refuse_tokens: () => club.refuse(inTokens),
    release_community: () => club.release(),
    release_tokens: () => club.release(inTokens),
    claim_community: () => club.claim(keys.bob),
    claim_tokens: () => club.claim(keys.bob, inTokens),
  }[name]()
  return { scene, right }
}

/** Makes alice's payments collectable by bob: when they are released, he can be paid neither SOL nor tokens. */
function releaseUnpaid(scene: Scene): void {
  const { world, club, mints } = scene
  const { bob } = world.keys
  const account = associatedTokenAddress(bob, mints[0])
  const lamports = world.balanceOf(bob)
  world.give(bob, 0n)
  setFrozen(scene, account, bob, mints[0], true)
  succeed(scene, club.release(club.paid(1n), club.paid(2n, { token: mints[0] })))
  setFrozen(scene, account, bob, mints[0], false)
  world.give(bob, lamports)
}

/** Everything that an instruction could change. Data as text, since `expect` compares bytes one by one. */
function snapshot({ world, wallets, vaults, known }: Scene): unknown {
  const { registrar, programData, accountOf } = world
  const kept = [known.payments, known.communityPayments].flatMap((accounts) => [
    ...accounts.values(),
  ])
  const all = [
    ...[...wallets, ...vaults, registrar.state, registrar.treasury, programData],
    ...[...kept, ...known.tokenAccounts.keys()].map(keyOf),
  ]
  return all.map((address) => {
    const account = accountOf(address)
    return account && { ...account, data: account.data.toString('hex') }
  })
}

/**
 * Accounts of all kinds, with look-alikes: the state's data under another owner, this program's state and treasury at
 * wrong addresses, another program, and the account with its upgrade authority.
 */
function strangers({ world, calls, mints, vaults, known }: Scene): PublicKey[] {
  const { registrar, keys, programId, programData, setAccount, accountOf, addForeignProgram } =
    world
  const [foreign, placeless, till] = Array.from({ length: 3 }, () => Keypair.generate().publicKey)
  const data = accountOf(registrar.state)?.data ?? Buffer.alloc(184)
  setAccount(foreign!, keys.stranger, 10n ** 12n, data)
  setAccount(placeless!, programId, 10n ** 12n, data)
  setAccount(till!, programId, 10n ** 12n, accountOf(registrar.treasury)?.data ?? Buffer.alloc(8))
  const other = addForeignProgram(keys.stranger)
  const owners = [keys.alice, keys.bob, keys.stranger]
  return [
    ...[keys.stranger, registrar.state, registrar.treasury, foreign!, programData],
    ...[registrar.eventAuthority, programId],
    ...[calls.paymentAt('bob', keys.bob), calls.paymentAt('nobody')],
    ...[SystemProgram.programId, TOKEN_PROGRAM, other.programId, other.programData],
    ...(accountOf(registrar.state) ? [placeless!, till!] : []),
    ...[...mints, ...vaults],
    ...mints.flatMap((mint) => owners.map((owner) => associatedTokenAddress(owner, mint))),
    ...NUMBERS.map((number) => paymentOf(world, known, number)),
  ]
}

/** Account of one of alice's payments for a name of a community. */
const paymentOf = ({ keys }: SolanaWorld, { communityPayments }: Scene['known'], number: bigint) =>
  keyOf(communityPayments.get(`${keys.alice.toBase58()} ${number}`)!)

describe.each(INSTRUCTIONS)('%s', (name) => {
  let scene: Scene
  let right: TransactionInstruction
  beforeAll(() => {
    ;({ scene, right } = enter(name))
  })
  const refused = (call: TransactionInstruction, where: string) => {
    const { error } = run(scene, call)
    expect(error, where).toBeDefined()
  }

  it('refuses another account at any position', () => {
    const others: PublicKey[] = strangers(scene)
    const before = snapshot(scene)
    for (const [place, meta] of right.keys.entries()) {
      for (const [which, pubkey] of others.entries()) {
        if (pubkey.equals(meta.pubkey) || place === FREE[name]) continue
        refused(
          changed(right, { keys: (keys) => keys.with(place, { ...meta, pubkey }) }),
          `${which} at ${place}`,
        )
      }
    }
    expect(snapshot(scene)).toEqual(before)
  })

  it('refuses two of its accounts at each other’s positions', () => {
    const before = snapshot(scene)
    for (let a = 0; a < right.keys.length; a++) {
      for (let b = 0; b < a; b++) {
        if (right.keys[a]!.pubkey.equals(right.keys[b]!.pubkey)) continue
        const keys = (metas: AccountMeta[]) => metas.with(a, metas[b]!).with(b, metas[a]!)
        refused(changed(right, { keys }), `${a} and ${b}`)
      }
    }
    expect(snapshot(scene)).toEqual(before)
  })

  it('refuses an account without its flag', () => {
    const before = snapshot(scene)
    for (const [place, meta] of right.keys.entries()) {
      // the payer who is paid back is listed twice, and the runtime joins the flags
      if (right.keys.filter(({ pubkey }) => pubkey.equals(meta.pubkey)).length > 1) continue
      const without = (flag: 'isSigner' | 'isWritable') =>
        run(scene, changed(right, { keys: (keys) => keys.with(place, { ...meta, [flag]: false }) }))
          .error
      if (meta.isSigner) expect(without('isSigner'), `${place}`).toBe('MissingSignature')
      if (meta.isWritable) expect(without('isWritable'), `${place}`).toBe('NotWritable')
    }
    expect(snapshot(scene)).toEqual(before)
  })

  it('refuses an additional and a missing account', () => {
    const before = snapshot(scene)
    const more = (keys: AccountMeta[]) => [...keys, writes(scene.world.keys.stranger)]
    expect(run(scene, changed(right, { keys: more })).error).toBe('WrongAccountCount')
    for (let count = 0; count < right.keys.length; count++) {
      const keys = (all: AccountMeta[]) => all.slice(0, count)
      const { error } = run(scene, changed(right, { keys }))
      expect(error, `${count}`).toBe('WrongAccountCount')
    }
    expect(snapshot(scene)).toEqual(before)
  })

  it('refuses data of another length', () => {
    for (let length = 0; length < right.data.length; length++) {
      const data = right.data.subarray(0, length)
      expect(run(scene, changed(right, { data })).error).toBe('InvalidInstruction')
    }
    const data = Buffer.concat([right.data, Buffer.alloc(1)])
    expect(run(scene, changed(right, { data })).error).toBe('InvalidInstruction')
  })

  it('succeeds unchanged, at last', () => {
    expect(run(scene, right).error).toBeUndefined()
  })
})

describe('a payment', () => {
  it('is recognized by owner, kind and address', () => {
    const { world, calls } = enter('refund').scene
    const { registrar, programId, keys, setAccount, accountOf, send } = world
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
    const { scene, right } = enter('refund')
    const { world, calls } = scene
    const last = right.keys.length - 1
    const toBob = (keys: AccountMeta[]) => keys.with(last, writes(world.keys.bob))
    expect(run(scene, changed(right, { keys: toBob })).error).toBe('WrongPayer')
    const settle = calls.settle({ a: 2n })
    const keys = (metas: AccountMeta[]) => metas.with(metas.length - 1, writes(world.keys.bob))
    expect(run(scene, changed(settle, { keys })).error).toBe('WrongPayer')
  })
})

describe('a payment for a name of a community', () => {
  it('is recognized by owner, kind and address', () => {
    const { world, club } = enter('refuse_community').scene
    const { programId, keys, setAccount, accountOf, send, registrar } = world
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

  it('is made at its own addresses, by the right programs', () => {
    const { scene, right } = enter('pay_community_token')
    const { stranger } = scene.world.keys
    for (const place of [2, 3, 6, 7, 8, 9]) {
      const call = changed(right, {
        keys: (metas) => metas.with(place, { ...metas[place]!, pubkey: stranger }),
      })
      expect(run(scene, call).error, `${place}`).toBe('WrongAddress')
    }
  })
})
