import { type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { TOKEN_PROGRAM } from '../../../src/chains/solana/tokens.js'
import { base58Of, type SolanaWorld } from './solana.js'
import { COMMUNITY_PAYMENT_BYTES, HOLD_SECONDS, NAME_BYTES, TOKEN_ACCOUNT_BYTES } from './solanaCommunity.js'

/**
 * Payments for names of communities in a few lines, written from their description: which instructions go through, and
 * what they move. Accounts are named by their address in base58, words by their hex.
 */

export interface Effect {
  /** Lamports by account, what comes less what goes. */
  lamports: Map<string, bigint>
  /** Tokens by token account. */
  tokens: Map<string, bigint>
  event: string | undefined
  apply(): void
}

export interface OpenPayment {
  sequence: bigint
  payer: string
  /** undefined: SOL. */
  mint: string | undefined
  amount: bigint
  recipient: string
  nameAccount: string
  heldUntil: bigint
  isRefused: boolean
}

/** Everything whose address the model can't work out itself. */
export interface Addresses {
  /** Name accounts, by community and name in hex. */
  names: ReadonlyMap<string, string>
  /** Payment accounts, by community, name in hex and payer. */
  payments: ReadonlyMap<string, string>
  mints: ReadonlyMap<string, { decimals: number; vault: string }>
  tokenAccounts: ReadonlyMap<string, { mint: string; owner: string; isAssociated: boolean }>
  /** Base58 of 32 bytes in hex. */
  textOf(hex: string): string
}

export type CommunityModel = ReturnType<typeof createCommunityModel>

const NAME = /^(?:2d|3\d|5f|6[1-9a-f]|7[0-9a])+?(?:00)*$/
const NOT_DIGITS = /^(?:..)*?3[a-f]/
const TERMS_HEX = 272
const ZERO = '0'.repeat(64)
const MAX_HOLD_SECONDS = 604_800n

export function createCommunityModel(world: SolanaWorld, known: Addresses) {
  const text = base58Of
  const [state, programData, relay, deployer] = [
    world.registrar.state,
    world.programData,
    world.keys.relay,
    world.keys.deployer,
  ].map(text)
  const [system, tokenProgram] = [SystemProgram.programId, TOKEN_PROGRAM].map(text)
  const rent = {
    name: world.rentOf(NAME_BYTES),
    payment: world.rentOf(COMMUNITY_PAYMENT_BYTES),
    vault: world.rentOf(TOKEN_ACCOUNT_BYTES),
    empty: world.rentOf(0),
  }
  const taken = new Map<string, { payer: string; sequence: bigint; heldUntil: bigint }>()
  const open = new Map<string, OpenPayment>()
  const vaults = new Set<string>()
  const addresses = new Map<string, PublicKey>()
  const balance = (account: string) => world.balanceOf(addresses.get(account)!)
  let sequence = 0n
  let holdSeconds = HOLD_SECONDS
  let now = 0n

  function readAccounts({ keys }: TransactionInstruction) {
    const has = (flag: 'isSigner' | 'isWritable', account: string) =>
      keys.some((meta) => meta[flag] && text(meta.pubkey) === account)
    return {
      accounts: keys.map(({ pubkey }) => text(pubkey)),
      signs: (account: string | undefined) => account !== undefined && has('isSigner', account),
      // the runtime takes the flag from programs
      writes: (...wanted: (string | undefined)[]) =>
        wanted.every(
          (one) => one !== undefined && one !== system && one !== text(world.programId) && has('isWritable', one),
        ),
    }
  }
  type Accounts = ReturnType<typeof readAccounts>

  function pay({ accounts, signs, writes }: Accounts, fields: string, isToken: boolean): Effect | undefined {
    const [payer = '', stateAccount, name = '', payment = '', systemProgram] = accounts
    const [mint = '', source = '', vault = '', program] = accounts.slice(5)
    if (fields.length !== TERMS_HEX + (isToken ? 2 : 0) || accounts.length !== (isToken ? 9 : 5)) return undefined
    const [community, word, recipient] = [0, 64, 128].map((at) => fields.slice(at, at + 64)) as [string, string, string]
    const amount = littleEndian(fields.slice(192, 208))
    if (!signs(payer) || !writes(payer, state, name, payment) || stateAccount !== state || systemProgram !== system)
      return undefined
    if (![community, word].every((one) => NAME.test(one) && !NOT_DIGITS.test(one))) return undefined
    if (recipient === ZERO || amount === 0n) return undefined
    if (name !== known.names.get(community + word) || payment !== known.payments.get(community + word + payer))
      return undefined
    if (taken.has(name) || open.has(payment)) return undefined
    const one = isToken ? known.mints.get(mint) : undefined
    const from = known.tokenAccounts.get(source)
    if (isToken) {
      if (!one || one.decimals !== Number.parseInt(fields.slice(TERMS_HEX), 16) || one.vault !== vault) return undefined
      if (from?.mint !== mint || from.owner !== payer || !writes(source, vault) || program !== tokenProgram)
        return undefined
      if (tokensAt(source) < amount) return undefined
    }
    const topUp = (account: string, least: bigint) => (balance(account) < least ? least - balance(account) : 0n)
    const costs: [string, bigint][] = [
      [name, topUp(name, rent.name)],
      [payment, topUp(payment, rent.payment) + (isToken ? 0n : amount)],
      ...(isToken && !vaults.has(vault) ? ([[vault, topUp(vault, rent.vault)]] as [string, bigint][]) : []),
    ]
    const total = costs.reduce((sum, [, lamports]) => sum + lamports, 0n)
    const left = balance(payer) - total
    // a rule of the runtime: an account is left with its rent or with nothing
    if (left < 0n || (left > 0n && left < rent.empty)) return undefined
    const number = sequence + 1n
    const heldUntil = now + holdSeconds
    return {
      lamports: sums([payer, -total], ...costs),
      tokens: isToken ? sums([source, -amount], [vault, amount]) : new Map(),
      event: `CommunityPaid ${number} ${payer} ${isToken ? mint : system} ${amount} ${community} ${word}`,
      apply() {
        sequence = number
        if (isToken) vaults.add(vault)
        taken.set(name, { payer, sequence: number, heldUntil })
        const money = { mint: isToken ? mint : undefined, amount, recipient: known.textOf(recipient) }
        open.set(payment, { sequence: number, payer, ...money, nameAccount: name, heldUntil, isRefused: false })
      },
    }
  }

  function refuse({ accounts, signs, writes }: Accounts, fields: string): Effect | undefined {
    const [authority, stateAccount, name = '', payment = '', payer = ''] = accounts
    if (fields.length !== 16 || accounts.length !== 5) return undefined
    if (!signs(authority) || authority !== relay || stateAccount !== state) return undefined
    if (!writes(state, name, payment, payer)) return undefined
    const one = open.get(payment)
    if (!one || one.isRefused || one.sequence !== littleEndian(fields) || one.payer !== payer) return undefined
    if (now >= one.heldUntil || taken.get(name)?.sequence !== one.sequence) return undefined
    const back = balance(name)
    return {
      ...{ lamports: sums([name, -back], [payer, back]), tokens: new Map() },
      event: `CommunityRefused ${one.sequence} ${payer} ${one.mint ?? system} ${one.amount} ${wordsOf(name)}`,
      apply() {
        taken.delete(name)
        open.set(payment, { ...one, isRefused: true })
      },
    }
  }

  function release({ accounts, signs, writes }: Accounts, fields: string, isToken: boolean): Effect | undefined {
    const [payment = '', payer = '', to = '', mint = '', vault = '', into = '', program] = accounts
    if (fields !== '' || accounts.length !== (isToken ? 7 : 3)) return undefined
    const one = open.get(payment)
    if (!one || !writes(payment, payer) || one.payer !== payer || one.mint !== (isToken ? mint : undefined))
      return undefined
    if (to !== (one.isRefused ? one.payer : one.recipient) || (!one.isRefused && now < one.heldUntil)) return undefined
    const rest = balance(payment)
    if (isToken) {
      const account = known.tokenAccounts.get(into)
      if (known.mints.get(mint)?.vault !== vault || !writes(vault, into) || program !== tokenProgram) return undefined
      if (account?.mint !== mint || account.owner !== to || !(account.isAssociated || signs(to))) return undefined
    } else if (!writes(to) || balance(to) + one.amount + (to === payer ? rest - one.amount : 0n) < rent.empty)
      return undefined
    const { amount } = one
    const inSol = isToken ? 0n : amount
    const event = one.isRefused ? 'CommunityReturned' : 'CommunityReleased'
    return {
      lamports: sums([payment, -rest], [payer, rest - inSol], [to, inSol]),
      tokens: isToken ? sums([vault, -amount], [into, amount]) : new Map(),
      event: `${event} ${one.sequence} ${to} ${one.mint ?? system} ${amount} ${wordsOf(one.nameAccount)}`,
      apply: () => open.delete(payment),
    }
  }

  function reopen({ accounts, signs, writes }: Accounts, fields: string): Effect | undefined {
    const [authority, data, name = '', payer = ''] = accounts
    if (fields !== '' || accounts.length !== 4 || !signs(authority) || authority !== deployer) return undefined
    const one = taken.get(name)
    if (data !== programData || !one || one.payer !== payer || !writes(name, payer) || now < one.heldUntil)
      return undefined
    const back = balance(name)
    return {
      ...{ lamports: sums([name, -back], [payer, back]), tokens: new Map() },
      event: `CommunityReopened ${one.sequence} ${wordsOf(name)}`,
      apply: () => taken.delete(name),
    }
  }

  function setHold({ accounts, signs, writes }: Accounts, fields: string): Effect | undefined {
    const [authority, stateAccount, data] = accounts
    if (fields.length !== 16 || accounts.length !== 3 || !signs(authority) || authority !== deployer) return undefined
    const seconds = littleEndian(fields)
    if (stateAccount !== state || !writes(state) || data !== programData || seconds > MAX_HOLD_SECONDS) return undefined
    const apply = () => {
      holdSeconds = seconds
    }
    return { lamports: new Map(), tokens: new Map(), event: undefined, apply }
  }

  const wordsOf = (name: string) => {
    const words = [...known.names].find(([, account]) => account === name)![0]
    return `${words.slice(0, 64)} ${words.slice(64)}`
  }
  const tokensAt = (account: string) => {
    const data = world.accountOf(addresses.get(account)!)?.data
    return data?.length === TOKEN_ACCOUNT_BYTES ? data.readBigUInt64LE(64) : 0n
  }

  return {
    open,
    taken,
    tokensAt: (address: PublicKey) => {
      addresses.set(text(address), address)
      return tokensAt(text(address))
    },
    numbers: () => ({ communitySequence: sequence, holdSeconds }),
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
          return refuse(accounts, fields)
        case '372c7d5c1673a6a1':
          return release(accounts, fields, false)
        case 'd29baab9efb44cb9':
          return release(accounts, fields, true)
        case '681fb9ab7ffeab57':
          return reopen(accounts, fields)
        case 'd43623ca9a8ee3f6':
          return setHold(accounts, fields)
        default:
          return undefined
      }
    },
  }
}

function sums(...moves: [string, bigint][]): Map<string, bigint> {
  const result = new Map<string, bigint>()
  for (const [account, amount] of moves) result.set(account, (result.get(account) ?? 0n) + amount)
  return result
}

const littleEndian = (hex: string): bigint => Buffer.from(hex, 'hex').readBigUInt64LE()
