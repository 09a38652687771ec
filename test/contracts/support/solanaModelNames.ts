import bs58 from 'bs58'
import {
  type Books,
  type Call,
  type Effect,
  exactAccounts,
  type Held,
  heldLamports,
  isAt,
  leadingAccounts,
  littleEndian,
  logAt,
  type Move,
  missingRent,
  type Rule,
  type Scope,
  SIGNS,
  SIGNS_AND_WRITES,
  sequencesOf,
  sums,
  WRITES,
  writesAt,
} from './solanaModelParts.js'

/** Payments for names on the hub, and the administration of the registrar. */

const PAYMENT_BYTES = 104
const STATE_BYTES = 184
const TREASURY_BYTES = 8
const WORD_HEX = 64
const NUMBER_HEX = 16
const TERMS_HEX = 4 * WORD_HEX
const U64_MAX = (1n << 64n) - 1n
const DAY_S = 86_400n

/** An effect on lamports and books without an event. */
const quiet = (apply: () => void, lamports = new Map<string, bigint>()): Effect => ({
  lamports,
  tokens: new Map(),
  events: [],
  apply,
})

/** The addresses of the data; undefined where the length is another. */
function addressesIn(fields: string, count: number): string[] | undefined {
  if (fields.length !== count * WORD_HEX) return undefined
  const word = (i: number) => fields.slice(WORD_HEX * i, WORD_HEX * (i + 1))
  return Array.from({ length: count }, (_, i) => bs58.encode(Buffer.from(word(i), 'hex')))
}

export const initialize: Rule = (scope, call) => {
  const { books, known, chain } = scope
  const accounts = exactAccounts(call, {
    upgradeAuthority: { is: known.upgradeAuthority, signs: true, writes: true },
    state: writesAt(known.state),
    treasury: writesAt(known.treasury),
    programData: isAt(known.programData),
    system: isAt(known.system),
  })
  const named = addressesIn(call.fields.slice(0, -NUMBER_HEX), 3)
  if (!accounts || !named || books.isInitialized) return undefined
  const reclaimSeconds = littleEndian(call.fields.slice(-NUMBER_HEX))
  if (reclaimSeconds < DAY_S || reclaimSeconds > 30n * DAY_S) return undefined
  const stateRent = missingRent(scope, known.state, STATE_BYTES)
  const reserve = 10n * chain.rentOf(TREASURY_BYTES)
  const [admin, relay, treasurer] = named as [string, string, string]
  return quiet(
    () => {
      books.isInitialized = true
      books.reclaimSeconds = reclaimSeconds
      books.authorities = { admin, relay, treasurer, proposed: known.system }
    },
    sums(
      [accounts.upgradeAuthority, -stateRent - reserve],
      [known.state, stateRent],
      [known.treasury, reserve],
    ),
  )
}

export const register: Rule = (scope, call) => {
  const { books, known, chain } = scope
  const { fields } = call
  const accounts = exactAccounts(call, {
    payer: SIGNS_AND_WRITES,
    state: writesAt(known.state),
    treasury: writesAt(known.treasury),
    payment: WRITES,
    system: isAt(known.system),
    ...logAt(known),
  })
  if (!accounts || fields.length !== TERMS_HEX) return undefined
  const { payer, payment } = accounts
  const quote = fields.slice(0, WORD_HEX)
  const name = fields.slice(WORD_HEX, 128)
  const amountWei =
    littleEndian(fields.slice(128, 144)) + (littleEndian(fields.slice(144, 160)) << 64n)
  const lamports = littleEndian(fields.slice(160, 176))
  const referral = fields.slice(192)
  const expiresAt = BigInt.asIntN(64, littleEndian(fields.slice(176, 192)))
  if (payment !== known.payments.get(payer + quote) || books.held.has(payment)) return undefined
  if (lamports === 0n || expiresAt < books.now) return undefined
  if (heldLamports(books) + lamports > U64_MAX) return undefined
  const missing = missingRent(scope, payment, PAYMENT_BYTES)
  const left = chain.lamportsAt(payer) - lamports - missing
  // a rule of the runtime: an account is left with its rent or with nothing
  if (left < 0n || (left > 0n && left < chain.rentOf(0))) return undefined
  const sequence = books.sequence + 1n
  const reclaimableAt = books.now + books.reclaimSeconds
  return {
    lamports: sums([payer, -lamports - missing], [known.treasury, lamports], [payment, missing]),
    tokens: new Map(),
    events: [
      `RegistrationPaid ${sequence} ${payer} ${quote} ${name} ${amountWei} ${lamports} ${expiresAt} ${referral} ${reclaimableAt}`,
    ],
    apply() {
      books.sequence = sequence
      books.held.set(payment, { payer, quote, lamports, sequence, reclaimableAt })
    },
  }
}

