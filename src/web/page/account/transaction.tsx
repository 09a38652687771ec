import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { pause } from '../../../client/time.js'
import { ActionButton } from './pieces.js'
import { type RequestedTransaction, useAccount } from './state.js'
import { RevertedError } from './wallets/kind.js'

/** A transaction that the service offers to the wallet, such as a refund. */
interface OfferedTransaction extends Pick<RequestedTransaction, 'chain' | 'transactions' | 'ask'> {
  /** Text that identifies the offer among those of the wallet, also after it was read again. */
  key: string
  /** Message once the transaction has had its effect. */
  done: string
  /**
   * Whether the service no longer offers the transaction.
   * @param isExecuted whether the transaction's chain has executed it; undefined where the wallet does not report that
   */
  isGone(isExecuted: boolean | undefined): Promise<boolean>
  /** Reads the offers again. */
  refresh(): void
}

/** Pause between two polls for a transaction's effect, ms. */
const EFFECT_POLL_MS = 1_000
/** Maximum number of polls until a transaction has its effect. A chain may need minutes. */
const MAX_EFFECT_POLLS = 120

const SENT_TEXT = 'Sent. It is done once the chain has confirmed it.'

/**
 * The button of an offered transaction. It has the wallet send the transaction, waits until the service no longer
 * offers it, and shows an error where that does not happen. The wait goes on after a reload.
 */
export function TransactionButton({ offer, children }: TransactionButtonProps) {
  const account = useAccount()
  const [taken, setTaken] = useState('')
  const latest = useRef({ offer, account })
  latest.current = { offer, account }
  const { say, sent, transact } = account
  const tx = sent.find((one) => one.title === offer.key && one.tx)?.tx
  useEffect(() => {
    if (!tx) return
    const left = new AbortController()
    const { key } = latest.current.offer
    const isTaken = async (): Promise<boolean> => {
      const { account, offer } = latest.current
      const isExecuted = await account.isExecuted(tx)
      return isExecuted !== false && offer.isGone(isExecuted)
    }
    const wait = async (): Promise<string> => {
      for (let polls = 0; polls < MAX_EFFECT_POLLS; polls++) {
        await pause(EFFECT_POLL_MS, left.signal)
        const hasEffect = await isTaken().catch((error: unknown) => {
          if (error instanceof RevertedError) throw error
          return false
        })
        if (hasEffect) return latest.current.offer.done
      }
      throw new Error(`The transaction ${tx} has had no effect yet: look it up on its chain.`)
    }
    const end = (text: string, isError: boolean) => {
      if (left.signal.aborted) return
      const { account, offer } = latest.current
      account.say(text, isError ? 'error' : 'note')
      if (!isError) setTaken(key)
      account.forget(tx)
      offer.refresh()
    }
    void wait().then(
      (done) => end(done, false),
      (error: Error) => end(error.message, true),
    )
    return () => left.abort()
  }, [tx])
  if (taken === offer.key) return null
  const work = async () =>
    tx ? say(SENT_TEXT) : transact({ ...offer, title: offer.key, isOffer: true, said: SENT_TEXT })
  return (
    <ActionButton work={work} isWaiting={tx !== undefined}>
      {tx ? 'Sent…' : children}
    </ActionButton>
  )
}

interface TransactionButtonProps {
  offer: OfferedTransaction
  children: ComponentChildren
}
