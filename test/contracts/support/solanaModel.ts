import { type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { base58Of, NOW, RECLAIM_SECONDS, type SolanaWorld } from './solana.js'
import { PAYMENT_BYTES } from './solanaCalls.js'
import {
  type Accounts,
  accountsReader,
  littleEndian,
  sequencesOf,
  sums,
} from './solanaModelParts.js'

/**
 * The registrar in a few lines, written from its description and sharing no code with it: which instructions go
 * through, and which lamports they move. Everything is looked up by the account's address in base58.
 */

export interface Effect {
  /** Lamports by account, what comes less what goes. */
  moves: Map<string, bigint>
  events: string[]
  apply(): void
}

interface Held {
  payer: string
  quote: string
  lamports: bigint
  sequence: bigint
  reclaimableAt: bigint
}

export type SolanaModel = ReturnType<typeof createSolanaModel>

const WORD_HEX = 64
const U64_MAX = (1n << 64n) - 1n
const ZERO = SystemProgram.programId.toBase58()

/** @param payments accounts of payments that may be made, by payer in base58 and quote id in hex */
export function createSolanaModel(world: SolanaWorld, payments: ReadonlyMap<string, PublicKey>) {
  const text = base58Of
  const [state, treasury] = [world.registrar.state, world.registrar.treasury].map(text)
  const [eventAuthority, program] = world.registrar.log.map(({ pubkey }) => text(pubkey))
  const system = text(SystemProgram.programId)
  const held = new Map<string, Held>()
  const rent = { payment: world.rentOf(PAYMENT_BYTES), empty: world.rentOf(0) }
  const { relay, treasurer, admin } = world.keys
  let authorities = {
    relay: text(relay),
    treasurer: text(treasurer),
    admin: text(admin),
    proposed: ZERO,
  }
  let sequence = 0n
  let kept = 0n
  let now = NOW
  const heldLamports = () => [...held.values()].reduce((sum, { lamports }) => sum + lamports, 0n)
  const isOurs = (account: string) => account === state || account === treasury || held.has(account)
  const isLog = (one: string | undefined, other: string | undefined) =>
    one === eventAuthority && other === program
  const readAccounts = accountsReader([system, program!])

  function register({ accounts, signs, writes }: Accounts, fields: string): Effect | undefined {
    const [payer, stateAccount, treasuryAccount, payment, systemProgram, ...log] = accounts
    if (fields.length !== 2 * WORD_HEX + 32 + 32 + WORD_HEX || accounts.length !== 7)
      return undefined
    const quote = fields.slice(0, WORD_HEX)
    const lamports = littleEndian(fields.slice(160, 176))
    const expiresAt = BigInt.asIntN(64, littleEndian(fields.slice(176, 192)))
    if (!signs(payer) || !writes(payer, stateAccount, treasuryAccount, payment)) return undefined
    if (stateAccount !== state || treasuryAccount !== treasury || systemProgram !== system)
      return undefined
    const account = payments.get(payer! + quote)
    if (!isLog(log[0], log[1]) || !account || payment !== text(account)) return undefined
    if (held.has(payment) || lamports === 0n || expiresAt < now) return undefined
    const gift = world.balanceOf(account)
    const missing = gift < rent.payment ? rent.payment - gift : 0n
    const left = balance(payer!) - lamports - missing
    if (heldLamports() + lamports > U64_MAX || left < 0n) return undefined
    // a rule of the runtime: an account is left with its rent or with nothing
    if (left > 0n && left < rent.empty) return undefined
    const number = sequence + 1n
    const reclaimableAt = now + RECLAIM_SECONDS
    return {
      moves: sums([payer!, -lamports - missing], [treasury!, lamports], [payment, missing]),
      events: [
        `RegistrationPaid ${number} ${payer} ${quote} ${fields.slice(WORD_HEX, 128)} ${lamports} ${reclaimableAt}`,
      ],
      apply() {
        sequence = number
        held.set(payment, { payer: payer!, quote, lamports, sequence: number, reclaimableAt })
      },
    }
  }

  /** Payments of a batch by their accounts; undefined where one is not held, or its accounts are wrong. */
  function batch(
    { writes }: Accounts,
    rest: readonly string[],
    fields: string,
  ): [string, Held][] | undefined {
    const sequences = sequencesOf(fields)
    if (!sequences || rest.length !== 2 * sequences.length) return undefined
    const found = sequences.map((number, i): [string, Held] | undefined => {
      const payment = rest[2 * i]!
      const payer = rest[2 * i + 1]!
      const one = held.get(payment)
      const isRight = one?.sequence === number && one.payer === payer && writes(payment, payer)
      return isRight ? [payment, one] : undefined
    })
    if (found.some((one) => one === undefined)) return undefined
    const all = found.filter((one) => one !== undefined)
    return new Set(all.map(([payment]) => payment)).size === all.length ? all : undefined
  }

  function settle(given: Accounts, fields: string): Effect | undefined {
    const [authority, stateAccount, first, second, ...rest] = given.accounts
    if (!given.signs(authority) || authority !== authorities.relay || stateAccount !== state)
      return undefined
    if (!given.writes(state) || !isLog(first, second)) return undefined
    const all = batch(given, rest, fields)
    return (
      all && {
        moves: sums(
          ...all.flatMap(([payment, { payer }]): [string, bigint][] => [
            [payer, balance(payment)],
            [payment, -balance(payment)],
          ]),
        ),
        events: all.map(([, one]) => `PaymentSettled ${one.sequence} ${one.payer} ${one.quote}`),
        apply() {
          for (const [payment, { lamports }] of all) {
            kept += lamports
            held.delete(payment)
          }
        },
      }
    )
  }

  function payBack(event: string, all: readonly [string, Held][]): Effect {
    return {
      moves: sums(
        ...all.flatMap(([payment, { payer, lamports }]): [string, bigint][] => [
          [treasury!, -lamports],
          [payment, -balance(payment)],
          [payer, lamports + balance(payment)],
        ]),
      ),
      events: all.map(
        ([, one]) => `${event} ${one.sequence} ${one.payer} ${one.quote} ${one.lamports}`,
      ),
      apply() {
        for (const [payment] of all) held.delete(payment)
      },
    }
  }

  function refund(given: Accounts, fields: string): Effect | undefined {
    const [authority, stateAccount, treasuryAccount, first, second, ...rest] = given.accounts
    if (!given.signs(authority) || authority !== authorities.relay) return undefined
    if (stateAccount !== state || treasuryAccount !== treasury || !given.writes(state, treasury))
      return undefined
    const all = isLog(first, second) ? batch(given, rest, fields) : undefined
    return all && payBack('PaymentRefunded', all)
  }

  function reclaim({ accounts, signs, writes }: Accounts, fields: string): Effect | undefined {
    const [payer, stateAccount, treasuryAccount, payment, first, second] = accounts
    if (fields.length !== 16 || accounts.length !== 6 || !isLog(first, second)) return undefined
    if (stateAccount !== state || treasuryAccount !== treasury || !signs(payer)) return undefined
    if (!writes(payer, state, treasury, payment)) return undefined
    const one = held.get(payment!)
    if (!one || one.payer !== payer || one.sequence !== littleEndian(fields)) return undefined
    return now < one.reclaimableAt ? undefined : payBack('PaymentReclaimed', [[payment!, one]])
  }

  function withdraw({ accounts, signs, writes }: Accounts, fields: string): Effect | undefined {
    const [authority, stateAccount, treasuryAccount, destination] = accounts
    if (fields.length !== 16 || accounts.length !== 4) return undefined
    const lamports = littleEndian(fields)
    if (!signs(authority) || authority !== authorities.treasurer) return undefined
    if (
      !writes(state, treasury, destination) ||
      stateAccount !== state ||
      treasuryAccount !== treasury
    )
      return undefined
    if (isOurs(destination!) || lamports === 0n || lamports > kept) return undefined
    // no account begins with less than its rent, as above
    if (balance(destination!) + lamports < rent.empty) return undefined
    const apply = () => {
      kept -= lamports
    }
    return { moves: sums([treasury!, -lamports], [destination!, lamports]), events: [], apply }
  }

  /** Instructions of the administration: signer, state. @param named addresses in the data */
  function administer(
    { accounts, signs, writes }: Accounts,
    by: string,
    named: string[] | undefined,
    change: (named: string[]) => Partial<typeof authorities>,
  ): Effect | undefined {
    const [authority, stateAccount] = accounts
    if (!named || accounts.length !== 2 || !signs(authority) || authority !== by) return undefined
    if (stateAccount !== state || !writes(state)) return undefined
    const apply = () => {
      authorities = { ...authorities, ...change(named) }
    }
    return { moves: new Map(), events: [], apply }
  }

  const addresses = new Map<string, PublicKey>()
  const balance = (account: string) => world.balanceOf(addresses.get(account)!)

  return {
    held,
    authorities: () => authorities,
    money: () => ({ sequence, keptLamports: kept, heldLamports: heldLamports() }),
    now: () => now,
    setNow(seconds: bigint) {
      now = seconds
    },

    /** Effect of an instruction; undefined where it is refused. */
    predict(
      call: TransactionInstruction,
      addressAt: (bytes: Buffer) => string,
    ): Effect | undefined {
      for (const { pubkey } of call.keys) addresses.set(text(pubkey), pubkey)
      const fields = call.data.toString('hex', 8)
      const accounts = readAccounts(call)
      const named = (count: number) =>
        fields.length === count * WORD_HEX
          ? Array.from({ length: count }, (_, i) =>
              addressAt(call.data.subarray(8 + 32 * i, 40 + 32 * i)),
            )
          : undefined
      const { admin: by, proposed } = authorities
      switch (call.data.toString('hex', 0, 8)) {
        case 'd37c430fd3c2b2f0':
          return register(accounts, fields)
        case 'af2ab957908366d4':
          return settle(accounts, fields)
        case '0260b7fb3fd02e2e':
          return refund(accounts, fields)
        case '9cfe993a00f0d3b4':
          return reclaim(accounts, fields)
        case 'b712469c946da122':
          return withdraw(accounts, fields)
        case '7cfe2cf0c546be6b':
          return administer(accounts, by, named(2), ([r, t]) => ({ relay: r!, treasurer: t! }))
        case '79d6c7d4572775ea':
          return administer(accounts, by, named(1), ([one]) => ({ proposed: one! }))
        case '702a2d5a74b50daa':
          return proposed === ZERO
            ? undefined
            : administer(accounts, proposed, named(0), () => ({ admin: proposed, proposed: ZERO }))
        default:
          return undefined // `initialize` among them: it was done
      }
    },
  }
}
