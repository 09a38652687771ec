import bs58 from 'bs58'
import { isNameWord } from '../../support/names.js'
import {
  ANY,
  type Call,
  type Effect,
  exactAccounts,
  isAt,
  isLeftWithRent,
  leadingAccounts,
  littleEndian,
  logAt,
  type Move,
  missingRent,
  type OpenPayment,
  type Rule,
  type Scope,
  SIGNS_AND_WRITES,
  sequencesOf,
  sums,
  WRITES,
  writesAt,
} from './solanaModelParts.js'

/** Payments for names of communities, in SOL and in tokens. */

const COMMUNITY_PAYMENT_BYTES = 144
const TOKEN_ACCOUNT_BYTES = 165
const TERMS_HEX = 288
const NUMBER_HEX = 16
const NOBODY = '0'.repeat(64)

/** The terms of a payment's data. */
function termsOf(fields: string) {
  const word = (at: number) => fields.slice(at, at + 64)
  return {
    number: littleEndian(fields.slice(0, 16)),
    community: word(16),
    name: word(80),
    recipient: word(144),
    amount: littleEndian(fields.slice(208, 224)),
    referral: fields.slice(224, TERMS_HEX),
  }
}

/** Whether terms are valid, for this payer and account. */
function isPayable(
  { books, known }: Scope,
  { number, community, name, recipient, amount }: ReturnType<typeof termsOf>,
  payer: string,
  payment: string,
): boolean {
  const areNames = [community, name].every((one) => isNameWord(Buffer.from(one, 'hex')))
  if (!areNames || recipient === NOBODY || amount === 0n) return false
  return payment === known.communityPayments.get(`${payer} ${number}`) && !books.open.has(payment)
}

/** Stores a payment with these movements of lamports and tokens. */
function hold(
  scope: Scope,
  fields: string,
  payer: string,
  payment: string,
  mint: string | undefined,
  moves: { costs: Move[]; tokens: Map<string, bigint> },
): Effect | undefined {
  const { books, known, chain } = scope
  const { number, community, name, amount, referral, ...terms } = termsOf(fields)
  const recipient = bs58.encode(Buffer.from(terms.recipient, 'hex'))
  const total = moves.costs.reduce((sum, [, lamports]) => sum + lamports, 0n)
  const left = chain.lamportsAt(payer) - total
  // a rule of the runtime: an account is left with its rent or with nothing
  if (left < 0n || (left > 0n && left < chain.rentOf(0))) return undefined
  const sequence = books.communitySequence + 1n
  const reclaimableAt = books.now + books.reclaimSeconds
  return {
    lamports: sums([payer, -total], ...moves.costs),
    tokens: moves.tokens,
    events: [
      `CommunityPaid ${sequence} ${payer} ${number} ${mint ?? known.system} ${amount} ${recipient} ${community} ${name} ${referral} ${reclaimableAt}`,
    ],
    apply() {
      books.communitySequence = sequence
      if (mint !== undefined) books.vaults.add(known.mints.get(mint)!.vault)
      books.open.set(payment, {
        sequence,
        payer,
        number,
        mint,
        amount,
        recipient,
        reclaimableAt,
        state: 'held',
      })
    },
  }
}

export const pay: Rule = (scope, call) => {
  const { known } = scope
  const accounts = exactAccounts(call, {
    payer: SIGNS_AND_WRITES,
    state: writesAt(known.state),
    payment: WRITES,
    system: isAt(known.system),
    ...logAt(known),
  })
  if (!accounts || call.fields.length !== TERMS_HEX) return undefined
  const { payer, payment } = accounts
  const terms = termsOf(call.fields)
  if (!isPayable(scope, terms, payer, payment)) return undefined
  const cost = missingRent(scope, payment, COMMUNITY_PAYMENT_BYTES) + terms.amount
  const moves = { costs: [[payment, cost]] as Move[], tokens: new Map<string, bigint>() }
  return hold(scope, call.fields, payer, payment, undefined, moves)
}

export const payToken: Rule = (scope, call) => {
  const { books, known, chain } = scope
  const accounts = exactAccounts(call, {
    payer: SIGNS_AND_WRITES,
    state: writesAt(known.state),
    payment: WRITES,
    system: isAt(known.system),
    mint: ANY,
    source: WRITES,
    vault: WRITES,
    tokenProgram: isAt(known.tokenProgram),
    ...logAt(known),
  })
  if (!accounts || call.fields.length !== TERMS_HEX + 2) return undefined
  const { payer, payment, mint, source, vault } = accounts
  const terms = termsOf(call.fields)
  if (!isPayable(scope, terms, payer, payment)) return undefined
  const decimals = Number.parseInt(call.fields.slice(TERMS_HEX), 16)
  const token = known.mints.get(mint)
  if (token?.decimals !== decimals || token.vault !== vault) return undefined
  if (!canMove(scope, source, mint, payer) || books.frozen.has(vault)) return undefined
  if (chain.tokensAt(source) < terms.amount) return undefined
  const costs: Move[] = [[payment, missingRent(scope, payment, COMMUNITY_PAYMENT_BYTES)]]
  if (!books.vaults.has(vault)) costs.push([vault, missingRent(scope, vault, TOKEN_ACCOUNT_BYTES)])
  const tokens = sums([source, -terms.amount], [vault, terms.amount])
  return hold(scope, call.fields, payer, payment, mint, { costs, tokens })
}

/** Whether an account is this owner's for this token, and not frozen. */
function canMove({ books, known }: Scope, account: string, mint: string, owner: string): boolean {
  const found = known.tokenAccounts.get(account)
  return found?.mint === mint && found.owner === owner && !books.frozen.has(account)
}

