import type { ChainInfo, Refund, Refunds } from './api.js'
import { amountText, chainText } from './chains.js'
import { attempt, button, byId, confirmed, field, form, h, redraw, say, short } from './dom.js'
import { TYPED } from '../lib/names.js'
import { api, payerOn, state } from './state.js'

/** Section that lists what the signed-in wallet is owed, and takes it. Hidden while that is nothing. */

const POLL_MS = 1_000
/** Polls until money that was taken is off the list; a chain may need minutes, after which the list is read again. */
const POLLS = 120

/** Draws the list. */
export function renderRefunds(): void {
  const section = byId('refunds')
  const { refunds = [], unavailable = [], truncated = false } = state.refunds ?? {}
  section.hidden = refunds.length === 0 && unavailable.length === 0
  if (section.hidden) return
  redraw(
    section,
    h('h2', 'Yours to take back'),
    h('ul', { class: 'followed' }, ...refunds.map(lineOf)),
    truncated && h('p', 'There is more; it shows once some of this is taken.'),
    unavailable.length > 0 &&
      h('p', { class: 'empty' }, `Not answering now, so what they owe is not shown: ${unavailable.join(', ')}.`),
  )
}

function lineOf(refund: Refund, index: number): HTMLElement {
  const chain = chainOf(refund)
  const key = `take ${index}`
  return h(
    'li',
    h('strong', `${moneyText(refund, chain)} `),
    h('span', { class: 'status' }, reasonText(refund, chain)),
    refund.transaction && chain && button('Take it', () => take(refund, chain), { 'data-key': key }),
    refund.needsReceiver && chain && receiverForm(refund, chain, key),
  )
}

const chainOf = ({ network }: Refund): ChainInfo | undefined =>
  state.chains.find((chain) => chain.network === network && chain.isTestnet === state.isTestnet)

/** The hub's coin is named by its chain alone: credits of other chains are paid there too. */
function moneyText({ owedBy, token, amount, eid }: Refund, chain: ChainInfo | undefined): string {
  if (token !== 'native') return `${amount} base units of the token ${short(token)}`
  if (owedBy === 'hub' && eid !== 0) return `${amountText(amount, 18)} of the hub’s coin`
  return chain ? `${amountText(amount, chain.gasToken.decimals)} ${chain.gasToken.symbol}` : `${amount} base units`
}

function reasonText({ owedBy, payments, reclaimAfter, transaction }: Refund, chain: ChainInfo | undefined): string {
  const where = chain ? ` on ${chainText(chain)}` : ''
  if (owedBy === 'hub') return `for bids that came too late, taken${where}`
  const what = payments ? ` for ${payments.map(({ name }) => name).join(', ')}` : ''
  if (reclaimAfter && !transaction)
    return `paid${what}${where}; not decided yet, yours again from ${new Date(reclaimAfter).toLocaleString()} on`
  return `paid${what}${where}`
}

function receiverForm(refund: Refund, chain: ChainInfo, key: string): HTMLElement {
  return form(
    { class: 'add' },
    (data) => askWithReceiver(refund, chain, String(data.get('to'))),
    field(
      'Receiver on the hub',
      h('input', { ...TYPED, name: 'to', required: true, 'data-key': `to ${key}` }),
      h('small', 'Your wallet is a contract, which may not exist there'),
    ),
    h('button', { 'data-key': key }, 'Take it'),
  )
}

async function askWithReceiver({ eid }: Refund, chain: ChainInfo, to: string): Promise<void> {
  await attempt(async () => {
    const { refunds } = await readRefunds(to)
    const offered = refunds.find((refund) => refund.owedBy === 'hub' && refund.eid === eid && refund.transaction)
    if (!offered) throw new Error('It is not there any more, or its chain does not answer now.')
    if (await confirmed('Send it there?', `${moneyText(offered, chain)} go to ${to}.`, 'Send'))
      await take(offered, chain)
  })
}

/** What the signed-in wallet is owed. */
export const readRefunds = (to?: string): Promise<Refunds> =>
  api.get<Refunds>(`/v1/refunds/${state.session!.address}${to ? `?to=${encodeURIComponent(to)}` : ''}`)

async function take({ transaction }: Refund, chain: ChainInfo): Promise<void> {
  await attempt(async () => {
    const payer = await payerOn(chain)
    const before = JSON.stringify(state.refunds?.refunds)
    await payer.pay(transaction!.type === 'evm' ? transaction! : transaction!.data)
    say('Sent. It is off the list once the chain has confirmed it.')
    await followed(before)
    await state.reload()
  })
}

async function followed(before: string): Promise<void> {
  for (let polls = 0; polls < POLLS; polls++) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    const now = await readRefunds().catch(() => null)
    if (!now || JSON.stringify(now.refunds) === before) continue
    return say('It is yours again.')
  }
}
