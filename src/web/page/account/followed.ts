import { useEffect, useRef, useState } from 'preact/hooks'
import { pause } from '../../../client/time.js'
import { isFinalStatus, readTxStatus } from '../lib/live.js'
import { loadTabItem, saveTabItem } from '../lib/tabStorage.js'
import type { TxStatus } from '../lib/types.js'
import type { Account, ShowMessage } from './state.js'
import { UnansweredError } from './wallets/kind.js'

/** A transaction that was sent from this tab. */
export interface FollowedPayment {
  title: string
  tx: string
  /** Wallet that paid. */
  payer: string
  isTestnet: boolean
  status: TxStatus | null
}

const ITEM = 'clusterd.followed'
const ASKED_ITEM = 'clusterd.unanswered'
/** Maximum number of payments that survive a reload, the newest. A sent payment that is not final is always kept. */
const KEPT = 20

/** Module state, because a wallet may answer after the visitor has opened another page. */
let all = loadTabItem<readonly FollowedPayment[]>(ITEM) ?? []
const listeners = new Set<(known: readonly FollowedPayment[]) => void>()

function know(next: readonly FollowedPayment[]): void {
  all = next
  saveTabItem(
    ITEM,
    next.filter((one, i) => i < KEPT || isOpen(one)),
  )
  for (const listener of listeners) listener(next)
}

const isOpen = ({ status }: FollowedPayment): boolean => !status || !isFinalStatus(status)

type Payment = Pick<FollowedPayment, 'title' | 'payer' | 'isTestnet'>

/** Payments that a wallet was asked for and has not answered. The wallet's window may still be open after a reload. */
let unanswered = loadTabItem<readonly Payment[]>(ASKED_ITEM) ?? []

function wait(next: readonly Payment[]): void {
  unanswered = next
  saveTabItem(ASKED_ITEM, next.slice(-KEPT))
}

/** Warning about earlier payments for the same title, sent or unanswered, before another payment. */
export function earlierPaymentWarning({ session, isTestnet }: Account, title: string): string {
  const isSame = (one: Payment) =>
    one.title === title && one.payer === session?.address && one.isTestnet === isTestnet
  if (all.some((one) => isSame(one) && isOpen(one)))
    return ' You have paid for it already, and that is not decided yet.'
  return unanswered.some(isSame)
    ? ' Your wallet was asked to pay for it before and has not answered: decline one of the two there.'
    : ''
}

/** Waits for the wallet's late answer: the wallet may send the payment after its time limit (UnansweredError). */
const inTheEnd = (payment: Promise<string>): Promise<string> =>
  payment.catch(
    (error: unknown) => (error instanceof UnansweredError && error.sent) || Promise.reject(error),
  )

const POLL_MS = 1_000
/** Maximum number of polls until a payment has its effect. A chain may need minutes. */
const POLLS = 120

interface Sent {
  say: ShowMessage
  /** Message to show once the payment is sent. */
  sent: string
  /** Whether the payment has had its effect. @param tx the payment's hash or signature */
  isDone?: ((tx: string) => Promise<boolean>) | undefined
  /** Called once the payment has had its effect, within two minutes. */
  done?: () => unknown
}

/**
 * Shows that a payment was sent, even if its wallet answers late, and waits until the payment has its effect.
 * @throws Error where the wallet refuses, or does not answer in time
 */
export async function followPayment(
  payment: Promise<string>,
  { say, sent, isDone, done }: Sent,
): Promise<void> {
  const counted = inTheEnd(payment).then(async (tx) => {
    say(sent)
    for (let polls = 0; isDone && polls < POLLS; polls++) {
      await pause(POLL_MS)
      if (await isDone(tx).catch(() => false)) return done?.()
    }
  })
  // the caller that awaits the payment gets its error; avoid a second, unhandled rejection
  counted.catch(() => {})
  await payment
  await counted
}

/** Pause between two status requests. */
const FOLLOW_PAUSE_MS = 500

/** Polls the open payments one after the other, because a browser has few connections to one service. */
async function followOpen(
  left: AbortSignal,
  onEnd: (ended: FollowedPayment, status: TxStatus) => void,
): Promise<void> {
  for (let turn = 0; !left.aborted; turn++) {
    const open = all.filter(isOpen)
    const asked = open[turn % Math.max(1, open.length)]
    const status = asked && (await readTxStatus(asked.tx, asked.isTestnet, left).catch(() => null))
    if (left.aborted) return
    if (asked && status) know(all.map((one) => (one.tx === asked.tx ? { ...one, status } : one)))
    if (asked && status && isFinalStatus(status)) onEnd(asked, status)
    await pause(FOLLOW_PAUSE_MS)
  }
}

/**
 * Transactions that this wallet sent. They are followed across reloads until they are final, or the visitor signs
 * out.
 */
export function useFollowedPayments(
  { payer, isTestnet }: { payer: string; isTestnet: boolean },
  say: ShowMessage,
  onEnd: () => Promise<void>,
) {
  const [known, setKnown] = useState(all)
  const latest = useRef({ payer, say, onEnd })
  latest.current = { payer, say, onEnd }
  useEffect(() => {
    const left = new AbortController()
    const end = async ({ title, payer }: FollowedPayment, { status }: TxStatus) => {
      await latest.current.onEnd()
      // the transaction belongs to another wallet
      if (latest.current.payer !== payer) return
      if (status === 'finalized') latest.current.say(`${title} is yours.`)
      else latest.current.say(`${title} was not registered: the line below says why.`, 'error')
    }
    listeners.add(setKnown)
    setKnown(all)
    void followOpen(left.signal, end)
    return () => {
      listeners.delete(setKnown)
      left.abort()
    }
  }, [])
  return {
    followed: known.filter((one) => one.payer === payer && one.isTestnet === isTestnet),
    async follow(title: string, payment: Promise<string>) {
      const asked: Payment = { title, payer, isTestnet }
      wait([...unanswered, asked])
      const sent = (tx: string) => {
        know([{ ...asked, tx, status: null }, ...all])
        say(`Sent. ${title} is being registered.`)
      }
      const settled = inTheEnd(payment).then(sent, () => {})
      void settled.finally(() => wait(unanswered.filter((one) => one !== asked)))
      await payment
    },
  }
}

/** Forgets every payment. */
export function forgetFollowedPayments(): void {
  know([])
  saveTabItem(ASKED_ITEM, null)
}