/** Movements when a payment leaves: `to` gets the amount, and the payer gets the rest of the payment's account. */
function paidOut(
  { known, chain }: Scope,
  payment: string,
  one: OpenPayment,
  to: string,
  into: string,
) {
  const inSol = one.mint === undefined ? one.amount : 0n
  const all = chain.lamportsAt(payment)
  const lamports: Move[] = [
    [payment, -all],
    [one.payer, all - inSol],
    [to, inSol],
  ]
  const tokens: Move[] = []
  if (one.mint !== undefined)
    tokens.push([known.mints.get(one.mint)!.vault, -one.amount], [into, one.amount])
  return { lamports, tokens }
}

/** A decision of the relay authority. A side that can't be paid now leaves the payment open for its claim. */
const decision =
  (outcome: 'refused' | 'released', event: string): Rule =>
  (scope, call) => {
    const { books, known } = scope
    const accounts = leadingAccounts(call, {
      relay: { is: books.authorities.relay, signs: true },
      state: isAt(known.state),
      tokenProgram: isAt(known.tokenProgram),
      ...logAt(known),
    })
    const sequences = sequencesOf(call.fields)
    if (!accounts || !sequences) return undefined
    const lamports: Move[] = []
    const tokens: Move[] = []
    const events: string[] = []
    const ends = new Map<string, OpenPayment | null>()
    for (const sequence of sequences) {
      const [payment = '', payer = '', to = ''] = accounts.rest.splice(0, 3)
      const one = books.open.get(payment)
      if (one?.state !== 'held' || ends.has(payment)) return undefined
      if (one.sequence !== sequence || one.payer !== payer) return undefined
      if (to !== (outcome === 'refused' ? one.payer : one.recipient)) return undefined
      if (![payment, payer, to].every(call.writes)) return undefined
      const into = one.mint === undefined ? '' : intoOf(scope, call, accounts.rest, one.mint, to)
      if (into === undefined) return undefined
      const isPaid =
        one.mint === undefined
          ? canHold(scope, payment, one, to, sums(...lamports).get(to) ?? 0n)
          : canMove(scope, into, one.mint, to) &&
            !books.frozen.has(known.mints.get(one.mint)!.vault)
      if (isPaid) {
        const out = paidOut(scope, payment, one, to, into)
        lamports.push(...out.lamports)
        tokens.push(...out.tokens)
      }
      ends.set(payment, isPaid ? null : { ...one, state: outcome })
      const paid = isPaid ? one.amount : 0n
      events.push(`${event} ${sequence} ${to} ${one.mint ?? known.system} ${one.amount} ${paid}`)
    }
    const moved = sums(...lamports)
    if (accounts.rest.length > 0 || !isLeftWithRent(scope, moved)) return undefined
    return {
      lamports: moved,
      tokens: sums(...tokens),
      events,
      apply() {
        for (const [payment, left] of ends) {
          if (left) books.open.set(payment, left)
          else books.open.delete(payment)
        }
      },
    }
  }

export const refuse = decision('refused', 'CommunityRefused')
export const release = decision('released', 'CommunityReleased')

/** Takes a decision's three accounts of a token; the account to pay into, undefined where one is wrong. */
function intoOf(
  { known }: Scope,
  { writes }: Call,
  rest: string[],
  mint: string,
  to: string,
): string | undefined {
  const [givenMint, vault = '', into = ''] = rest.splice(0, 3)
  if (givenMint !== mint || vault !== known.mints.get(mint)!.vault) return undefined
  const isRight = writes(vault) && writes(into) && into === known.associated(to, mint)
  return isRight ? into : undefined
}

/** Whether an account can be paid in SOL: it holds something, or gets its rent. @param gets from payments before */
function canHold(
  { chain }: Scope,
  payment: string,
  one: OpenPayment,
  to: string,
  gets: bigint,
): boolean {
  const lamports = to === one.payer ? chain.lamportsAt(payment) : one.amount
  return chain.lamportsAt(to) + gets > 0n || lamports >= chain.rentOf(0)
}

export const claim: Rule = (scope, call) => {
  const { books, known } = scope
  const accounts = leadingAccounts(call, {
    owner: SIGNS_AND_WRITES,
    state: isAt(known.state),
    payment: WRITES,
    payer: WRITES,
    tokenProgram: isAt(known.tokenProgram),
    ...logAt(known),
  })
  if (!accounts || call.fields.length !== NUMBER_HEX) return undefined
  const { owner, payment, payer, rest } = accounts
  const one = books.open.get(payment)
  if (one?.payer !== payer || one.sequence !== littleEndian(call.fields)) return undefined
  if (owner !== (one.state === 'released' ? one.recipient : one.payer)) return undefined
  if (one.state === 'held' && books.now < one.reclaimableAt) return undefined
  if (rest.length !== (one.mint === undefined ? 0 : 3)) return undefined
  const [mint = '', vault = '', into = ''] = rest
  if (one.mint !== undefined) {
    if (mint !== one.mint || vault !== known.mints.get(mint)!.vault) return undefined
    if (!call.writes(vault) || !call.writes(into)) return undefined
    if (!canMove(scope, into, mint, owner) || books.frozen.has(vault)) return undefined
  }
  const out = paidOut(scope, payment, one, owner, into)
  const lamports = sums(...out.lamports)
  if (!isLeftWithRent(scope, lamports)) return undefined
  const event = one.state === 'held' ? 'CommunityReclaimed' : 'CommunityCollected'
  return {
    lamports,
    tokens: sums(...out.tokens),
    events: [`${event} ${one.sequence} ${owner} ${one.mint ?? known.system} ${one.amount}`],
    apply: () => books.open.delete(payment),
  }
}
