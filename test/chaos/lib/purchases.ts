import { type Hex, hexToString, parseEventLogs, trim } from 'viem'
import { communityPaymentsAbi } from '../../../src/chains/evm/contracts/index.js'
import { COMMUNITY, isAsAsked } from './community.js'
import type { ChaosChain } from './world.js'

/** A payment for a name below the community, as the chains have it in the end. */
export interface Purchase {
  tx: Hex
  label: string
  name: string
  /** Too little, in another coin, to another account or for another community. */
  isWrong: boolean
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
    const { walletName, communityName, token, amount, paymentRecipient: recipient } = log.args
    const community = nameOf(communityName)
    return [
      {
        ...{ tx: log.transactionHash, label, name: nameOf(walletName) },
        isWrong: !isAsAsked({ token, recipient, community, amount }),
        refused: refused.filter((one) => one === id).length,
      },
    ]
  })
}

const nameOf = (word: Hex): string => hexToString(trim(word, { dir: 'right' }))

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
  for (const one of purchases) if (!one.isWrong) names.set(one.name, [...(names.get(one.name) ?? []), one])
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
