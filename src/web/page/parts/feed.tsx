import type { ComponentChildren } from 'preact'
import { ago, amountText } from '../lib/format.js'
import type { FeedEvent } from '../lib/types.js'
import { Inline, Name } from './basics.js'

/** Events as sentences. */

const NOBODY = /^0x0{40}$/
const ETHER_DECIMALS = 18

type Data = FeedEvent['data']
const text = (data: Data, field: string): string => String(data[field] ?? '')

const SENTENCES: Readonly<Record<string, (data: Data) => ComponentChildren>> = {
  REGISTER_NAME: (data) => (
    <>
      registered <Name name={text(data, 'name')} /> for {amountText(text(data, 'wei_amount'), ETHER_DECIMALS)} ETH
    </>
  ),
  REGISTER_COMMUNITY_NAME: (data) => (
    <>
      got <Name name={`${text(data, 'community')}/${text(data, 'name')}`} /> for{' '}
      <Inline address={text(data, 'address')} />
    </>
  ),
  CREATE_CLUSTER: () => 'made a cluster',
  ADD_WALLET: (data) => (
    <>
      added <Inline address={text(data, 'address')} /> as {text(data, 'name')}
    </>
  ),
  VERIFY_WALLET: (data) => (
    <>
      verified <Inline address={text(data, 'address')} />
    </>
  ),
  UPDATE_WALLET_NAME: (data) => (
    <>
      named <Inline address={text(data, 'address')} /> {text(data, 'name')}
    </>
  ),
  REMOVE_WALLET: (data) => (
    <>
      removed <Inline address={text(data, 'address')} />
    </>
  ),
  BACKUP_WALLET: (data) => (
    <>
      backed up <Inline address={text(data, 'address')} />
    </>
  ),
  TRANSFER_NAME: (data) => (
    <>
      moved <Name name={text(data, 'name')} /> to another cluster
    </>
  ),
}

function Item({ event: { id, type, from, data, timestamp } }: { event: FeedEvent }) {
  const sentence = SENTENCES[type]
  return (
    <li key={id} data-type={type}>
      <span class="dot" aria-hidden="true" />
      <span class="what">
        {NOBODY.test(from) ? 'Somebody' : <Inline address={from} />} {sentence ? sentence(data) : type}
      </span>
      <time dateTime={new Date(timestamp).toISOString()}>{ago(timestamp)}</time>
    </li>
  )
}

/** Whether an event says more than the one it comes with: the first name of a wallet makes its cluster too. */
export const isTelling = ({ type, from, data }: FeedEvent): boolean =>
  type !== 'CREATE_CLUSTER' && !(type === 'ADD_WALLET' && data.address === from)

/** Events, newest first. */
export const Events = ({ events }: { events: readonly FeedEvent[] }) => (
  <ol class="events">
    {events.map((event) => (
      <Item key={event.id} event={event} />
    ))}
  </ol>
)
