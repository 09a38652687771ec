import { type Item, stepsOf } from '../../chains/evm/deployment/item.js'
import { paint } from '../output.js'

/** An item as JSON: what is wished, what is there, and what would mend it. */
export const statusOf = ({ chain, about, wanted, found, isRight, step, advice }: Item) => ({
  ...{ chain, about, wanted, found, isRight },
  ...(step && { by: step.by ?? 'anybody', does: step.does }),
  ...(advice && { advice }),
})

/** One line for each item, and for each difference what mends it. */
export function printItems(items: readonly Item[]): void {
  for (const { chain, about, wanted, found, isRight, step, advice } of items) {
    const sign = isRight ? paint('green', 'ok  ') : paint('bold', 'DIFF')
    console.log(`${sign}  ${chain}, ${about}: ${isRight ? found : `${found}, wanted ${wanted}`}`)
    if (!isRight && step) console.log(`        ${paint('dim', `${step.by ?? 'anybody'} ${step.does}`)}`)
    if (advice) console.log(`        ${paint('dim', advice)}`)
  }
  const wrong = items.filter(({ isRight }) => !isRight).length
  console.log(`\n${items.length - wrong} as wished, ${wrong} not`)
}

/** The transactions that would be sent, in their order. */
export function printSteps(items: readonly Item[]): void {
  const steps = stepsOf(items)
  for (const { chain, does, by } of steps)
    console.log(`${chain.padEnd(9)} ${does} ${paint('dim', `(signed by ${by ?? 'anybody'})`)}`)
  for (const { chain, about, found, isRight, step, advice } of items)
    if (!isRight && !step) console.log(`${chain.padEnd(9)} ${about}: ${found}. ${advice ?? ''}`)
  console.log(steps.length === 0 ? 'Nothing to send.' : `\n${steps.length} to send; nothing was sent.`)
}
