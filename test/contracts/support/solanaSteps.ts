import { type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { expect } from 'vitest'
import {
  initializeRegistrarInstruction,
  withdrawTreasuryInstruction,
} from '../../../src/chains/solana/admin.js'
import type { NumberedPayment } from '../../../src/chains/solana/community/program.js'
import { associatedTokenAddress } from '../../../src/chains/solana/tokens.js'
import { base58Of, changed, RECLAIM_SECONDS, termsOf } from './solana.js'
import { wordOf, writes } from './solanaCalls.js'
import type { OpenPayment } from './solanaModelParts.js'
import { mutation } from './solanaMutations.js'
import { keyOf, type Scene, setFrozen } from './solanaScene.js'

/** Random instructions of the registrar with the right signers, mostly for existing payments. */

export const QUOTES = ['q0', 'q1', 'q2', 'q3', 'q4']
export const NUMBERS = [0n, 1n, 2n, 3n, 2n ** 64n - 1n]
const NAME_KINDS = [
  ...(['register', 'register', 'register', 'settle', 'refund', 'reclaim', 'withdraw'] as const),
  ...(['setAuthorities', 'proposeAdmin', 'acceptAdmin', 'initialize'] as const),
]
const COMMUNITY_KINDS = [
  ...(['pay', 'pay', 'payToken', 'payToken', 'refuse', 'refuse'] as const),
  ...(['release', 'release', 'claim', 'claim', 'freeze'] as const),
]
export const KINDS = [...new Set([...NAME_KINDS, ...COMMUNITY_KINDS])]
const GIFT_LAMPORTS = 1_000_000n

const amount = fc.oneof(
  { weight: 7, arbitrary: fc.bigInt(1n, 10n ** 9n) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 10n ** 15n, 2n ** 63n, 2n ** 64n - 1n) },
)
export const step = fc.record({
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...NAME_KINDS) },
    { weight: 1, arbitrary: fc.constantFrom(...COMMUNITY_KINDS) },
  ),
  /** Index of a quote or a payer's number. */
  number: fc.nat(QUOTES.length - 1),
  /** Index among the suitable payments; 0 for any payment. */
  which: fc.nat(9),
  count: fc.integer({ min: 1, max: 3 }),
  who: fc.nat(3),
  recipient: fc.nat(3),
  mint: fc.nat(1),
  amount,
  expiresIn: fc.constantFrom(0n, 600n, 600n, 600n, 600n, -1n),
  /** Time that passes before. */
  seconds: fc.constantFrom(0n, 0n, 0n, 60n, 86_400n),
  /** Another account of the payer's or recipient's than the associated one. */
  other: fc.boolean(),
  gift: fc.oneof(
    { weight: 9, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  mutations: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
  ),
})
type Drawn = typeof step extends fc.Arbitrary<infer S> ? S : never
export type Step = Omit<Drawn, 'seconds' | 'expiresIn'> & { seconds: bigint; expiresIn: bigint }

const PLAIN = {
  number: 0,
  which: 1,
  count: 1,
  who: 0,
  recipient: 1,
  mint: 0,
  amount: 10n ** 7n,
  expiresIn: 600n,
  seconds: 0n,
  other: false,
  gift: false,
  mutations: [] as const,
}
/** Steps by which every instruction on names of communities succeeds once, whatever the random steps do. */
export const OPENING: readonly Step[] = [
  { ...PLAIN, kind: 'pay' },
  { ...PLAIN, kind: 'payToken', number: 1 },
  { ...PLAIN, kind: 'refuse' },
  { ...PLAIN, kind: 'release' },
  { ...PLAIN, kind: 'pay', number: 2 },
  { ...PLAIN, kind: 'claim', seconds: RECLAIM_SECONDS },
  // a vault that is frozen pays nobody until it is thawed
  { ...PLAIN, kind: 'payToken' },
  { ...PLAIN, kind: 'freeze', which: 0, count: 1 },
  { ...PLAIN, kind: 'release' },
  { ...PLAIN, kind: 'claim' },
  { ...PLAIN, kind: 'freeze', which: 0, count: 2 },
  { ...PLAIN, kind: 'claim' },
]

