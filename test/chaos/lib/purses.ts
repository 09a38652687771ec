import type pg from 'pg'
import { type Hex, parseEventLogs, zeroAddress } from 'viem'
import { communityPaymentsAbi } from '../../../src/chains/evm/contracts/index.js'
import type { ChaosChain } from './world.js'

/** Outcomes in the contract's order. The database stores each end as the same number less one. */
const OUTCOMES = ['none', 'held', 'refused', 'released', 'reclaimed'] as const
type Outcome = (typeof OUTCOMES)[number]

interface Paid {
  id: Hex
  token: Hex
  amount: bigint
  ends: Outcome[]
}

/** A payments contract's books, calculated from its events only. */
interface Books {
  payments: Map<Hex, Paid>
  /** What each account may withdraw, by account and token. */
  credits: Map<string, { account: Hex; token: Hex; amount: bigint }>
}

/**
 * Checks money to the unit: a payments contract has exactly what it holds and owes, both by its events and in its
 * storage. Each payment ended once, and the database has the same end.
 */
export async function purseBreaches(
  chains: readonly ChaosChain[],
  pool: pg.Pool,
): Promise<string[]> {
  return (await Promise.all(chains.map((chain) => breachesOn(chain, pool)))).flat()
}

async function breachesOn(chain: ChaosChain, pool: pg.Pool): Promise<string[]> {
  const books = await readBooks(chain)
  const tokens = [
    ...new Set([zeroAddress, ...[...books.payments.values()].map(({ token }) => token)]),
  ]
  return [
    ...(await Promise.all(tokens.map((token) => sumBreaches(chain, books, token)))).flat(),
    ...(await creditBreaches(chain, books)),
    ...(await outcomeBreaches(chain, books, pool)),
  ]
}

async function readBooks({ reader, payments: address }: ChaosChain): Promise<Books> {
  const raw = await reader.getLogs({ address, fromBlock: 0n, toBlock: 'latest' })
  const payments: Books['payments'] = new Map()
  const credits: Books['credits'] = new Map()
  const credit = (account: Hex, token: Hex, amount: bigint) => {
    const key = `${account} ${token}`
    credits.set(key, { account, token, amount: (credits.get(key)?.amount ?? 0n) + amount })
  }
  const end = (id: Hex, outcome: Outcome) => payments.get(id)?.ends.push(outcome)
  let paid: { token: Hex; amount: bigint } | null = null
  for (const { eventName, args } of parseEventLogs({ abi: communityPaymentsAbi, logs: raw })) {
    if (eventName === 'Bid') paid = args
    if (eventName === 'Held')
      payments.set(args.paymentId, { ...paid!, id: args.paymentId, ends: [] })
    if (eventName === 'Refused' || eventName === 'Reclaimed')
      credit(args.payer, args.token, args.amount)
    if (eventName === 'Refused') end(args.paymentId, 'refused')
    if (eventName === 'Reclaimed') end(args.paymentId, 'reclaimed')
    if (eventName === 'Released') {
      credit(args.recipient, args.token, args.amount)
      end(args.paymentId, 'released')
    }
    if (eventName === 'Withdrawn') credit(args.account, args.token, -args.amount)
  }
  return { payments, credits }
}

const sum = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((total, amount) => total + amount, 0n)

/** Compares what is held and owed in a token with the contract's books and, for the chain's coin, with its balance. */
async function sumBreaches(
  { reader, payments: address, label }: ChaosChain,
  books: Books,
  token: Hex,
) {
  const held = sum(
    [...books.payments.values()]
      .filter((one) => one.token === token && !one.ends.length)
      .map(({ amount }) => amount),
  )
  const credited = sum(
    [...books.credits.values()].filter((one) => one.token === token).map(({ amount }) => amount),
  )
  const [owed] = await reader.readContract({
    address,
    abi: communityPaymentsAbi,
    functionName: 'totalsOf',
    args: [token],
  })
  // a hostile token may report any balance
  const balance = token === zeroAddress ? await reader.getBalance({ address }) : owed
  if (owed === held + credited && balance === owed) return []
  return [
    `payments on ${label} have ${balance} of ${token}, owe ${owed}, hold ${held}, are to be fetched ${credited}`,
  ]
}

async function creditBreaches(
  { reader, payments: address, label }: ChaosChain,
  { credits }: Books,
) {
  const wrong = [...credits.values()].map(async ({ account, token, amount }) => {
    const stored = await reader.readContract({
      address,
      abi: communityPaymentsAbi,
      functionName: 'creditOf',
      args: [account, token],
    })
    return stored === amount
      ? []
      : [`${account} on ${label} may fetch ${stored} of ${token}, by the events ${amount}`]
  })
  return (await Promise.all(wrong)).flat()
}

/** Compares each payment's end by the events, in the contract's storage and in the database. */
async function outcomeBreaches(
  { reader, payments: address, label }: ChaosChain,
  { payments }: Books,
  pool: pg.Pool,
) {
  const { rows } = await pool.query<{ id: Buffer; outcome: number | null }>(
    `SELECT p.id, p.outcome FROM payments p JOIN chains c USING (network, chain)
     WHERE p.network = 0 AND p.kind = 2 AND c.label = $1`,
    [label],
  )
  const known = new Map(
    rows.map(({ id, outcome }) => [`0x${id.toString('hex')}`, (outcome ?? 0) + 1]),
  )
  const ids = [...payments.keys()]
  const stored = await reader.readContract({
    address,
    abi: communityPaymentsAbi,
    functionName: 'outcomesOf',
    args: [ids],
  })
  const wrong = ids.flatMap((id, at) => {
    const ends = payments.get(id)!.ends
    const said = [ends.join(' and ') || 'held', OUTCOMES[stored[at]!], OUTCOMES[known.get(id) ?? 0]]
    return new Set(said).size === 1
      ? []
      : [
          `payment ${id} on ${label} is ${said[0]} by its events, ${said[1]} in the contract, ${said[2]} in the database`,
        ]
  })
  const unknown = [...known.keys()].filter((id) => !payments.has(id as Hex))
  return [
    ...wrong,
    ...unknown.map((id) => `payment ${id} on ${label} is in the database and on no chain`),
  ]
}
