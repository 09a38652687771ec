import { type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { TOKEN_PROGRAM } from '../../../src/chains/solana/tokens.js'
import { isNameWord } from '../../support/names.js'
import { base58Of, NOW, RECLAIM_SECONDS, type SolanaWorld } from './solana.js'
import { COMMUNITY_PAYMENT_BYTES, TOKEN_ACCOUNT_BYTES } from './solanaCommunity.js'
import {
  type Accounts,
  accountsReader,
  littleEndian,
  sequencesOf,
  sums,
} from './solanaModelParts.js'

/**
 * Payments for names of communities in a few lines, written from their description: which instructions go through, and
 * what they move. Accounts are named by their address in base58, words by their hex.
 */

export interface Effect {
  /** Lamports by account, what comes less what goes. */
  lamports: Map<string, bigint>
  /** Tokens by token account. */
  tokens: Map<string, bigint>
  events: string[]
  apply(): void
}

export interface OpenPayment {
  sequence: bigint
  payer: string
  number: bigint
  /** undefined: SOL. */
  mint: string | undefined
  amount: bigint
  recipient: string
  reclaimableAt: bigint
  state: 'held' | 'refused' | 'released'
}

/** Everything whose address the model can't work out itself. */
export interface Addresses {
  /** Payment accounts, by payer and number. */
  payments: ReadonlyMap<string, string>
  mints: ReadonlyMap<string, { decimals: number; vault: string }>
  tokenAccounts: ReadonlyMap<string, { mint: string; owner: string }>
  /** Address of an owner's associated token account, whether it is there or not. */
  associated(owner: string, mint: string): string
  /** Base58 of 32 bytes in hex. */
  textOf(hex: string): string
}

export type CommunityModel = ReturnType<typeof createCommunityModel>

const TERMS_HEX = 288
const ZERO = '0'.repeat(64)

export function createCommunityModel(world: SolanaWorld, known: Addresses) {
  const text = base58Of
  const [state, relay] = [world.registrar.state, world.keys.relay].map(text)
  const [eventAuthority, program] = world.registrar.log.map(({ pubkey }) => text(pubkey))
  const [system, tokenProgram] = [SystemProgram.programId, TOKEN_PROGRAM].map(text)
  const rent = {
    payment: world.rentOf(COMMUNITY_PAYMENT_BYTES),
    vault: world.rentOf(TOKEN_ACCOUNT_BYTES),
    empty: world.rentOf(0),
  }
  const open = new Map<string, OpenPayment>()
  const vaults = new Set<string>()
  const frozen = new Set<string>()
  const addresses = new Map<string, PublicKey>()
  const balance = (account: string) => world.balanceOf(addresses.get(account)!)
  const readAccounts = accountsReader([system!, tokenProgram!, program!])
  const isLog = (one: string | undefined, other: string | undefined) =>
    one === eventAuthority && other === program
  let sequence = 0n
  let now = NOW

  function pay(
    { accounts, signs, writes }: Accounts,
    fields: string,
    isToken: boolean,
  ): Effect | undefined {
    const [payer = '', stateAccount, payment = '', systemProgram] = accounts
    const [mint = '', source = '', vault = '', tokens] = isToken ? accounts.slice(4) : []
    if (fields.length !== TERMS_HEX + (isToken ? 2 : 0) || accounts.length !== (isToken ? 10 : 6))
      return undefined
    const own = littleEndian(fields.slice(0, 16))
    const words = [16, 80, 144].map((at) => fields.slice(at, at + 64))
    const [community, word, recipient] = words as [string, string, string]
    const amount = littleEndian(fields.slice(208, 224))
    if (
      !signs(payer) ||
      !writes(payer, state, payment) ||
      stateAccount !== state ||
      systemProgram !== system
    )
      return undefined
    if (!isLog(accounts.at(-2), accounts.at(-1))) return undefined
    if (![community, word].every((one) => isNameWord(Buffer.from(one, 'hex')))) return undefined
    if (recipient === ZERO || amount === 0n) return undefined
    if (payment !== known.payments.get(`${payer} ${own}`) || open.has(payment)) return undefined
    const one = isToken ? known.mints.get(mint) : undefined
    const from = known.tokenAccounts.get(source)
    if (isToken) {
      if (
        !one ||
        one.decimals !== Number.parseInt(fields.slice(TERMS_HEX), 16) ||
        one.vault !== vault
      )
        return undefined
      if (
        from?.mint !== mint ||
        from.owner !== payer ||
        !writes(source, vault) ||
        tokens !== tokenProgram
      )
        return undefined
      if (tokensAt(source) < amount || frozen.has(source) || frozen.has(vault)) return undefined
    }
    const topUp = (account: string, least: bigint) =>
      balance(account) < least ? least - balance(account) : 0n
    const costs: [string, bigint][] = [
      [payment, topUp(payment, rent.payment) + (isToken ? 0n : amount)],
      ...(isToken && !vaults.has(vault)
        ? ([[vault, topUp(vault, rent.vault)]] as [string, bigint][])
        : []),
    ]
    const total = costs.reduce((sum, [, lamports]) => sum + lamports, 0n)
    const left = balance(payer) - total
    // a rule of the runtime: an account is left with its rent or with nothing
    if (left < 0n || (left > 0n && left < rent.empty)) return undefined
    const number = sequence + 1n
    const reclaimableAt = now + RECLAIM_SECONDS
    return {
      lamports: sums([payer, -total], ...costs),
      tokens: isToken ? sums([source, -amount], [vault, amount]) : new Map(),
      events: [
        `CommunityPaid ${number} ${payer} ${isToken ? mint : system} ${amount} ${own} ${community} ${word} ${reclaimableAt}`,
      ],
      apply() {
        sequence = number
        if (isToken) vaults.add(vault)
        const money = {
          mint: isToken ? mint : undefined,
          amount,
          recipient: known.textOf(recipient),
        }
        open.set(payment, {
          sequence: number,
          payer,
          number: own,
          ...money,
          reclaimableAt,
          state: 'held',
        })
      },
    }
  }

  /** A payment that leaves: what moves. `to` gets the amount, the payer what else its account holds. */
  function paidOut(one: OpenPayment, payment: string, to: string, into: string) {
    const inSol = one.mint === undefined ? one.amount : 0n
    const rest = balance(payment)
    return {
      lamports: [
        [payment, -rest],
        [one.payer, rest - inSol],
        [to, inSol],
      ] as [string, bigint][],
      tokens:
        one.mint === undefined
          ? []
          : ([
              [known.mints.get(one.mint)!.vault, -one.amount],
              [into, one.amount],
            ] as [string, bigint][]),
    }
  }

  /** Whether an account of a token can be paid into. */
  const isOpen = (account: string, mint: string, owner: string) => {
    const found = known.tokenAccounts.get(account)
    return found?.mint === mint && found.owner === owner && !frozen.has(account)
  }

  function decide(
    given: Accounts,
    fields: string,
    outcome: 'refused' | 'released',
  ): Effect | undefined {
    const { accounts, signs, writes } = given
    const [authority, stateAccount, tokens, first, second, ...rest] = accounts
    const sequences = sequencesOf(fields)
    if (!sequences || !signs(authority) || authority !== relay || stateAccount !== state)
      return undefined
    if (tokens !== tokenProgram || !isLog(first, second)) return undefined
    const effect: Effect = {
      lamports: new Map(),
      tokens: new Map(),
      events: [],
      apply: () => undefined,
    }
    const moves: { lamports: [string, bigint][]; tokens: [string, bigint][] } = {
      lamports: [],
      tokens: [],
    }
    const ends = new Map<string, OpenPayment | null>()
    const gets = new Map<string, bigint>()
    for (const number of sequences) {
      const [payment = '', payer = '', to = ''] = rest.splice(0, 3)
      const one = open.get(payment)
      if (
        one?.state !== 'held' ||
        ends.has(payment) ||
        one.sequence !== number ||
        one.payer !== payer
      )
        return undefined
      if (to !== (outcome === 'refused' ? one.payer : one.recipient) || !writes(payment, payer, to))
        return undefined
      let isPaid: boolean
      let into = ''
      if (one.mint === undefined) {
        const lamports = to === one.payer ? balance(payment) : one.amount
        isPaid = balance(to) + (gets.get(to) ?? 0n) > 0n || lamports >= rent.empty
      } else {
        const [mint = '', vault = '', account = ''] = rest.splice(0, 3)
        into = account
        if (mint !== one.mint || vault !== known.mints.get(mint)!.vault || !writes(vault, into))
          return undefined
        if (known.associated(to, mint) !== into) return undefined
        isPaid = isOpen(into, mint, to) && !frozen.has(vault)
      }
      if (isPaid) {
        const out = paidOut(one, payment, to, into)
        moves.lamports.push(...out.lamports)
        moves.tokens.push(...out.tokens)
        for (const [account, lamports] of out.lamports)
          gets.set(account, (gets.get(account) ?? 0n) + lamports)
      }
      ends.set(payment, isPaid ? null : { ...one, state: outcome })
      const name = outcome === 'refused' ? 'CommunityRefused' : 'CommunityReleased'
      effect.events.push(
        `${name} ${number} ${to} ${one.mint ?? system} ${one.amount} ${isPaid ? one.amount : 0n}`,
      )
    }
    if (rest.length > 0) return undefined
    // a rule of the runtime, as above: who was below its rent by then makes the whole fail
    for (const [account, lamports] of sums(...moves.lamports)) {
      const after = balance(account) + lamports
      if (after > 0n && after < rent.empty) return undefined
    }
    return {
      ...effect,
      lamports: sums(...moves.lamports),
      tokens: sums(...moves.tokens),
      apply() {
        for (const [payment, left] of ends) {
          if (left) open.set(payment, left)
          else open.delete(payment)
        }
      },
    }
  }

  function claim({ accounts, signs, writes }: Accounts, fields: string): Effect | undefined {
    const [owner = '', stateAccount, payment = '', payer, tokens, first, second, ...rest] = accounts
    if (fields.length !== 16 || !signs(owner) || !writes(owner, payment, payer)) return undefined
    if (stateAccount !== state || tokens !== tokenProgram || !isLog(first, second)) return undefined
    const one = open.get(payment)
    if (!one || one.sequence !== littleEndian(fields) || one.payer !== payer) return undefined
    if (owner !== (one.state === 'released' ? one.recipient : one.payer)) return undefined
    if (one.state === 'held' && now < one.reclaimableAt) return undefined
    const [mint = '', vault, into = ''] = rest
    if (rest.length !== (one.mint === undefined ? 0 : 3)) return undefined
    if (one.mint !== undefined) {
      const account = known.tokenAccounts.get(into)
      if (mint !== one.mint || vault !== known.mints.get(mint)!.vault || !writes(vault, into))
        return undefined
      if (
        account?.mint !== mint ||
        account.owner !== owner ||
        frozen.has(into) ||
        frozen.has(vault!)
      )
        return undefined
    }
    const out = paidOut(one, payment, owner, into)
    for (const [account, lamports] of sums(...out.lamports)) {
      const after = balance(account) + lamports
      if (after > 0n && after < rent.empty) return undefined
    }
    const event = one.state === 'held' ? 'CommunityReclaimed' : 'CommunityCollected'
    return {
      lamports: sums(...out.lamports),
      tokens: sums(...out.tokens),
      events: [`${event} ${one.sequence} ${owner} ${one.mint ?? system} ${one.amount}`],
      apply: () => open.delete(payment),
    }
  }

  const tokensAt = (account: string) => {
    const data = world.accountOf(addresses.get(account)!)?.data
    return data?.length === TOKEN_ACCOUNT_BYTES ? data.readBigUInt64LE(64) : 0n
  }

  return {
    open,
    frozen,
    tokensAt: (address: PublicKey) => {
      addresses.set(text(address), address)
      return tokensAt(text(address))
    },
    communitySequence: () => sequence,
    now: () => now,
    setNow(seconds: bigint) {
      now = seconds
    },

    /** Effect of an instruction; undefined where it is refused. */
    predict(call: TransactionInstruction): Effect | undefined {
      for (const { pubkey } of call.keys) addresses.set(text(pubkey), pubkey)
      const fields = call.data.toString('hex', 8)
      const accounts = readAccounts(call)
      switch (call.data.toString('hex', 0, 8)) {
        case '7f57c7b9240c97fb':
          return pay(accounts, fields, false)
        case 'ce3e6a3e220b439e':
          return pay(accounts, fields, true)
        case 'f5fbc21603665d14':
          return decide(accounts, fields, 'refused')
        case '372c7d5c1673a6a1':
          return decide(accounts, fields, 'released')
        case 'ad95b5e053307a44':
          return claim(accounts, fields)
        default:
          return undefined
      }
    },
  }
}
