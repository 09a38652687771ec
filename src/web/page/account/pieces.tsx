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
import { Card, Link, NameLabel } from '../parts/basics.js'
import { type ConfirmationQuestion, useAccount } from './state.js'

/** Small components of the pages of a signed-in wallet. */

/** Values of a form by field, trimmed; '' for a check box that is not checked. */
export type FormValues = (field: string) => string

/** Runs the action of a button or a form, never twice at once, and shows its error. */
function useWork() {
  const { attempt, confirmed } = useAccount()
  const [isBusy, setBusy] = useState(false)
  return {
    isBusy,
    /** @param ask question to confirm before the work @returns whether the work was done */
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
export function ActionButton({ work, ask, children, class: className = '', label }: ActionProps) {
  const { isBusy, run } = useWork()
  return (
    <button
      type="button"
      class={className}
      aria-busy={isBusy}
      aria-label={label}
      onClick={() => void run(work, ask)}
    >
      {children}
    </button>
  )
}
interface ActionProps {
  work: () => Promise<unknown>
  ask?: ConfirmationQuestion
  children: ComponentChildren
  class?: string
  label?: string | undefined
}

/** A form submitted by its button or by Enter. It is emptied after its work, unless the work fails or returns false. */
export function Form({
  work,
  ask,
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
    const isDone = await run(() => work((field) => String(data.get(field) ?? '').trim()), ask)
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
  ask?: ConfirmationQuestion
  children: ComponentChildren
  label: string
  /** Text of the form's button. */
  submit?: string
  isPlain?: boolean
  class?: string
}

/** Text input under its label. */
export const Input = ({
  label,
  hint,
  ...input
}: Described & PartialInputHTMLAttributes<HTMLInputElement>) => (
  <LabelledControl label={label} hint={hint}>
    <input {...(input as object)} />
  </LabelledControl>
)

/** Check box with its text. */
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

interface Described {
  label: string
  hint?: string | undefined
}

/** Form control with its label. */
function LabelledControl({
  label,
  hint,
  children,
}: Described & { children: VNode<{ id?: string }> }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {cloneElement(children, { id })}
      {hint && <small>{hint}</small>}
    </div>
  )
}

/** A `select` element below its label. */
export const Select = ({ label, options, chosen, ...select }: SelectProps) => (
  <LabelledControl label={label}>
    <select {...select}>
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
  /** Value of the selected option; default: the first one. */
  chosen?: string | undefined
  onChange?: (event: TargetedEvent<HTMLSelectElement>) => void
}

/** `Ethereum (ETH)` */
export const chainNameWithGasToken = ({ network, gasToken }: Chain): string =>
  `${chainName(network)} (${gasToken.symbol})`

/** Dialog with the current question of the page. */
export function Dialog() {
  const { question } = useAccount()
  const dialog = useRef<HTMLDialogElement>(null)
  // a layout effect: a key pressed at once must reach the dialog, and not the page behind it
  useLayoutEffect(() => {
    if (question) dialog.current?.showModal()
  }, [question])
  if (!question) return null
  const { title, text, yes, isGrave } = question
  const answer = (isYes: boolean) => {
    // closing returns the focus to the previous element
    dialog.current?.close()
    question.answer(isYes)
  }
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question"
      aria-describedby="question-text"
      onCancel={() => answer(false)}
    >
      <h2 id="question">{title}</h2>
      <p id="question-text">{text}</p>
      <div class="row">
        <button type="button" class="plain" onClick={() => answer(false)}>
          Cancel
        </button>
        <button type="button" class={isGrave ? 'danger' : ''} onClick={() => answer(true)}>
          {yes}
        </button>
      </div>
    </dialog>
  )
}

const STATUS_TEXT: Readonly<Record<TxStatus['status'], string>> = {
  not_found: 'Sent; no chain has it yet.',
  pending: 'Waiting for confirmations…',
  bridging: 'Confirmed; on its way to the hub…',
  invalid: 'This transaction registered nothing.',
  lost_bid: 'Somebody else was first. What was paid can be taken back.',
  finalized: 'The name is yours.',
}

/** Transactions that were sent from this tab. */
export function FollowedPaymentList() {
  const { followed } = useAccount()
  return (
    <div aria-live="polite">
      {followed.length > 0 && (
        <Card title="Sent from this tab">
          <ol class="rows followed">
            {followed.map(({ title, tx, status }) => (
              <li key={tx} data-status={status?.status ?? 'not_found'}>
                <NameLabel name={title} />
                <span class="status">
                  {STATUS_TEXT[status?.status ?? 'not_found']}
                  {status?.status === 'pending' &&
                    status.confirmations &&
                    ` ${Math.min(status.confirmations.have, status.confirmations.need)} of ${status.confirmations.need}`}
                </span>
                <Link to={`/tx/${tx}`}>Progress</Link>
              </li>
            ))}
          </ol>
        </Card>
      )}
    </div>
  )
}
