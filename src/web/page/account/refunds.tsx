import { useState } from 'preact/hooks'
import { amountText, findChain, priceText, utcMinuteText } from '../lib/format.js'
import { NO_AUTOCORRECT_INPUT_ATTRIBUTES } from '../lib/names.js'
import { usePolled } from '../lib/net.js'
import type { Chain, Refund, Refunds } from '../lib/types.js'
import { Card, LoadedContent } from '../parts/basics.js'
import { followPayment } from './followed.js'
import { ActionButton, chainNameWithGasToken, Form, type FormValues, Input } from './pieces.js'
import { type Account, useAccount } from './state.js'

const ETHER_DECIMALS = 18

/** `/@refunds`: the money that the wallet is owed, with buttons that take it. */
export function RefundsPage() {
  const account = useAccount()
  const [turn, setTurn] = useState(0)
  const key = `${account.session?.address} ${account.isTestnet} ${turn} ${account.followed.length}`
  const asked = usePolled<Refunds>(key, () => readRefunds(account))
  return (
    <Card title="Yours to take back">
      <LoadedContent asked={asked}>
        {({ refunds, unavailable, truncated }) => (
          <>
            {refunds.length === 0 && <p class="empty">Nothing is owed to your wallet.</p>}
            <ul class="rows">
              {refunds.map((refund) => (
                <Line key={bare(refund)} refund={refund} onTaken={() => setTurn((n) => n + 1)} />
              ))}
            </ul>
            {truncated && <p>There is more; it shows once some of this is taken.</p>}
            {unavailable.length > 0 && (
              <p class="empty">
                Not answering now, so what they owe is not shown: {unavailable.join(', ')}.
              </p>
            )}
          </>
        )}
      </LoadedContent>
    </Card>
  )
}

const readRefunds = ({ send, session }: Account, to?: string): Promise<Refunds> =>
  send(`/v1/refunds/${session?.address}${to ? `?to=${encodeURIComponent(to)}` : ''}`)

/**
 * The hub's coin is shown as the coin of the hub's chain: credits for payments from other chains are paid in it too.
 */
function moneyText({ owedBy, token, amount, eid }: Refund, chain: Chain | undefined): string {
  return token === 'native' && owedBy === 'hub' && eid !== 0
    ? `${amountText(amount, ETHER_DECIMALS)} of the hub’s coin`
    : priceText({ token, amount }, chain)
}

function reasonText(
  { owedBy, payments, reclaimAfter, transaction }: Refund,
  chain: Chain | undefined,
): string {
  const where = chain ? ` on ${chainNameWithGasToken(chain)}` : ''
  if (owedBy === 'hub') return `for bids that came too late, taken${where}`
  const what = payments ? ` for ${payments.map(({ name }) => name).join(', ')}` : ''
  const isHeld = reclaimAfter && !transaction
  const until = isHeld
    ? `; not decided yet, yours again from ${utcMinuteText(reclaimAfter)} on`
    : ''
  return `paid${what}${where}${until}`
}

function Line({ refund, onTaken }: { refund: Refund; onTaken: () => void }) {
  const account = useAccount()
  const chain = findChain(account.chains, refund.network)
  const takeIt = (offered: Refund) => take(account, offered, chain!, onTaken)
  const elsewhere = async (typed: FormValues) => {
    const to = typed('to')
    const { refunds } = await readRefunds(account, to)
    const offered = refunds.find(
      (one) => one.owedBy === 'hub' && one.eid === refund.eid && one.transaction,
    )
    if (!offered) throw new Error('It is not there any more, or its chain does not answer now.')
    const text = `${moneyText(offered, chain)} go to ${to}.`
    if (await account.confirmed({ title: 'Send it there?', text, yes: 'Send' }))
      await takeIt(offered)
  }
  return (
    <li>
      <strong>{moneyText(refund, chain)}</strong>
      <span class="soft">{reasonText(refund, chain)}</span>
      {refund.transaction && chain && (
        <ActionButton work={() => takeIt(refund)}>Take it</ActionButton>
      )}
      {refund.needsReceiver && chain && (
        <Form label="Take it elsewhere" work={elsewhere} submit="Take it">
          <Input
            label="Receiver on the hub"
            hint="Your wallet is a contract, which may not exist there"
            {...NO_AUTOCORRECT_INPUT_ATTRIBUTES}
            name="to"
          />
        </Form>
      )}
    </li>
  )
}

async function take(
  account: Account,
  refund: Refund,
  chain: Chain,
  onTaken: () => void,
): Promise<void> {
  const { network, transaction } = refund
  await followPayment(
    account.pay(chain, transaction!.type === 'evm' ? transaction! : transaction!.data),
    {
      say: account.say,
      sent: 'Sent. It is off the list once the chain has confirmed it.',
      isDone: async () => {
        const { refunds, unavailable } = await readRefunds(account)
        // a chain that does not answer lists no refunds, which does not mean that this refund was taken
        return !unavailable.includes(network!) && !refunds.some((one) => bare(one) === bare(refund))
      },
      done() {
        onTaken()
        account.say('It is yours again.')
      },
    },
  )
}

/** A refund without the fields that may differ at each read. */
const bare = ({ transaction: _, needsReceiver: __, ...refund }: Refund) => JSON.stringify(refund)
