import { type Hex, hexToString, parseEventLogs, trim, zeroAddress } from 'viem'
import { communityPaymentsAbi } from '../../../src/chains/evm/contracts/index.js'
import { COMMUNITY, PRICE_WEI } from './community.js'
import type { ChaosChain } from './world.js'

/** A payment for a name below the community, as the chains have it in the end. */
export interface Purchase {
  tx: Hex
  label: string
  name: string
  isUnderpaid: boolean
  /** Count of its refunds. */
  refused: number
}

/** Every payment that is on a chain. */
export async function readPurchases(chains: readonly ChaosChain[]): Promise<Purchase[]> {
  return (await Promise.all(chains.map(purchasesOn))).flat()
}

async function purchasesOn({ reader, payments, label }: ChaosChain): Promise<Purchase[]> {
  const raw = await reader.getLogs({ address: payments, fromBlock: 0n, toBlock: 'latest' })
  const logs = parseEventLogs({ abi: communityPaymentsAbi, logs: raw })
  const refused = logs.flatMap((log) => (log.eventName === 'Refused' ? [log.args.paymentId] : []))
  return logs.flatMap((log) => {
    if (log.eventName !== 'Bid') return []
    // the contract emits the payment's id in the log behind it
    const held = logs.find(
      (one) =>
        one.eventName === 'Held' && one.transactionHash === log.transactionHash && one.logIndex === log.logIndex + 1,
    )
    const id = held?.eventName === 'Held' ? held.args.paymentId : null
    const { walletName, amount } = log.args
    return [
      {
        ...{ tx: log.transactionHash, label, name: hexToString(trim(walletName, { dir: 'right' })) },
        isUnderpaid: amount < PRICE_WEI,
        refused: refused.filter((one) => one === id).length,
      },
    ]
  })
}

/**
 * Contradictions between the chains and the answered statuses: one payment for a name got it, all others were
 * refunded, once.
 * @param isFirst no rewind has been: a refund before a rewind stays a refund
 */
export function purchaseBreaches(
  purchases: readonly Purchase[],
  statusOf: (tx: string) => string | undefined,
  isFirst: boolean,
): string[] {
  const names = new Map<string, Purchase[]>()
  for (const one of purchases) if (!one.isUnderpaid) names.set(one.name, [...(names.get(one.name) ?? []), one])
  const unclear = [...names].flatMap(([name, paid]) => {
    const won = paid.filter(({ tx }) => statusOf(tx) === 'finalized').length
    return won === 1 ? [] : [`of ${paid.length} payments for ${COMMUNITY}/${name}, ${won} got it`]
  })
  const wronged = purchases.flatMap(({ tx, label, name, refused }) => {
    const expected = statusOf(tx) === 'finalized' ? 0 : 1
    if (refused === expected || (!isFirst && refused === 1)) return []
    return [
      `the payment ${tx} on ${label} for ${COMMUNITY}/${name} is ${statusOf(tx)} and was refunded ${refused} times`,
    ]
  })
  return [...unclear, ...wronged]
}

/**
 * Each payments contract has to the unit what was paid and not fetched, says that it owes as much, and its credits and
 * what it still holds are together no other sum.
 */
export async function purseBreaches(chains: readonly ChaosChain[]): Promise<string[]> {
  return (await Promise.all(chains.map(purseBreachesOn))).flat()
}

async function purseBreachesOn({ reader, payments, label }: ChaosChain): Promise<string[]> {
  const at = { address: payments, abi: communityPaymentsAbi } as const
  const raw = await reader.getLogs({ address: payments, fromBlock: 0n, toBlock: 'latest' })
  let [unfetched, held] = [0n, 0n]
  for (const { eventName, args } of parseEventLogs({ abi: communityPaymentsAbi, logs: raw })) {
    if (eventName === 'Bid') [unfetched, held] = [unfetched + args.amount, held + args.amount]
    if (eventName === 'Refused' || eventName === 'Released' || eventName === 'Reclaimed') held -= args.amount
    if (eventName === 'Withdrawn') unfetched -= args.amount
  }
  const balance = await reader.getBalance({ address: payments })
  const [owed] = await reader.readContract({ ...at, functionName: 'totalsOf', args: [zeroAddress] })
  if (balance === unfetched && owed === unfetched && held >= 0n && held <= unfetched) return []
  return [`the payments on ${label} have ${balance}, owe ${owed}, hold ${held}; paid and not fetched are ${unfetched}`]
}
