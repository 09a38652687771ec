import { useEffect, useRef, useState } from 'preact/hooks'
import { follow, isFinal } from '../lib/live.js'
import type { TxStatus } from '../lib/types.js'
import type { Account } from './state.js'

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
/** Newest transactions that are known over a reload. */
const KEPT = 20

function stored(): readonly Followed[] {
  try {
    return JSON.parse(sessionStorage.getItem(ITEM) ?? '[]')
  } catch {
    return []
  }
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
  const [all, setAll] = useState(stored)
  const left = useRef(new AbortController())
  useEffect(() => sessionStorage.setItem(ITEM, JSON.stringify(all.slice(0, KEPT))), [all])
  async function watch({ title, tx, isTestnet }: Followed) {
    const show = (status: TxStatus) => setAll((known) => known.map((one) => (one.tx === tx ? { ...one, status } : one)))
    const status = await follow(tx, isTestnet, show, left.current.signal)
    if (!status) return
    await onEnd()
    if (status.status === 'finalized') say(`${title} is yours.`)
    else say(`${title} was not registered: the line below says why.`, 'error')
  }
  const goOn = useRef(() => {
    for (const one of all) if (!one.status || !isFinal(one.status)) void watch(one)
  })
  useEffect(() => {
    goOn.current()
    const { current } = left
    return () => current.abort()
  }, [])
  return {
    followed: all.filter((one) => one.payer === payer && one.isTestnet === isTestnet),
    follow(title: string, tx: string) {
      const sent: Followed = { title, tx, payer, isTestnet, status: null }
      setAll((known) => [sent, ...known])
      say(`Sent. ${title} is being registered.`)
      void watch(sent)
    },
    forget: () => setAll([]),
  }
}
