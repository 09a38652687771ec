import {
  type ComponentChildren,
  cloneElement,
  type PartialInputHTMLAttributes,
  type TargetedEvent,
  type VNode,
} from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { chainName } from '../lib/format.js'
import type { Chain, TxStatus } from '../lib/types.js'
import { Card, CopyableText, Link, NameLabel } from '../parts/basics.js'
import { decisivePayment, type SentTransaction } from './followed.js'
import { useAccount } from './state.js'
import type { ConfirmationQuestion } from './talk.js'

// this module has small components of the pages of a signed-in wallet

/** Values of a form by field, trimmed; '' for a check box that is not checked. */
export type FormValues = (field: string) => string

/** For a button or a form: `run` does its work and shows the error. It ignores a call while earlier work is running. */
function useWork() {
  const { attempt, confirmed } = useAccount()
  const [isBusy, setBusy] = useState(false)
  return {
    isBusy,
    /**
     * @param ask question to confirm before the work
     * @returns true if the work succeeded; false also if it was ignored
     */
    async run(work: () => Promise<unknown>, ask?: ConfirmationQuestion): Promise<boolean> {
      if (isBusy) return false
      setBusy(true)
      const isDone = await attempt(async () => (ask && !(await confirmed(ask)) ? false : work()))
      setBusy(false)
      return isDone
    },
  }
}

/**
 * A button that shows when its work is running. It is not disabled meanwhile, because a disabled button loses the
 * focus.
 */
export function ActionButton({
  work,
  ask,
  children,
  class: className = '',
  label,
  isWaiting = false,
}: ActionButtonProps) {
  const { isBusy, run } = useWork()
  return (
    <button
      type="button"
      class={className}
      aria-busy={isBusy || isWaiting}
      aria-label={label}
      onClick={() => void run(work, ask)}
    >
      {children}
    </button>
  )
}
interface ActionButtonProps {
  work: () => Promise<unknown>
  ask?: ConfirmationQuestion
  children: ComponentChildren
  class?: string
  label?: string | undefined
  /** True while an earlier press has not taken effect yet. */
  isWaiting?: boolean
}

/**
 * A form submitted by its button or by Enter. Its inputs get their initial values after its work, unless the work fails
 * or returns false.
 */
export function Form({
  work,
  children,
  label,
  submit: text,
  isPlain,
  class: className = 'form',
}: FormProps) {
  const { isBusy, run } = useWork()
  const submit = async (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const data = new FormData(form)
    const isDone = await run(() => work((field) => String(data.get(field) ?? '').trim()))
    if (isDone) form.reset()
  }
  return (
    <form
      class={className}
      aria-label={label}
      aria-busy={isBusy}
      onSubmit={(event) => void submit(event)}
    >
      {children}
      {text && (
        <button type="submit" class={isPlain ? 'plain' : ''}>
          {text}
        </button>
      )}
    </form>
  )
}
interface FormProps {
  work: (typed: FormValues) => Promise<unknown>
  children: ComponentChildren
  label: string
  /** Text of the form's button. Undefined for a form without a button. */
  submit?: string | undefined
  isPlain?: boolean
  class?: string
}

/** Attributes of a required input, such as for an address: the browser neither completes nor corrects the text. */
export const REQUIRED_TEXT_INPUT_ATTRIBUTES = {
  required: true,
  autocomplete: 'off',
  spellcheck: false,
}

/** Text input under its label, required by default. */
export const TextInput = ({
  label,
  hint,
  ...input
}: LabelProps & PartialInputHTMLAttributes<HTMLInputElement>) => (
  <LabelledControl label={label} hint={hint}>
    <input {...REQUIRED_TEXT_INPUT_ATTRIBUTES} {...(input as object)} />
  </LabelledControl>
)

export const CheckBox = ({
  children,
  ...input
}: {
  children: string
  name: string
  defaultChecked?: boolean
}) => (
  <label class="check">
    <input type="checkbox" {...input} />
    <span>{children}</span>
  </label>
)

interface LabelProps {
  label: string
  hint?: string | undefined
}

function LabelledControl({
  label,
  hint,
  children,
}: LabelProps & { children: VNode<{ id?: string }> }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {cloneElement(children, { id })}
      {hint && <small>{hint}</small>}
    </div>
  )
}

