import { useEffect, useRef, useState } from 'preact/hooks'
import { keep, kept } from '../lib/kept.js'
import { follow, isFinal } from '../lib/live.js'
import type { TxStatus } from '../lib/types.js'
import type { Account } from './state.js'
import { Unanswered } from './wallets.js'

/** A transaction that was sent from here. */
export interface Followed {
  title: string
  tx: string
  /** Wallet that paid. */
  payer: string
  isTestnet: boolean
  status: TxStatus | null
}

const ITEM = 'clusterd.followed'
const ASKED_ITEM = 'clusterd.unanswered'
/** Newest payments that are known over a reload; of those sent, each that is not decided is. */
const KEPT = 20

/** Known beyond the page that sent them: a wallet may answer when its visitor has gone on to another one. */
let all = kept<readonly Followed[]>(ITEM) ?? []
const listeners = new Set<(known: readonly Followed[]) => void>()

function know(next: readonly Followed[]): void {
  all = next
  keep(
    ITEM,
    next.filter((one, i) => i < KEPT || isOpen(one)),
  )
  for (const listener of listeners) listener(next)
}

const isOpen = ({ status }: Followed): boolean => !status || !isFinal(status)

type Payment = Pick<Followed, 'title' | 'payer' | 'isTestnet'>

/** Payments that a wallet was asked for and has not answered: it may show one still when the page is loaded anew. */
let unanswered = kept<readonly Payment[]>(ASKED_ITEM) ?? []

function wait(next: readonly Payment[]): void {
  unanswered = next
  keep(ASKED_ITEM, next.slice(-KEPT))
}

/** Words before a payment for what was paid from here, or may be yet. */
export function paidText({ session, isTestnet }: Account, title: string): string {
  const isSame = (one: Payment) => one.title === title && one.payer === session?.address && one.isTestnet === isTestnet
  if (all.some((one) => isSame(one) && isOpen(one)))
    return ' You have paid for it already, and that is not decided yet.'
  return unanswered.some(isSame)
    ? ' Your wallet was asked to pay for it before and has not answered: decline one of the two there.'
    : ''
}

/** What a wallet answers in the end: what is answered too late for who waits is paid all the same. */
const inTheEnd = (payment: Promise<string>): Promise<string> =>
  payment.catch((error: unknown) => (error instanceof Unanswered && error.sent) || Promise.reject(error))

/** Goes on once a payment is sent, also where its wallet answers late. @throws Error where it refuses, or is slow */
export async function onceSent(payment: Promise<string>, next: () => Promise<void>): Promise<void> {
  const done = inTheEnd(payment).then(next)
  // who waits has an error of the payment already
  done.catch(() => {})
  await payment
  await done
}

/**
 * Transactions that a wallet sent from here on a network, newest first. They outlive the page, whose visitor looks at
 * one's way and comes back, until the visitor signs out.
 */
export function useFollowed(
  { payer, isTestnet }: { payer: string; isTestnet: boolean },
  say: Account['say'],
  onEnd: () => Promise<void>,
) {
  const [known, setKnown] = useState(all)
  const latest = useRef({ payer, say, onEnd })
  latest.current = { payer, say, onEnd }
  const watched = useRef(new Set<string>())
  const left = useRef(new AbortController())
  const watch = useRef(async ({ title, tx, payer, isTestnet }: Followed) => {
    const show = (status: TxStatus) => know(all.map((one) => (one.tx === tx ? { ...one, status } : one)))
    const status = await follow(tx, isTestnet, show, left.current.signal)
    if (!status) return
    await latest.current.onEnd()
    // another wallet may be signed in by now
    if (latest.current.payer !== payer) return
    if (status.status === 'finalized') latest.current.say(`${title} is yours.`)
    else latest.current.say(`${title} was not registered: the line below says why.`, 'error')
  })
  useEffect(() => {
    listeners.add(setKnown)
    setKnown(all)
    return () => {
      listeners.delete(setKnown)
      left.current.abort()
    }
  }, [])
  useEffect(() => {
    for (const one of known) {
      if (watched.current.has(one.tx) || !isOpen(one)) continue
      watched.current.add(one.tx)
      void watch.current(one)
    }
  }, [known])
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
    forget() {
      left.current.abort()
      left.current = new AbortController()
      know([])
      keep(ASKED_ITEM, null)
    },
  }
}
