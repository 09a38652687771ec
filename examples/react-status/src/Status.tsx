import { ClusterdError, type StatusWord, type TransactionStatus } from 'clusterd-client'
import { type FormEvent, useEffect, useState } from 'react'
import { client } from './client'

const STATUSES: StatusWord[] = [
  'not_found',
  'pending',
  'bridging',
  'finalized',
  'lost_bid',
  'invalid',
]
const HOUR_MS = 3_600_000

const WORDS: Record<StatusWord, string> = {
  not_found: 'No chain has it yet',
  pending: 'It waits for its confirmations',
  bridging: 'Its message is on the way to the hub',
  finalized: 'The name is registered',
  lost_bid: 'Somebody else has the name; the money is owed back',
  invalid: 'It registers nothing',
}

/** Reports a transaction's status whenever it changes, until it never changes again. */
async function follow(
  tx: string,
  signal: AbortSignal,
  report: (status: TransactionStatus) => void,
): Promise<void> {
  let last: StatusWord | undefined
  do {
    const until = STATUSES.filter((status) => status !== last)
    const answer = await client.waitForStatus(tx, { until, signal, timeoutMs: HOUR_MS })
    last = answer.status
    report(answer)
  } while (!['finalized', 'lost_bid', 'invalid'].includes(last))
}

/** One transaction, updated automatically. */
export function Status() {
  const [tx, setTx] = useState('')
  const [seen, setSeen] = useState<TransactionStatus[]>([])
  const [fault, setFault] = useState('')

  useEffect(() => {
    setSeen([])
    setFault('')
    if (tx === '') return
    const stop = new AbortController()
    follow(tx, stop.signal, (status) => setSeen((before) => [...before, status])).catch(
      (error: unknown) => {
        if (error instanceof ClusterdError) setFault(error.message)
      },
    )
    return () => stop.abort()
  }, [tx])

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setTx(String(new FormData(event.currentTarget).get('tx')).trim())
  }
  return (
    <section aria-labelledby="status">
      <h2 id="status">Follow a transaction</h2>
      <form onSubmit={submit}>
        <label>
          Transaction hash or signature{' '}
          <input name="tx" required autoComplete="off" spellCheck={false} />
        </label>
        <button type="submit">Follow</button>
      </form>
      <ol aria-live="polite">
        {seen.map(({ status, confirmations }, i) => (
          <li
            key={String(i)}
            className={status}
            aria-current={i === seen.length - 1 ? 'step' : undefined}
          >
            <strong>{status}</strong> {WORDS[status]}
            {confirmations && ` (${confirmations.have} of ${confirmations.need} confirmations)`}
          </li>
        ))}
      </ol>
      {fault && <p role="alert">{fault}</p>}
    </section>
  )
}
