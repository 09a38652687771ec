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
  /** Address of the wallet that was asked. */
  payer: string
  isTestnet: boolean
  /** Absent while the wallet has not answered. Its window may still be open after a reload. */
  tx?: string
  /** Status of a registration; null before the first response. */
  status: TxStatus | null
  /** True if the transaction takes an offer of a `TransactionButton`, such as a refund, and registers nothing. */
  isOffer?: boolean
}

/** Number of the newest transactions that survive a reload. Registrations whose status may change always survive it. */
const MAX_STORED_TRANSACTIONS = 20

/**
 * Sent transactions, newest first. They are not the state of a component, because a wallet may answer after the visitor
 * has opened another page.
 */
const sentTransactions = createTabState<readonly SentTransaction[]>(
  'clusterd.followed',
  [],
  (all) => {
    const stored = all.filter((one, i) => i < MAX_STORED_TRANSACTIONS || isUndecided(one))
    return stored.length > 0 ? stored : null
  },
)

/** True for a registration whose status may still change. */
const isUndecided = ({ tx, status, isOffer }: SentTransaction): boolean =>
  tx !== undefined && !isOffer && !(status && isFinalStatus(status))

const isRegistered = ({ status }: SentTransaction): boolean => status?.status === 'finalized'

/**
 * Of several payments for a name, the payment whose status is shown for the name: the payment that registered it, else
 * an undecided one, else the newest.
 */
export function decisivePayment(
  sent: readonly SentTransaction[],
  title: string,
): SentTransaction | undefined {
  const same = sent.filter((one) => one.title === title && one.tx)
  return same.find(isRegistered) ?? same.find(isUndecided) ?? same[0]
}

type PayerOnNetwork = Pick<SentTransaction, 'payer' | 'isTestnet'>

const transactionsSentBy = ({ payer, isTestnet }: PayerOnNetwork): readonly SentTransaction[] =>
  sentTransactions.get().filter((one) => one.payer === payer && one.isTestnet === isTestnet)

/** Warning before another payment, if an earlier payment for the same title is open or unanswered; else ''. */
export function earlierPaymentWarning(payer: PayerOnNetwork, title: string): string {
  const same = transactionsSentBy(payer).filter((one) => one.title === title)
  if (same.some(isUndecided)) return ' You have paid for it already, and that is not decided yet.'
  return same.some(({ tx }) => !tx)
    ? ' Your wallet was asked to pay for it before and has not answered: decline one of the two there.'
    : ''
}

/**
 * Waits for the payment's transaction id, even if the wallet gives it only after its time limit (`UnansweredError`).
 */
const waitForLateAnswer = (payment: Promise<string>): Promise<string> =>
  payment.catch(
    (error: unknown) => (error instanceof UnansweredError && error.sent) || Promise.reject(error),
  )

/** Pause between two status requests, ms. */
const FOLLOW_PAUSE_MS = 500

/**
 * Polls the status of open payments one after the other, because a browser has few connections to one service.
 * @param left ends the polling when the visitor leaves the account pages
 * @param onEnd called with a payment whose status has become final
 */
async function followOpenPayments(
  left: AbortSignal,
  onEnd: (ended: SentTransaction) => void,
): Promise<void> {
  for (let round = 0; !left.aborted; round++) {
    const open = sentTransactions.get().filter(isUndecided)
    const transaction = open[round % Math.max(1, open.length)]
    const { isTestnet = false, tx = '' } = transaction ?? {}
    const read = () => callApi<TxStatus>(statusPath(tx), { isTestnet, signal: left })
    const status = transaction && (await read().catch(() => null))
    if (left.aborted) return
    if (status) {
      sentTransactions.set(
        sentTransactions.get().map((one) => (one.tx === tx ? { ...one, status } : one)),
      )
      if (isFinalStatus(status)) onEnd(transaction)
    }
    await pause(FOLLOW_PAUSE_MS)
  }
}

/**
 * Transactions that this wallet was asked to send. The status of a registration is polled until it is final or the
 * visitor signs out, also after a reload.
 * @param onEnd called once the status of a registration, also of another wallet in this tab, is final
 */
export function useSentTransactions(
  payer: PayerOnNetwork,
  say: ShowMessage,
  onEnd: () => Promise<void>,
) {
  useTabState(sentTransactions)
  const latest = useRef({ payer, say, onEnd })
  latest.current = { payer, say, onEnd }
  useEffect(() => {
    const left = new AbortController()
    const end = async ({ title, payer: by }: SentTransaction) => {
      const { onEnd, payer, say } = latest.current
      await onEnd()
      // show no message about the transaction of another wallet
      if (payer.payer !== by) return
      const outcome = decisivePayment(transactionsSentBy(payer), title)
      if (!outcome || isUndecided(outcome)) return
      if (isRegistered(outcome)) say(`${title} is yours.`)
      else say(`${title} was not registered: the line below says why.`, 'error')
    }
    void followOpenPayments(left.signal, end)
    return () => left.abort()
  }, [])
  return {
    sent: transactionsSentBy(payer),
    /**
     * Stores a transaction as soon as the wallet is asked for it, and its id once the wallet has answered. Removes the
     * transaction if the wallet refuses.
     * @param payment resolves to the transaction's id
     * @param said message once the transaction is sent
     * @throws Error where the wallet refuses, or does not answer in time
     */
    async follow(
      of: Pick<SentTransaction, 'title' | 'isOffer'>,
      payment: Promise<string>,
      said: string,
    ) {
      const pending: SentTransaction = { ...of, ...payer, status: null }
      sentTransactions.set([pending, ...sentTransactions.get()])
      const become = (...next: SentTransaction[]) =>
        sentTransactions.set(
          sentTransactions.get().flatMap((one) => (one === pending ? next : [one])),
        )
      const sent = (tx: string) => {
        become({ ...pending, tx })
        say(said)
      }
      void waitForLateAnswer(payment).then(sent, () => become())
      await payment
    },
    /** Forgets a transaction, once its offer is taken or has failed. */
    forget: (tx: string) =>
      sentTransactions.set(sentTransactions.get().filter((one) => one.tx !== tx)),
  }
}

/** Forgets the transactions of every wallet that was signed in in this tab. */
export const forgetSentTransactions = () => sentTransactions.set([])
