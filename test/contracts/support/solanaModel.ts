import { type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { base58Of, NOW, type SolanaWorld } from './solana.js'
import { PAYMENT_BYTES } from './solanaCalls.js'

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
  lamports: bigint
  sequence: bigint
}

export type SolanaModel = ReturnType<typeof createSolanaModel>

const WORD_HEX = 64
const U64_MAX = (1n << 64n) - 1n

/** @param payments accounts of quotes that may be paid, by quote id in hex */
export function createSolanaModel(world: SolanaWorld, payments: ReadonlyMap<string, PublicKey>) {
  const text = base58Of
  const [state, treasury, programData] = [world.registrar.state, world.registrar.treasury, world.programData].map(text)
  const system = text(SystemProgram.programId)
  const accountOf = new Map([...payments].map(([quote, account]) => [quote, text(account)]))
  const held = new Map<string, Held>()
  const rent = { payment: world.rentOf(PAYMENT_BYTES), empty: world.rentOf(0) }
  let authorities = { relay: text(world.keys.relay), treasurer: text(world.keys.treasurer) }
  let sequence = 0n
  let kept = 0n
  const heldLamports = () => [...held.values()].reduce((sum, { lamports }) => sum + lamports, 0n)
  const isOurs = (account: string) => account === state || account === treasury || held.has(account)

  /**
   * The accounts of an instruction: an address that is passed twice has the flags of both (one transaction, one
   * instruction).
   */
  function readAccounts({ keys }: TransactionInstruction) {
    const has = (flag: 'isSigner' | 'isWritable', account: string) =>
      keys.some((meta) => meta[flag] && text(meta.pubkey) === account)
    const accounts = keys.map(({ pubkey }) => text(pubkey))
    return {
      accounts,
      signs: (account: string | undefined) => account !== undefined && has('isSigner', account),
      // the runtime takes the flag from programs
      writes: (...wanted: (string | undefined)[]) =>
        wanted.every(
          (one) => one !== undefined && one !== system && one !== text(world.programId) && has('isWritable', one),
        ),
    }
  }
  type Accounts = ReturnType<typeof readAccounts>

  function register({ accounts, signs, writes }: Accounts, fields: string): Effect | undefined {
    const [payer, stateAccount, treasuryAccount, payment, program] = accounts
    if (fields.length !== 2 * WORD_HEX + 32 + 32 + WORD_HEX || accounts.length !== 5) return undefined
    const quote = fields.slice(0, WORD_HEX)
    const lamports = littleEndian(fields.slice(160, 176))
    const expiresAt = BigInt.asIntN(64, littleEndian(fields.slice(176, 192)))
    if (!signs(payer) || !writes(payer, stateAccount, treasuryAccount, payment)) return undefined
    if (stateAccount !== state || treasuryAccount !== treasury || program !== system) return undefined
    if (payment !== accountOf.get(quote) || held.has(payment!) || lamports === 0n || expiresAt < NOW) return undefined
    const gift = world.balanceOf(payments.get(quote)!)
    const missing = gift < rent.payment ? rent.payment - gift : 0n
    const left = balance(payer!) - lamports - missing
    if (heldLamports() + lamports > U64_MAX || left < 0n) return undefined
    // a rule of the runtime: an account is left with its rent or with nothing
    if (left > 0n && left < rent.empty) return undefined
    const moves = sums([payer!, -lamports - missing], [treasury!, lamports], [payment!, missing])
    const number = sequence + 1n
    return {
      moves,
      events: [`RegistrationPaid ${number} ${payer} ${quote} ${fields.slice(WORD_HEX, 128)} ${lamports}`],
      apply() {
        sequence = number
        held.set(payment!, { payer: payer!, lamports, sequence: number })
      },
    }
  }

  function settle({ accounts, signs, writes }: Accounts, fields: string): Effect | undefined {
    const [relay, stateAccount, ...rest] = accounts
    if (fields !== '' || rest.length === 0 || rest.length % 2 === 1) return undefined
    if (!signs(relay) || relay !== authorities.relay || stateAccount !== state || !writes(state)) return undefined
    const pairs = Array.from({ length: rest.length / 2 }, (_, n) => ({
      payment: rest[2 * n]!,
      payer: rest[2 * n + 1]!,
    }))
    if (new Set(pairs.map(({ payment }) => payment)).size < pairs.length) return undefined
    if (pairs.some(({ payment, payer }) => !writes(payment, payer) || held.get(payment)?.payer !== payer))
      return undefined
    const moves = sums(
      ...pairs.flatMap(({ payment, payer }): [string, bigint][] => [
        [payer, balance(payment)],
        [payment, -balance(payment)],
      ]),
    )
    return {
      moves,
      events: pairs.map(({ payment }) => `PaymentSettled ${held.get(payment)!.sequence} ${quoteOf(payment)}`),
      apply() {
        for (const { payment } of pairs) {
          kept += held.get(payment)!.lamports
          held.delete(payment)
        }
      },
    }
  }

  function refund({ accounts, signs, writes }: Accounts, fields: string): Effect | undefined {
    const [relay, stateAccount, treasuryAccount, payment, payer] = accounts
    if (fields !== '' || accounts.length !== 5) return undefined
    if (!signs(relay) || relay !== authorities.relay || !writes(state, treasury, payment, payer)) return undefined
    const one = held.get(payment!)
    if (stateAccount !== state || treasuryAccount !== treasury || !one || one.payer !== payer) return undefined
    const rentBack = balance(payment!)
    return {
      moves: sums([treasury!, -one.lamports], [payment!, -rentBack], [payer, one.lamports + rentBack]),
      events: [`PaymentRefunded ${one.sequence} ${payer} ${quoteOf(payment!)} ${one.lamports}`],
      apply: () => held.delete(payment!),
    }
  }

  function withdraw({ accounts, signs, writes }: Accounts, fields: string): Effect | undefined {
    const [authority, stateAccount, treasuryAccount, destination] = accounts
    if (fields.length !== 16 || accounts.length !== 4) return undefined
    const lamports = littleEndian(fields)
    if (!signs(authority) || authority !== authorities.treasurer) return undefined
    if (!writes(state, treasury, destination) || stateAccount !== state || treasuryAccount !== treasury)
      return undefined
    if (isOurs(destination!) || lamports === 0n || lamports > kept) return undefined
    // no account begins with less than its rent, as above
    if (balance(destination!) + lamports < rent.empty) return undefined
    const apply = () => {
      kept -= lamports
    }
    return { moves: sums([treasury!, -lamports], [destination!, lamports]), events: [], apply }
  }

  function setAuthorities({ accounts, signs, writes }: Accounts, fields: string, names: string[]): Effect | undefined {
    const [authority, stateAccount, data] = accounts
    if (fields.length !== 2 * WORD_HEX || accounts.length !== 3) return undefined
    if (!signs(authority) || authority !== text(world.keys.deployer) || data !== programData) return undefined
    if (stateAccount !== state || !writes(state)) return undefined
    const [relay, treasurer] = names as [string, string]
    const apply = () => {
      authorities = { relay, treasurer }
    }
    return { moves: new Map(), events: [], apply }
  }

  const addresses = new Map<string, PublicKey>()
  const balance = (account: string) => world.balanceOf(addresses.get(account)!)
  const quoteOf = (payment: string) => [...accountOf].find(([, account]) => account === payment)![0]

  return {
    held,
    authorities: () => authorities,
    money: () => ({ sequence, keptLamports: kept, heldLamports: heldLamports() }),

    /** Effect of an instruction; undefined where it is refused. */
    predict(call: TransactionInstruction, addressAt: (bytes: Buffer) => string): Effect | undefined {
      for (const { pubkey } of call.keys) addresses.set(text(pubkey), pubkey)
      const fields = call.data.toString('hex', 8)
      const accounts = readAccounts(call)
      const names = [call.data.subarray(8, 40), call.data.subarray(40, 72)]
      switch (call.data.toString('hex', 0, 8)) {
        case 'd37c430fd3c2b2f0':
          return register(accounts, fields)
        case 'af2ab957908366d4':
          return settle(accounts, fields)
        case '0260b7fb3fd02e2e':
          return refund(accounts, fields)
        case 'b712469c946da122':
          return withdraw(accounts, fields)
        case '7cfe2cf0c546be6b':
          return setAuthorities(accounts, fields, names.map(addressAt))
        default:
          return undefined // `initialize` among them: it was done
      }
    },
  }
}

function sums(...moves: [string, bigint][]): Map<string, bigint> {
  const result = new Map<string, bigint>()
  for (const [account, lamports] of moves) result.set(account, (result.get(account) ?? 0n) + lamports)
  return result
}

const littleEndian = (hex: string): bigint => Buffer.from(hex, 'hex').readBigUInt64LE()
