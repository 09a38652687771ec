import type { TxStatus } from './api.js'
import { byId, h, say } from './dom.js'
import { api, state } from './state.js'

/** List of transactions sent from this page, newest first. */

const POLL_MS = 1_000
/** Final statuses. */
const FINAL = new Set<TxStatus['status']>(['finalized', 'lost_bid', 'invalid'])
const STATUS_TEXT: Record<TxStatus['status'], string> = {
  not_found: 'Sent; no chain has it yet.',
  pending: 'Waiting for confirmations…',
  bridging: 'Confirmed; on its way to the hub…',
  invalid: 'This transaction registered nothing.',
  lost_bid: 'Somebody else was first. What was paid is credited to your wallet on the hub.',
  finalized: 'The name is yours.',
}

/**
 * Creates a list of transactions, drawn with its section by `list`. `follow` adds one and follows its status; the page
 * is read again once that is final.
 * @param texts of this kind of transaction, per status
 */
export function createFollower(id: string, texts: Partial<Record<TxStatus['status'], string>> = {}) {
  const lines: HTMLElement[] = []
  const textOf = (status: TxStatus['status']): string => texts[status] ?? STATUS_TEXT[status]
  return {
    list: (): HTMLElement => h('ol', { id, class: 'followed', 'aria-live': 'polite' }, ...lines),
    follow(title: string, tx: string): void {
      const status = h('span', { class: 'status' }, textOf('not_found'))
      const line = h('li', { 'data-tx': tx }, h('strong', {}, `${title} `), status, h('code', { class: 'id' }, tx))
      lines.unshift(line)
      byId(id).prepend(line)
      say(`Sent. ${title} is being registered.`)
      void poll(tx, (answer) => {
        line.dataset.status = answer.status
        const { have, need } = answer.confirmations ?? {}
        const count = answer.status === 'pending' && need ? ` ${Math.min(have ?? 0, need)} of ${need}` : ''
        // an identical text would be read out again
        const text = `${textOf(answer.status)}${count}`
        if (status.textContent !== text) status.textContent = text
      }).then(state.reload)
    },
  }
}

/** Polls until the status is final, errors included. */
async function poll(tx: string, show: (status: TxStatus) => void): Promise<void> {
  for (;;) {
    const status = await api.get<TxStatus>(`/v1/names/register/tx/${encodeURIComponent(tx)}`).catch(() => null)
    if (status) show(status)
    if (status && FINAL.has(status.status)) return
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