/** Somebody sends lamports to an account that may be made, or to the treasury. */
export function give(scene: Scene, { kind, who, which }: Step): void {
  const { known, world } = scene
  const isCommunity = COMMUNITY_KINDS.some((one) => one === kind)
  const accounts = isCommunity ? known.communityPayments : known.payments
  const isToTreasury = !isCommunity && who === 0
  const to = isToTreasury ? known.treasury : [...accounts.values()][which]!
  if (isToTreasury) scene.gifts += GIFT_LAMPORTS
  const transfer = {
    fromPubkey: world.keys.stranger,
    toPubkey: keyOf(to),
    lamports: Number(GIFT_LAMPORTS),
  }
  const before = world.balanceOf(transfer.toPubkey)
  expect(world.send(SystemProgram.transfer(transfer)).error).toBeUndefined()
  expect(world.balanceOf(transfer.toPubkey)).toBe(before + GIFT_LAMPORTS)
}

/** An issuer freezes an account, or thaws it. */
export function freeze(scene: Scene, one: Step): void {
  const isVault = one.which === 0
  const mint = scene.mints[one.mint]!
  const vault = scene.vaults[one.mint]!
  const owner = one.other ? payerOf(scene, one) : recipientOf(scene, one)
  const account = isVault ? vault : associatedTokenAddress(owner, mint)
  setFrozen(scene, account, isVault ? vault : owner, mint, one.count === 1)
}

const recipientOf = ({ world: { keys }, newcomer }: Scene, { recipient }: Step): PublicKey =>
  [keys.bob, keys.stranger, keys.alice, newcomer][recipient]!
const payerOf = ({ world: { keys } }: Scene, { who }: Step): PublicKey =>
  [keys.alice, keys.bob][who % 2]!

/** The instruction of a step, which succeeds if its terms are right and its payment exists. */
export function rightCall(scene: Scene, one: Step): TransactionInstruction {
  const { world, calls, club, books, wallets, others } = scene
  const { keys, registrar } = world
  const authorities = books.authorities
  switch (one.kind) {
    case 'register':
      return registerCall(scene, one)
    case 'settle':
    case 'refund':
      return batchCall(scene, one, one.kind)
    case 'reclaim': {
      const isDue = one.which === 0 ? () => true : isReclaimable(scene)
      const due = [...books.held.values()].filter(isDue)
      const found = due[one.which % Math.max(1, due.length)]
      return found ? registrar.reclaim(nameKeyOf(found)) : calls.reclaim()
    }
    case 'withdraw': {
      const most = one.who > 0 && books.keptLamports > 0n ? books.keptLamports + 1n : 2n ** 64n
      const treasurer = keyOf(authorities.treasurer)
      return withdrawTreasuryInstruction(registrar, treasurer, wallets[one.who]!, one.amount % most)
    }
    case 'setAuthorities':
      return calls.setAuthorities(
        [keys.relay, keys.bob][one.who % 2]!,
        [keys.treasurer, keys.alice][one.count % 2]!,
        keyOf(authorities.admin),
      )
    case 'proposeAdmin':
      return calls.proposeAdmin(wallets[one.who]!, keyOf(authorities.admin))
    case 'acceptAdmin':
      return calls.acceptAdmin(keyOf(authorities.proposed))
    case 'initialize':
      return initializeRegistrarInstruction(registrar, keys.deployer, termsOf(keys))
    case 'pay':
      return club.pay(NUMBERS[one.number], communityTerms(scene, one))
    case 'payToken': {
      const mint = scene.mints[one.mint]!
      const source = others.get(base58Of(payerOf(scene, one)) + base58Of(mint))!
      const terms = communityTerms(scene, one)
      return club.payToken(mint, NUMBERS[one.number], one.other ? { ...terms, source } : terms)
    }
    case 'refuse':
    case 'release': {
      const payments = pick(scene, one, ({ state }) => state === 'held')
      return club.program[one.kind](keyOf(authorities.relay), payments)
    }
    case 'claim': {
      const isDue = (payment: OpenPayment) =>
        payment.state !== 'held' || isReclaimable(scene)(payment)
      const [payment] = pick(scene, { ...one, count: 1 }, isDue)
      return claimCall(scene, payment!, one.other)
    }
    case 'freeze':
      throw new Error('freezing is no instruction of the registrar')
  }
}

