import { useState } from 'preact/hooks'
import { chainName, findChain, utcMinuteText } from '../lib/format.js'
import { HUB_NETWORK, Money } from '../lib/money.js'
import { usePolled } from '../lib/net.js'
import type { Chain, Refund, Refunds } from '../lib/types.js'
import { Card, LoadedContent } from '../parts/basics.js'
import { chainNameWithGasToken, Form, type FormValues, TextInput } from './pieces.js'
import { type AccountState, useAccount } from './state.js'
import { TransactionButton } from './transaction.js'

/** `/@refunds`: the money that the wallet is owed, with buttons that take it. */
export function RefundsPage() {
  const account = useAccount()
  const state = usePolled('', () => readRefunds(account), { again: account.outcomes })
  return (
    <Card title="Yours to take back">
      <LoadedContent state={state}>
        {({ refunds, unavailable, truncated }) => (
          <>
            {refunds.length === 0 && <p class="empty">Nothing is owed to your wallet.</p>}
            <ul class="rows">
              {refunds.map((refund) => (
                <RefundRow key={refundKey(refund)} refund={refund} refresh={state.refresh} />
              ))}
            </ul>
            {truncated && <p>There is more; it shows once some of this is taken.</p>}
            {unavailable.length > 0 && (
              <p class="empty">
                Not answering now, so what they owe is not shown:{' '}
                {unavailable.map(chainName).join(', ')}.
              </p>
            )}
          </>
        )}
      </LoadedContent>
    </Card>
  )
}

const readRefunds = ({ send, session }: AccountState, to = ''): Promise<Refunds> =>
  send(`/v1/refunds/${session?.address}${to && `?to=${encodeURIComponent(to)}`}`)

function refundReasonText(
  { owedBy, payments, reclaimAfter, transaction }: Refund,
  chain: Chain | undefined,
): string {
  const where = chain ? ` on ${chainNameWithGasToken(chain)}` : ''
  if (owedBy === 'hub') return `for bids that came too late, taken${where}`
  const names = payments ? ` for ${payments.map(({ name }) => name).join(', ')}` : ''
  const isHeld = reclaimAfter && !transaction
  const until = isHeld
    ? `; not decided yet, yours again from ${utcMinuteText(reclaimAfter)} on`
    : ''
  return `paid${names}${where}${until}`
}

function RefundRow({ refund, refresh }: { refund: Refund; refresh: () => void }) {
  const account = useAccount()
  const [to, setTo] = useState('')
  const [offered, setOffered] = useState(refund)
  const chain = findChain(account.chains, refund.network)
  const choose = async (typed: FormValues) => {
    const { refunds } = await readRefunds(account, typed('to'))
    const offer = refunds.find(
      (one) => one.owedBy === 'hub' && one.eid === refund.eid && one.transaction,
    )
    if (!offer) throw new Error('It is not there any more, or its chain does not answer now.')
    setTo(typed('to'))
    setOffered(offer)
    return false
  }
  const { transaction } = to ? offered : refund
  const isGone = async () => {
    const { refunds, unavailable } = await readRefunds(account)
    // a chain that does not answer lists no refunds, which does not mean that this refund was taken
    return (
      !unavailable.includes(refund.network!) &&
      !refunds.some((one) => refundKey(one) === refundKey(refund))
    )
  }
  return (
    <li>
      <strong>
        {/* the hub owes its own coin, also for payments from other chains */}
        <Money {...refund} network={refund.owedBy === 'hub' ? HUB_NETWORK : refund.network} />
      </strong>
      <span class="soft">{refundReasonText(refund, chain)}</span>
      {refund.needsReceiver && (
        <Form label="Take it elsewhere" work={choose} submit="Use this receiver" isPlain>
          <TextInput
            label="Receiver on the hub"
            hint="Your wallet is a contract, which may not exist there"
            name="to"
          />
        </Form>
      )}
      {transaction && chain && (
        <TransactionButton
          offer={{
            key: refundKey(refund),
            chain,
            transactions: [transaction.type === 'evm' ? transaction : transaction.data],
            ...(to && { ask: { title: 'Send it there?', text: `It goes to ${to}.`, yes: 'Send' } }),
            done: 'It is yours again.',
            isGone,
            refresh,
          }}
        >
          Take it
        </TransactionButton>
      )}
    </li>
  )
}

/** Text that identifies a refund: its fields, without two that may differ at each read. */
const refundKey = ({ transaction: _, needsReceiver: __, ...refund }: Refund) =>
  JSON.stringify(refund)
