import type { ComponentChildren } from 'preact'
import { agoText } from '../lib/format.js'
import { BidAmount } from '../lib/money.js'
import type { FeedEvent, OwnedName } from '../lib/types.js'
import { InlineAddress, Link, NameLabel } from './basics.js'

/** Events as sentences. */

const NOBODY = /^0x0{40}$/

type Data = FeedEvent['data']
const text = (data: Data, field: string): string =>
  String((data as Record<string, unknown>)[field] ?? '')

/** Values of the placeholders in the sentences. @param from the event's actor */
const WORDS: Readonly<Record<string, (data: Data, from: string) => ComponentChildren>> = {
  ':name': (data) => <NameLabel name={text(data, 'name')} />,
  ':member': (data) => <NameLabel name={`${text(data, 'community')}/${text(data, 'name')}`} />,
  ':address': (data) => <InlineAddress address={text(data, 'address')} />,
  ':forOther': (data, from) =>
    text(data, 'address') === from ? null : (
      <>
        {' for '}
        <InlineAddress address={text(data, 'address')} />
      </>
    ),
  ':wallet': (data) => text(data, 'name'),
  ':price': (data) => <BidAmount amount={text(data, 'wei_amount')} />,
}

/** Sentence and colour of each event type, inserted by the build (scripts/build-web.ts). */
declare const EVENT_TEXTS: Readonly<Record<string, { sentence: string; tone: string }>>

const sentence = ({ type, data, from }: FeedEvent): ComponentChildren =>
  (EVENT_TEXTS[type]?.sentence ?? type).split(/(:\w+)/).map((word) => {
    const value = WORDS[word]
    return value ? value(data, from) : word
  })

function Item({ event, tx }: { event: FeedEvent; tx: string | null | undefined }) {
  const { id, type, from, timestamp } = event
  return (
    <li key={id} data-tone={EVENT_TEXTS[type]?.tone}>
      <span class="dot" aria-hidden="true" />
      <span class="what">
        {NOBODY.test(from) ? 'Somebody' : <InlineAddress address={from} />} {sentence(event)}
        {tx && ' '}
        {tx && <Link to={`/tx/${tx}`}>in this transaction</Link>}
      </span>
      <time dateTime={new Date(timestamp).toISOString()}>{agoText(timestamp)}</time>
    </li>
  )
}

/**
 * False for `CREATE_CLUSTER`, and for an `ADD_WALLET` of the actor's own address: both usually accompany the event
 * that says why the cluster was created.
 */
export const isInformativeEvent = ({ type, from, data }: FeedEvent): boolean =>
  type !== 'CREATE_CLUSTER' && !(type === 'ADD_WALLET' && data.address === from)

/** Events, newest first. @param names registered names with their transactions, for links to these */
export const EventList = ({ events, names = [] }: EventListProps) => (
  <ol class="events">
    {events.map((event) => {
      const { id, type, data } = event
      const name = type === 'REGISTER_NAME' ? names.find((one) => one.name === data.name) : null
      return <Item key={id} event={event} tx={name?.tx} />
    })}
  </ol>
)
interface EventListProps {
  events: readonly FeedEvent[]
  names?: readonly OwnedName[] | undefined
}
