import {
  encodeFunctionData,
  type Hex,
  hexToString,
  parseEther,
  parseEventLogs,
  trim,
  zeroAddress,
  zeroHash,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { encodePlaceBidsCalldata } from '../../../src/chains/evm/bridge/calls.js'
import { communityPaymentsAbi } from '../../../src/chains/evm/contracts/index.js'
import { nameToWord } from '../../../src/registry/primitives/name.js'
import { createLocalWalletClient } from '../../../src/testing/chains/localClients.js'
import { until } from '../../../src/testing/index.js'
import { operatorAccount } from '../../../src/testing/world.js'
import { ask } from '../../support/askOnce.js'
import { signIn } from '../../support/signIn.js'
import type { ChaosChain, ChaosWorld } from './world.js'

/** Name of the community in which wallets pay for names on every chain. */
export const COMMUNITY = 'club'
export const PRICE_WEI = parseEther('0.002')
const BID_WEI = parseEther('0.01')
const RECIPIENT = operatorAccount('treasurer').address

/** Registers the name of the community and sets its prices. Runs before any disruption. */
export async function setUpCommunity(
  { stack, chains, hub }: ChaosWorld,
  privateKey: Hex,
  owner: PrivateKeyAccount,
) {
  const tx = await createLocalWalletClient(hub, owner).sendTransaction({
    to: hub.contract,
    data: encodePlaceBidsCalldata([{ name: COMMUNITY, amountWei: BID_WEI }], null),
    value: BID_WEI,
  })
  await until.status(stack, tx, 'finalized')
  const prices = chains.map(({ label }) => ({
    network: label,
    token: 'native',
    amount: PRICE_WEI.toString(),
    recipient: RECIPIENT,
  }))
  await ask(stack.api, `/v1/communities/${COMMUNITY}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${await signIn(stack, privateKey)}` },
    body: JSON.stringify({ prices }),
  })
}

/** Terms of a payment on which wallets agree, and which strangers change. */
interface Terms {
  token?: Hex
  recipient?: Hex
  community?: string
}

/** A payment for a name below the community. */
export const paymentFor = (
  { payments }: ChaosChain,
  name: string,
  amountWei: bigint,
  { token = zeroAddress, recipient = RECIPIENT, community = COMMUNITY }: Terms = {},
) => ({
  to: payments,
  data: encodeFunctionData({
    abi: communityPaymentsAbi,
    functionName: 'placeBid',
    args: [
      {
        token,
        amount: amountWei,
        paymentRecipient: recipient,
        communityName: wordOf(community),
        walletName: wordOf(name),
        referralAddress: zeroHash,
      },
    ],
  }),
  value: token === zeroAddress ? amountWei : 0n,
  gas: 500_000n,
})

/** True if a payment is in the coin, and to the account, that the community requires. */
const isAsAsked = (payment: {
  token: Hex
  recipient: Hex
  community: string
  amount: bigint
}): boolean =>
  payment.token === zeroAddress &&
  payment.recipient.toLowerCase() === RECIPIENT.toLowerCase() &&
  payment.community === COMMUNITY &&
  payment.amount >= PRICE_WEI

const wordOf = (name: string): Hex => `0x${nameToWord(name).toString('hex')}`

/** Final state of a payment for a name below the community, as the chains have it. */
export interface Purchase {
  tx: Hex
  label: string
  name: string
  /** True for a payment of too little, in another coin, to another account or for another community. */
  isWrong: boolean
  /** Number of its refunds. */
  refused: number
}

/** Reads every payment on the chains. */
export async function readPurchases(chains: readonly ChaosChain[]): Promise<Purchase[]> {
  return (await Promise.all(chains.map(purchasesOn))).flat()
}

async function purchasesOn({ reader, payments, label }: ChaosChain): Promise<Purchase[]> {
  const raw = await reader.getLogs({ address: payments, fromBlock: 0n, toBlock: 'latest' })
  const logs = parseEventLogs({ abi: communityPaymentsAbi, logs: raw })
  const refused = logs.flatMap((log) => (log.eventName === 'Refused' ? [log.args.paymentId] : []))
  return logs.flatMap((log) => {
    if (log.eventName !== 'Bid') return []
    // the contract emits the payment's id in the next log
    const held = logs.find(
      (one) =>
        one.eventName === 'Held' &&
        one.transactionHash === log.transactionHash &&
        one.logIndex === log.logIndex + 1,
    )
    const id = held?.eventName === 'Held' ? held.args.paymentId : null
    const { walletName, communityName, token, amount, paymentRecipient: recipient } = log.args
    const community = nameOf(communityName)
    return [
      {
        tx: log.transactionHash,
        label,
        name: nameOf(walletName),
        isWrong: !isAsAsked({ token, recipient, community, amount }),
        refused: refused.filter((one) => one === id).length,
      },
    ]
  })
}

const nameOf = (word: Hex): string => hexToString(trim(word, { dir: 'right' }))

/**
 * Contradictions between the chains and the reported statuses. One payment for a name got it, and all others were
 * refunded once.
 * @param isFirst true if there was no rewind: a refund before a rewind stays a refund
 */
export function purchaseBreaches(
  purchases: readonly Purchase[],
  statusOf: (tx: string) => string | undefined,
  isFirst: boolean,
): string[] {
  const names = new Map<string, Purchase[]>()
  for (const one of purchases)
    if (!one.isWrong) names.set(one.name, [...(names.get(one.name) ?? []), one])
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