const isReclaimable =
  ({ books }: Scene) =>
  ({ reclaimableAt }: { reclaimableAt: bigint }) =>
    reclaimableAt <= books.now

const communityTerms = (scene: Scene, one: Step) => ({
  payer: payerOf(scene, one),
  recipient: recipientOf(scene, one),
  amount: one.amount,
})

/** A payment for a name on the hub as the client names it. */
export const nameKeyOf = ({ payer, quote, sequence }: NamedPayment) => ({
  quoteId: Buffer.from(quote, 'hex'),
  payer: keyOf(payer),
  sequence,
})
type NamedPayment = { payer: string; quote: string; sequence: bigint }

function registerCall({ world, calls, known, books }: Scene, one: Step): TransactionInstruction {
  const { keys } = world
  const payer = [keys.alice, keys.bob, keys.relay, keys.deployer][one.who]!
  const quote = wordOf(QUOTES[one.number]!)
  const terms = { lamports: one.amount, expiresAt: books.now + one.expiresIn }
  // the payment's address is known already: finding it takes longer than running the program
  const template = calls.register('template', terms, payer)
  const data = Buffer.from(template.data)
  quote.copy(data, 8)
  const account = known.payments.get(base58Of(payer) + quote.toString('hex'))!
  return changed(template, { data, keys: (metas) => metas.with(3, writes(keyOf(account))) })
}

/** A decision, mostly of payments that there are. */
function batchCall(
  { calls, books, known }: Scene,
  one: Step,
  kind: 'settle' | 'refund',
): TransactionInstruction {
  const open = [...books.held]
  const groups = Array.from({ length: Math.min(one.count, open.length) }, (_, n) => {
    const [account, { payer, sequence }] = open[(one.number + n) % open.length]!
    return { account, payer, sequence }
  })
  if (groups.length === 0 || one.who === 0) {
    const [key, account] = [...known.payments][one.number]!
    groups.push({ account, payer: key.slice(0, -64), sequence: 1n })
  }
  const template = calls[kind]({ any: 1n })
  const data = Buffer.alloc(12 + 8 * groups.length)
  template.data.copy(data, 0, 0, 8)
  data.writeUInt32LE(groups.length, 8)
  for (const [i, { sequence }] of groups.entries()) data.writeBigUInt64LE(sequence, 12 + 8 * i)
  const pairs = groups.flatMap(({ account, payer }) => [
    writes(keyOf(account)),
    writes(keyOf(payer)),
  ])
  const relay = keyOf(books.authorities.relay)
  return changed(template, {
    data,
    keys: (all) => [{ ...all[0]!, pubkey: relay }, ...all.slice(1, -2), ...pairs],
  })
}

/** A payment for a name of a community as the client names it. */
export const countedOf = ({
  payer,
  number,
  sequence,
  mint,
  recipient,
}: OpenPayment): NumberedPayment => ({
  payer: keyOf(payer),
  number,
  sequence,
  recipient: keyOf(recipient),
  token: mint === undefined ? null : keyOf(mint),
})

/** Open payments, mostly payments for which the step can succeed. */
function pick(
  { books, club }: Scene,
  { which, count }: Step,
  wanted: (payment: OpenPayment) => boolean,
): NumberedPayment[] {
  const open = [...books.open.values()]
  const fitting = open.filter(wanted)
  const candidates = fitting.length > 0 && which > 0 ? fitting : open
  if (candidates.length === 0) return [club.paid(1n)]
  const found = Array.from(
    { length: count },
    (_, i) => candidates[(which + i) % candidates.length]!,
  )
  return [...new Set(found)].map(countedOf)
}

export function claimCall(
  { club, others, books }: Scene,
  payment: NumberedPayment,
  isOther: boolean,
): TransactionInstruction {
  const account = base58Of(club.program.paymentAccount(payment))
  const isReleased = books.open.get(account)?.state === 'released'
  const owner = isReleased ? payment.recipient : payment.payer
  const { token } = payment
  const other = token && isOther ? others.get(base58Of(owner) + base58Of(token)) : undefined
  return club.claim(owner, payment, other)
}
