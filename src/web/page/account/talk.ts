import { useRef, useState } from 'preact/hooks'
import { pause } from '../../../client/time.js'

/** A question that the visitor confirms or declines before an action. */
export interface ConfirmationQuestion {
  title: string
  text: string
  yes: string
  /** True to show the confirming button as dangerous. */
  isGrave?: true
  /** Text that a wallet outside this browser has to sign: the visitor answers with the signature. */
  toSign?: string
}

type PageMessage = { text: string; kind: 'note' | 'error' }
/** A question that is being shown. */
type ShownQuestion = ConfirmationQuestion & {
  /** @param typed the signature, empty where none was asked for; null if the visitor declined */
  answer(typed: string | null): void
}
/** Shows a text in the page's message line, in place of the previous one. '' empties the line. */
export type ShowMessage = (text: string, kind?: PageMessage['kind']) => void

/** Pause before the next question, ms, so that a double click does not answer that question too. */
const DOUBLE_CLICK_MS = 500

/** State of the page's message line and question, with functions that show another. */
export function useTalk() {
  const [message, setMessage] = useState<PageMessage>({ text: '', kind: 'note' })
  const [question, setQuestion] = useState<ShownQuestion | null>(null)
  const before = useRef<Promise<unknown>>(Promise.resolve())
  const say: ShowMessage = (text, kind = 'note') => setMessage({ text, kind })
  return {
    message,
    question,
    say,
    /**
     * Shows the question once the previous one is answered.
     * @param left withdraws the question when it is aborted. The answer is then null
     * @param more called when the question is shown; returns a text to append to the question's text
     * @returns the answer, as `ShownQuestion.answer` gets it
     */
    ask(
      question: ConfirmationQuestion,
      left: AbortSignal,
      more = () => '',
    ): Promise<string | null> {
      const show = () =>
        new Promise<string | null>((resolve) => {
          if (left.aborted) return resolve(null)
          const answer = (typed: string | null) => {
            setQuestion(null)
            resolve(typed)
          }
          setQuestion({ ...question, text: question.text + more(), answer })
          // withdraw the question when the wallet that it is for signs out; otherwise it would block the questions of
          // the next wallet
          left.addEventListener('abort', () => answer(null))
        })
      const answered = before.current.then(show)
      before.current = answered.then(() => pause(DOUBLE_CLICK_MS))
      return answered
    },
  }
}
