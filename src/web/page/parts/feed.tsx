import type { ComponentChildren } from 'preact'
import { agoText } from '../lib/format.js'
import { BidAmount } from '../lib/money.js'
import type { FeedEvent, OwnedName } from '../lib/types.js'
import { InlineAddress, Link, NameLabel } from './basics.js'

/** Pattern of the zero address, which an event without an actor has. */
const ZERO_ADDRESS_PATTERN = /^0x0{40}$/

type EventData = FeedEvent['data']
const fieldText = (data: EventData, field: string): string =>
  String((data as Record<string, unknown>)[field] ?? '')

/** Content for each placeholder in the sentences of `EVENT_TEXTS`. @param from the event's actor */
const PLACEHOLDER_VALUES: Readonly<
  Record<string, (data: EventData, from: string) => ComponentChildren>
> = {
  ':name': (data) => <NameLabel name={fieldText(data, 'name')} />,
  ':member': (data) => (
    <NameLabel name={`${fieldText(data, 'community')}/${fieldText(data, 'name')}`} />
  ),
  ':address': (data) => <InlineAddress address={fieldText(data, 'address')} />,
  ':forOther': (data, from) =>
    fieldText(data, 'address') === from ? null : (
      <>
        {' for '}
        <InlineAddress address={fieldText(data, 'address')} />
      </>
    ),
  ':wallet': (data) => fieldText(data, 'name'),
  ':price': (data) => <BidAmount amount={fieldText(data, 'wei_amount')} />,
}

/** Sentence and colour of each event type, inserted by the build (scripts/build-web.ts). */
declare const EVENT_TEXTS: Readonly<Record<string, { sentence: string; tone: string }>>

const eventSentence = ({ type, data, from }: FeedEvent): ComponentChildren =>
  (EVENT_TEXTS[type]?.sentence ?? type).split(/(:\w+)/).map((word) => {
    const value = PLACEHOLDER_VALUES[word]
    return value ? value(data, from) : word
  })

function EventRow({ event, tx }: { event: FeedEvent; tx: string | null | undefined }) {
  const { id, type, from, timestamp } = event
  return (
    <li key={id} data-tone={EVENT_TEXTS[type]?.tone}>
      <span class="dot" aria-hidden="true" />
      <span class="what">
        {ZERO_ADDRESS_PATTERN.test(from) ? 'Somebody' : <InlineAddress address={from} />}{' '}
        {eventSentence(event)}
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

/** Events in the given order. @param names registered names, whose events get links to the transactions */
export const EventList = ({ events, names = [] }: EventListProps) => (
  <ol class="events">
    {events.map((event) => {
      const { id, type, data } = event
      const name = type === 'REGISTER_NAME' ? names.find((one) => one.name === data.name) : null
      return <EventRow key={id} event={event} tx={name?.tx} />
    })}
  </ol>
)
interface EventListProps {
  events: readonly FeedEvent[]
  names?: readonly OwnedName[] | undefined
}