/** Payments of a batch by their accounts; undefined where one is not held, or its accounts are wrong. */
function batch(
  { held }: Books,
  { fields, writes }: Call,
  rest: readonly string[],
): [string, Held][] | undefined {
  const sequences = sequencesOf(fields)
  if (!sequences || rest.length !== 2 * sequences.length) return undefined
  const all: [string, Held][] = []
  for (const [i, sequence] of sequences.entries()) {
    const payment = rest[2 * i]!
    const payer = rest[2 * i + 1]!
    const one = held.get(payment)
    if (one?.sequence !== sequence || one.payer !== payer) return undefined
    if (!writes(payment) || !writes(payer)) return undefined
    all.push([payment, one])
  }
  const isOnce = new Set(all.map(([payment]) => payment)).size === all.length
  return isOnce ? all : undefined
}

export const settle: Rule = ({ books, known, chain }, call) => {
  const accounts = leadingAccounts(call, {
    relay: { is: books.authorities.relay, signs: true },
    state: writesAt(known.state),
    ...logAt(known),
  })
  const all = accounts && batch(books, call, accounts.rest)
  if (!all) return undefined
  const rents = all.flatMap(([payment, { payer }]): Move[] => [
    [payer, chain.lamportsAt(payment)],
    [payment, -chain.lamportsAt(payment)],
  ])
  return {
    lamports: sums(...rents),
    tokens: new Map(),
    events: all.map(([, one]) => `PaymentSettled ${one.sequence} ${one.payer} ${one.quote}`),
    apply() {
      for (const [payment, { lamports }] of all) {
        books.keptLamports += lamports
        books.held.delete(payment)
      }
    },
  }
}

function payBack({ books, known, chain }: Scope, event: string, all: [string, Held][]): Effect {
  const moves = all.flatMap(([payment, { payer, lamports }]): Move[] => [
    [known.treasury, -lamports],
    [payment, -chain.lamportsAt(payment)],
    [payer, lamports + chain.lamportsAt(payment)],
  ])
  return {
    lamports: sums(...moves),
    tokens: new Map(),
    events: all.map(
      ([, one]) => `${event} ${one.sequence} ${one.payer} ${one.quote} ${one.lamports}`,
    ),
    apply() {
      for (const [payment] of all) books.held.delete(payment)
    },
  }
}

export const refund: Rule = (scope, call) => {
  const { books, known } = scope
  const accounts = leadingAccounts(call, {
    relay: { is: books.authorities.relay, signs: true },
    state: writesAt(known.state),
    treasury: writesAt(known.treasury),
    ...logAt(known),
  })
  const all = accounts && batch(books, call, accounts.rest)
  return all && payBack(scope, 'PaymentRefunded', all)
}

export const reclaim: Rule = (scope, call) => {
  const { books, known } = scope
  const accounts = exactAccounts(call, {
    payer: SIGNS_AND_WRITES,
    state: writesAt(known.state),
    treasury: writesAt(known.treasury),
    payment: WRITES,
    ...logAt(known),
  })
  if (!accounts || call.fields.length !== NUMBER_HEX) return undefined
  const one = books.held.get(accounts.payment)
  if (one?.payer !== accounts.payer || one.sequence !== littleEndian(call.fields)) return undefined
  if (books.now < one.reclaimableAt) return undefined
  return payBack(scope, 'PaymentReclaimed', [[accounts.payment, one]])
}

export const withdraw: Rule = ({ books, known, chain }, call) => {
  const accounts = exactAccounts(call, {
    treasurer: { is: books.authorities.treasurer, signs: true },
    state: writesAt(known.state),
    treasury: writesAt(known.treasury),
    destination: WRITES,
  })
  if (!accounts || call.fields.length !== NUMBER_HEX) return undefined
  const { destination } = accounts
  const lamports = littleEndian(call.fields)
  const isOurs =
    [known.state, known.treasury].includes(destination) ||
    books.held.has(destination) ||
    books.open.has(destination)
  if (isOurs || lamports === 0n || lamports > books.keptLamports) return undefined
  // no account begins with less than its rent, as above
  if (chain.lamportsAt(destination) + lamports < chain.rentOf(0)) return undefined
  return quiet(
    () => {
      books.keptLamports -= lamports
    },
    sums([known.treasury, -lamports], [destination, lamports]),
  )
}

/** An instruction by which an authority changes who the authorities are. @param count addresses in the data */
const administration =
  (
    by: 'admin' | 'proposed',
    count: number,
    change: (
      named: string[],
      before: Books['authorities'],
      nobody: string,
    ) => Partial<Books['authorities']>,
  ): Rule =>
  ({ books, known }, call) => {
    const before = books.authorities
    const accounts = exactAccounts(call, { authority: SIGNS, state: writesAt(known.state) })
    const named = addressesIn(call.fields, count)
    if (!accounts || !named || accounts.authority !== before[by]) return undefined
    if (accounts.authority === known.system) return undefined
    return quiet(() => {
      books.authorities = { ...before, ...change(named, before, known.system) }
    })
  }

export const setAuthorities = administration('admin', 2, ([relay, treasurer]) => ({
  relay: relay!,
  treasurer: treasurer!,
}))

export const proposeAdmin = administration('admin', 1, ([proposed]) => ({ proposed: proposed! }))

export const acceptAdmin = administration('proposed', 0, (_, { proposed }, nobody) => ({
  admin: proposed,
  proposed: nobody,
}))
