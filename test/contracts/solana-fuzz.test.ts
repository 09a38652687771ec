import { type PublicKey, SystemProgram } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../src/chains/solana/tokens.js'
import { base58Of, RECLAIM_SECONDS } from './support/solana.js'
import type { OpenPayment } from './support/solanaModelParts.js'
import { mutateCall } from './support/solanaMutations.js'
import {
  checkBooks,
  createScene,
  keyOf,
  run,
  type Scene,
  setFrozen,
  succeed,
  wait,
} from './support/solanaScene.js'
import {
  claimCall,
  countedOf,
  freeze,
  give,
  KINDS,
  NUMBERS,
  nameKeyOf,
  OPENING,
  QUOTES,
  rightCall,
  type Step,
  step,
} from './support/solanaSteps.js'

/** Number of calls in a run. `FUZZ_CALLS=100000` makes a long one, `FUZZ_SEED` repeats one. */
const STEPS = 2_700
const RUNS = Math.ceil(Number(process.env.FUZZ_CALLS ?? STEPS) / STEPS)
const SEED = process.env.FUZZ_SEED === undefined ? undefined : Number(process.env.FUZZ_SEED)
const FOR_COMMUNITIES = ['pay', 'payToken', 'refuse', 'release', 'claim'] as const
const FOR_NAMES = [
  ...(['register', 'settle', 'refund', 'reclaim', 'withdraw'] as const),
  ...(['setAuthorities', 'proposeAdmin', 'acceptAdmin'] as const),
]

test(`${RUNS * STEPS} payloads and account lists: the program behaves like its model, to the unit`, {
  timeout: 3_000_000,
}, () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' }), (steps) => {
      const scene = createScene({ quotes: QUOTES, numbers: NUMBERS })
      const pool = poolOf(scene)
      const accepted = new Map(KINDS.map((kind) => [kind, 0]))
      const countOf = (kinds: readonly Step['kind'][]) => kinds.map((kind) => accepted.get(kind)!)
      const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
      const play = (one: Step) => {
        if (playStep(scene, pool, one)) accepted.set(one.kind, accepted.get(one.kind)! + 1)
      }

      OPENING.forEach(play)
      expect(Math.min(...countOf(FOR_COMMUNITIES))).toBe(1)
      steps.forEach(play)
      empty(scene)

      // refusals prove little unless as many calls succeed
      expect(countOf(['initialize'])).toEqual([0])
      expect(Math.min(...countOf(FOR_NAMES))).toBeGreaterThan(0)
      expect(total(countOf(FOR_NAMES))).toBeGreaterThan(STEPS / 7)
      expect(total(countOf(FOR_COMMUNITIES))).toBeGreaterThan(STEPS / 80)
    }),
    // a failure names its instruction, so shrinking thousands of steps is not needed
    { numRuns: RUNS, endOnFailure: true, ...(SEED === undefined ? {} : { seed: SEED }) },
  )
})

/** Accounts that replace the right ones. */
function poolOf({ world, wallets, mints, vaults, known }: Scene): PublicKey[] {
  const { registrar, keys, programId, programData, addForeignProgram } = world
  const foreign = addForeignProgram(keys.stranger)
  const kept = [known.payments, known.communityPayments].flatMap((accounts) => [
    ...accounts.values(),
  ])
  return [
    ...[...wallets, ...mints, ...vaults, ...Object.values(foreign)],
    ...[registrar.state, registrar.treasury, registrar.eventAuthority, programData, programId],
    ...[SystemProgram.programId, TOKEN_PROGRAM],
    ...[...kept, ...known.tokenAccounts.keys()].map(keyOf),
  ]
}

/** Plays one step in program and model. @returns whether an instruction succeeded */
function playStep(scene: Scene, pool: readonly PublicKey[], one: Step): boolean {
  wait(scene, one.seconds)
  if (one.kind === 'freeze') freeze(scene, one)
  if (one.gift) give(scene, one)
  if (one.kind === 'freeze') return false
  // accounts of programs have no key that can sign
  const maySign = (key: PublicKey) =>
    scene.wallets.some((wallet) => wallet.equals(key)) || !pool.some((other) => other.equals(key))
  const call = mutateCall(rightCall(scene, one), one.mutations, pool, maySign)
  return run(scene, call).error === undefined
}

/**
 * Checks that no money is stuck: everything held can go back, reclaimed by its payer where nobody decides, and
 * everything kept can be withdrawn.
 */
function empty(scene: Scene): void {
  const { world, calls, books, vaults, mints } = scene
  const { keys, registrar } = world
  succeed(scene, calls.setAuthorities(keys.relay, keys.treasurer, keyOf(books.authorities.admin)))
  wait(scene, RECLAIM_SECONDS)
  for (const held of [...books.held.values()]) {
    const key = nameKeyOf(held)
    const isReclaimed = held.sequence % 2n === 1n
    const before = world.balanceOf(key.payer)
    succeed(scene, isReclaimed ? registrar.reclaim(key) : registrar.refund(keys.relay, [key]))
    expect(world.balanceOf(key.payer)).toBeGreaterThan(before + held.lamports)
  }
  if (books.keptLamports > 0n) succeed(scene, calls.withdraw(books.keptLamports))
  for (const [i, vault] of vaults.entries()) setFrozen(scene, vault, vault, mints[i]!, false)
  for (const payment of [...books.open.values()]) collect(scene, payment)
  expect([...books.held, ...books.open]).toEqual([])
  checkBooks(scene)
}

/** The owner of a payment for a name of a community collects it, without the relay authority. */
function collect(scene: Scene, payment: OpenPayment): void {
  const { world, club, books, known } = scene
  const owner = payment.state === 'released' ? payment.recipient : payment.payer
  const to = keyOf(owner)
  if (world.balanceOf(to) === 0n) world.give(to, world.rentOf(0))
  const before = world.balanceOf(to)
  if (payment.mint === undefined) {
    succeed(scene, claimCall(scene, countedOf(payment), false))
    expect(world.balanceOf(to)).toBeGreaterThanOrEqual(before + payment.amount)
    return
  }
  const mint = keyOf(payment.mint)
  const account = associatedTokenAddress(to, mint)
  club.giveTokens(to, mint, 0n)
  known.tokenAccounts.set(base58Of(account), { mint: payment.mint, owner })
  books.frozen.delete(base58Of(account))
  succeed(scene, claimCall(scene, countedOf(payment), false))
  expect(club.tokensAt(account)).toBe(payment.amount)
}
