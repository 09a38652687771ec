import type { UseQueryResult } from '@tanstack/react-query'
import type { StatusWord, TransactionStatus } from 'clusterd-client'

const SENTENCES: Record<StatusWord, string> = {
  not_found: 'No chain has the transaction yet.',
  pending: 'The payment waits for its confirmations.',
  bridging: 'The payment is on its way to the hub.',
  finalized: 'The name is yours.',
  lost_bid: 'Somebody else was first. All of the money is owed back to you.',
  invalid: 'Nothing was registered.',
}
const STEPS: StatusWord[] = ['pending', 'bridging', 'finalized']
const ENDS: StatusWord[] = ['finalized', 'lost_bid', 'invalid']

interface Props {
  tx: string
  status: UseQueryResult<TransactionStatus>
  onDone(): void
}

/** What becomes of a payment, updated automatically until it has ended. */
export function Progress({ tx, status: { data, error }, onDone }: Props) {
  const word = data?.status ?? 'not_found'
  const { confirmations, names, reason, trouble } = data ?? {}
  return (
    <section aria-label="Progress" data-status={word}>
      <h2>{names?.[0]?.name ?? 'Your registration'}</h2>
      <ol className="steps">
        {STEPS.map((step) => (
          <li key={step} aria-current={step === word ? 'step' : undefined}>
            {step}
          </li>
        ))}
      </ol>
      <p role="status">
        {SENTENCES[word]}
        {confirmations && ` ${confirmations.have} of ${confirmations.need} confirmations.`}
        {reason && ` Reason: ${reason.replaceAll('_', ' ')}.`}
      </p>
      {trouble && <p role="alert">{trouble.text}</p>}
      {error && <p role="alert">{error.message}</p>}
      <p>
        Transaction <code>{tx}</code>
      </p>
      <button type="button" disabled={!ENDS.includes(word) && !error} onClick={onDone}>
        Register another name
      </button>
    </section>
  )
}
