import { useEffect, useRef } from 'preact/hooks'
import { isFinalStatus } from '../../../client/status.js'
import { pause } from '../../../client/time.js'
import { callApi, statusPath } from '../lib/api.js'
import { createTabState, useTabState } from '../lib/tabStorage.js'
import type { TxStatus } from '../lib/types.js'
import type { ShowMessage } from './talk.js'
import { UnansweredError } from './wallets/kind.js'

/** A transaction that this tab asked a wallet to send. */
export interface SentTransaction {
  /** Name that the transaction pays for, or the key of the offer that the transaction takes. */
  title: string
  /** Wallet that was asked. */
  payer: string
  isTestnet: boolean
  /** Absent while the wallet has not answered. Its window may still be open after a reload. */
  tx?: string
  /** Status of a registration; null before the first response. */
  status: TxStatus | null
  /** The transaction takes an offer of a `TransactionButton`, such as a refund, and registers nothing. */
  isOffer?: boolean
}

/** Maximum number of transactions that survive a reload, the newest. A sent payment that is not final is always kept. */
const KEPT = 20

/** Sent transactions, newest first. They are not the state of a component, because a wallet may answer after the visitor has opened another page. */
const known = createTabState<readonly SentTransaction[]>('clusterd.followed', [], (all) => {
  const stored = all.filter((one, i) => i < KEPT || isOpen(one))
  return stored.length > 0 ? stored : null
})

/** True for a registration whose status may still change. */
const isOpen = ({ tx, status, isOffer }: SentTransaction): boolean =>
  tx !== undefined && !isOffer && !(status && isFinalStatus(status))

const isWon = ({ status }: SentTransaction): boolean => status?.status === 'finalized'

/**
 * Of several payments for a name, the payment whose status is shown for the name: the payment that registered it, else
 * an undecided one, else the newest.
 */
export function decisivePayment(
  sent: readonly SentTransaction[],
  title: string,
): SentTransaction | undefined {
  const same = sent.filter((one) => one.title === title && one.tx)
  return same.find(isWon) ?? same.find(isOpen) ?? same[0]
}

type Payer = Pick<SentTransaction, 'payer' | 'isTestnet'>

const sentBy = ({ payer, isTestnet }: Payer): readonly SentTransaction[] =>
  known.get().filter((one) => one.payer === payer && one.isTestnet === isTestnet)

/** Warning before another payment, if earlier payments for the same title are open or unanswered; else ''. */
export function earlierPaymentWarning(payer: Payer, title: string): string {
  const same = sentBy(payer).filter((one) => one.title === title)
  if (same.some(isOpen)) return ' You have paid for it already, and that is not decided yet.'
  return same.some(({ tx }) => !tx)
    ? ' Your wallet was asked to pay for it before and has not answered: decline one of the two there.'
    : ''
}

/** Waits for the wallet's late answer: the wallet may send the payment after its time limit (UnansweredError). */
const inTheEnd = (payment: Promise<string>): Promise<string> =>
  payment.catch(
    (error: unknown) => (error instanceof UnansweredError && error.sent) || Promise.reject(error),
  )

/** Pause between two status requests. */
const FOLLOW_PAUSE_MS = 500

/** Polls the status of open payments one after the other, because a browser has few connections to one service. */
async function followOpen(
  left: AbortSignal,
  onEnd: (ended: SentTransaction) => void,
): Promise<void> {
  for (let round = 0; !left.aborted; round++) {
    const open = known.get().filter(isOpen)
    const transaction = open[round % Math.max(1, open.length)]
    const { isTestnet = false, tx = '' } = transaction ?? {}
    const read = () => callApi<TxStatus>(statusPath(tx), { isTestnet, signal: left })
    const status = transaction && (await read().catch(() => null))
    if (left.aborted) return
    if (status) {
      known.set(known.get().map((one) => (one.tx === tx ? { ...one, status } : one)))
      if (isFinalStatus(status)) onEnd(transaction)
    }
    await pause(FOLLOW_PAUSE_MS)
  }
}

/**
 * Transactions that this wallet was asked to send. Registrations are followed across reloads until they are final, or
 * the visitor signs out.
 */
export function useSentTransactions(payer: Payer, say: ShowMessage, onEnd: () => Promise<void>) {
  useTabState(known)
  const latest = useRef({ payer, say, onEnd })
  latest.current = { payer, say, onEnd }
  useEffect(() => {
    const left = new AbortController()
    const end = async ({ title, payer: by }: SentTransaction) => {
      const { onEnd, payer, say } = latest.current
      await onEnd()
      // the transaction belongs to another wallet
      if (payer.payer !== by) return
      const outcome = decisivePayment(sentBy(payer), title)
      if (!outcome || isOpen(outcome)) return
      if (isWon(outcome)) say(`${title} is yours.`)
      else say(`${title} was not registered: the line below says why.`, 'error')
    }
    void followOpen(left.signal, end)
    return () => left.abort()
  }, [])
  return {
    sent: sentBy(payer),
    /**
     * Stores a transaction as soon as the wallet is asked for it, and its id once the wallet has answered.
     * @param said message once it is sent
     * @throws Error where the wallet refuses, or does not answer in time
     */
    async follow(
      of: Pick<SentTransaction, 'title' | 'isOffer'>,
      payment: Promise<string>,
      said: string,
    ) {
      const pending: SentTransaction = { ...of, ...payer, status: null }
      known.set([pending, ...known.get()])
      const become = (...next: SentTransaction[]) =>
        known.set(known.get().flatMap((one) => (one === pending ? next : [one])))
      const sent = (tx: string) => {
        become({ ...pending, tx })
        say(said)
      }
      void inTheEnd(payment).then(sent, () => become())
      await payment
    },
    /** Forgets a transaction that takes an offer. */
    forget: (tx: string) => known.set(known.get().filter((one) => one.tx !== tx)),
  }
}

/** Forgets every transaction. */
export const forgetSentTransactions = () => known.set([])
