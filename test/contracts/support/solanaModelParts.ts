import type { TransactionInstruction } from '@solana/web3.js'
import { base58Of } from './solana.js'

/** Addresses that the model does not derive; all in base58. */
export interface Addresses {
  state: string
  treasury: string
  program: string
  programData: string
  eventAuthority: string
  upgradeAuthority: string
  system: string
  tokenProgram: string
  /** Accounts of payments for names on the hub, by payer and quote id in hex. */
  payments: ReadonlyMap<string, string>
  /** Accounts of payments for names of communities, by payer and number. */
  communityPayments: ReadonlyMap<string, string>
  mints: ReadonlyMap<string, { decimals: number; vault: string }>
  tokenAccounts: Map<string, { mint: string; owner: string }>
  /** Address of an owner's associated token account, which need not exist. */
  associated(owner: string, mint: string): string
}

/** What the chain holds before an instruction. */
export interface Chain {
  lamportsAt(account: string): bigint
  tokensAt(account: string): bigint
  rentOf(bytes: number): bigint
}

/** A payment for a name on the hub that nobody has decided. */
export interface Held {
  payer: string
  quote: string
  lamports: bigint
  sequence: bigint
  reclaimableAt: bigint
}

/** A payment for a name of a community whose money is still here. */
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

/** The registrar's state, as the model keeps it. */
export interface Books {
  isInitialized: boolean
  /** Unix time in seconds. */
  now: bigint
  reclaimSeconds: bigint
  authorities: { relay: string; treasurer: string; admin: string; proposed: string }
  sequence: bigint
  keptLamports: bigint
  held: Map<string, Held>
  communitySequence: bigint
  open: Map<string, OpenPayment>
  /** Token accounts of the program that exist. */
  vaults: Set<string>
  /** Token accounts that their issuer has frozen. */
  frozen: Set<string>
}

/** What an instruction does that goes through. */
export interface Effect {
  /** Lamports by account, what comes less what goes. */
  lamports: Map<string, bigint>
  /** Tokens by token account. */
  tokens: Map<string, bigint>
  events: string[]
  apply(): void
}

/** Everything that an instruction is decided by. */
export interface Scope {
  books: Books
  known: Addresses
  chain: Chain
}

/** The effect of an instruction; undefined: it is refused. */
export type Rule = (scope: Scope, call: Call) => Effect | undefined

export type Move = [account: string, amount: bigint]

/** An instruction as the runtime passes it. */
export interface Call {
  accounts: readonly string[]
  /** Data after the discriminator, in hex. */
  fields: string
  signs(account: string): boolean
  writes(account: string): boolean
}

/**
 * Reads an instruction. An address that is passed twice has the flags of both, as in a transaction with one
 * instruction.
 * @param programs from which the runtime takes the writable flag
 */
export function readCall(
  { keys, data }: TransactionInstruction,
  programs: readonly string[],
): Call {
  const has = (flag: 'isSigner' | 'isWritable', account: string) =>
    keys.some((meta) => meta[flag] && base58Of(meta.pubkey) === account)
  return {
    accounts: keys.map(({ pubkey }) => base58Of(pubkey)),
    fields: data.toString('hex', 8),
    signs: (account) => has('isSigner', account),
    writes: (account) => !programs.includes(account) && has('isWritable', account),
  }
}

/** What an instruction asks of an account at a place. */
export interface Role {
  is?: string
  signs?: boolean
  writes?: boolean
}

export const ANY: Role = {}
export const WRITES: Role = { writes: true }
export const SIGNS: Role = { signs: true }
export const SIGNS_AND_WRITES: Role = { signs: true, writes: true }
export const isAt = (is: string): Role => ({ is })
export const writesAt = (is: string): Role => ({ is, writes: true })
/** The accounts by which the program writes an event. */
export const logAt = ({ eventAuthority, program }: Addresses) => ({
  eventAuthority: isAt(eventAuthority),
  program: isAt(program),
})

/** The first accounts by name, in the order of `roles`; undefined: one is missing, or is not as its role asks. */
export function leadingAccounts<N extends string>(
  { accounts, signs, writes }: Call,
  roles: Record<N, Role>,
): (Record<N, string> & { rest: string[] }) | undefined {
  const all = Object.entries<Role>(roles)
  const fits = all.every(([, role], place) => {
    const account = accounts[place]
    if (account === undefined || (role.is !== undefined && account !== role.is)) return false
    return (!role.signs || signs(account)) && (!role.writes || writes(account))
  })
  if (!fits) return undefined
  const named = Object.fromEntries(all.map(([name], place) => [name, accounts[place]!]))
  return { ...(named as Record<N, string>), rest: accounts.slice(all.length) }
}

/** All accounts by name; undefined also where there are more. */
export function exactAccounts<N extends string>(call: Call, roles: Record<N, Role>) {
  const accounts = leadingAccounts(call, roles)
  return accounts?.rest.length === 0 ? accounts : undefined
}

/** The sequences of a batch's data in hex, at least one; undefined where the length is another. */
export function sequencesOf(fields: string): bigint[] | undefined {
  if (fields.length < 8) return undefined
  const count = Buffer.from(fields.slice(0, 8), 'hex').readUInt32LE()
  if (count === 0 || fields.length !== 8 + 16 * count) return undefined
  return Array.from({ length: count }, (_, i) =>
    littleEndian(fields.slice(8 + 16 * i, 24 + 16 * i)),
  )
}

export function sums(...moves: Move[]): Map<string, bigint> {
  const result = new Map<string, bigint>()
  for (const [account, amount] of moves) result.set(account, (result.get(account) ?? 0n) + amount)
  return result
}

export const heldLamports = ({ held }: Books): bigint =>
  [...held.values()].reduce((sum, { lamports }) => sum + lamports, 0n)

/** Lamports that an account is short of its rent. */
export function missingRent({ chain }: Scope, account: string, bytes: number): bigint {
  const missing = chain.rentOf(bytes) - chain.lamportsAt(account)
  return missing > 0n ? missing : 0n
}

/** A rule of the runtime: after a transaction an account holds its rent or nothing. */
export function isLeftWithRent({ chain }: Scope, moves: ReadonlyMap<string, bigint>): boolean {
  return [...moves].every(([account, moved]) => {
    const after = chain.lamportsAt(account) + moved
    return after === 0n || after >= chain.rentOf(0)
  })
}

export const littleEndian = (hex: string): bigint => Buffer.from(hex, 'hex').readBigUInt64LE()