/** A `select` element below its label. `chosen` is the value of the selected option; default: the first one. */
export const Select = ({ label, options, chosen, ...select }: SelectProps) => (
  <LabelledControl label={label}>
    <select {...(select as object)}>
      {options.map(([value, text]) => (
        <option key={value} value={value} selected={value === chosen}>
          {text}
        </option>
      ))}
    </select>
  </LabelledControl>
)
interface SelectProps {
  label: string
  name: string
  options: readonly (readonly [value: string, text: string])[]
  chosen?: string | undefined
  onInput?: (event: TargetedEvent<HTMLSelectElement>) => void
}

/** A chain with its coin, such as `Ethereum (ETH)`. */
export const chainNameWithGasToken = ({ network, gasToken }: Chain): string =>
  `${chainName(network)} (${gasToken.symbol})`

/** Dialog with the current question of the page, or with a text to sign in a wallet outside this browser. */
export function QuestionDialog() {
  const { question } = useAccount()
  const dialog = useRef<HTMLDialogElement>(null)
  // a layout effect opens the dialog before the next key press, which would otherwise reach the page behind it
  useLayoutEffect(() => {
    if (question) dialog.current?.showModal()
  }, [question])
  if (!question) return null
  const { title, text, yes, isGrave, toSign } = question
  const answer = (typed: string | null) => {
    // closing returns the focus to the previous element
    dialog.current?.close()
    question.answer(typed)
  }
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault()
    const signature = new FormData(event.currentTarget).get('signature')
    answer(String(signature ?? '').trim())
  }
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question"
      aria-describedby="question-text"
      onCancel={() => answer(null)}
    >
      <form class="form" onSubmit={submit}>
        <h2 id="question">{title}</h2>
        <p id="question-text">{text}</p>
        {toSign !== undefined && (
          <>
            <p id="to-sign">
              <CopyableText text={toSign} isWhole />
            </p>
            <TextInput
              label="The signature"
              hint="0x for a smart wallet that approved the text on its chain"
              name="signature"
            />
          </>
        )}
        <div class="row">
          <button type="button" class="plain" onClick={() => answer(null)}>
            Cancel
          </button>
          <button type="submit" class={isGrave ? 'danger' : ''}>
            {yes}
          </button>
        </div>
      </form>
    </dialog>
  )
}

const PAYMENT_STATUS_TEXTS: Readonly<Record<TxStatus['status'], string>> = {
  not_found: 'Sent; no chain has it yet.',
  pending: 'Waiting for confirmations…',
  bridging: 'Confirmed; on its way to the hub…',
  invalid: 'This transaction registered nothing.',
  lost_bid: 'Somebody else was first. What was paid can be taken back.',
  finalized: 'The name is yours.',
}

/** Status of a payment as a sentence. */
export function statusText({ status }: SentTransaction): string {
  const { status: word = 'not_found', confirmations } = status ?? {}
  const { have = 0, need = 0 } = (word === 'pending' && confirmations) || {}
  return `${PAYMENT_STATUS_TEXTS[word]}${need > 0 ? ` ${Math.min(have, need)} of ${need}` : ''}`
}

/** Registrations that the wallet sent from this tab: each name once, with the status of its decisive payment. */
export function FollowedPaymentList() {
  const { sent } = useAccount()
  const payments = sent.filter(({ tx, isOffer }) => tx && !isOffer)
  const titles = [...new Set(payments.map(({ title }) => title))]
  return (
    <div aria-live="polite">
      {titles.length > 0 && (
        <Card title="Sent from this tab">
          <ol class="rows followed">
            {titles.map((title) => {
              const outcome = decisivePayment(payments, title)!
              const { tx, status } = outcome
              const isOne = payments.filter((one) => one.title === title).length === 1
              return (
                <li key={title} data-status={status?.status ?? 'not_found'}>
                  <NameLabel name={title} />
                  <span class="status">
                    {statusText(outcome)}
                    {!isOne && ' You paid more than once: '}
                    {!isOne && <Link to="/@refunds">take the rest back</Link>}
                  </span>
                  <Link to={`/tx/${tx}`}>Progress</Link>
                </li>
              )
            })}
          </ol>
        </Card>
      )}
    </div>
  )
}
