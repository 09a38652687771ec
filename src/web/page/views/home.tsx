import { chainName, groupedDigits } from '../lib/format.js'
import { useApi, useTitle } from '../lib/net.js'
import type { FeedEvent, Overview } from '../lib/types.js'
import { Badge, Card, FactList, Link, LoadedContent } from '../parts/basics.js'
import { CommunityList } from '../parts/communities.js'
import { EventList, isInformativeEvent } from '../parts/feed.js'
import { SearchBox } from '../parts/search.js'

/** Number of newest events that are requested. Not all of them are informative enough to be shown. */
const REQUESTED_EVENTS = 40
/** Maximum number of events shown. */
const MAX_SHOWN_EVENTS = 10
const FEED_POLL_MS = 2_000
const OVERVIEW_POLL_MS = 5_000
/** Lag of a chain's index from which the page shows a warning, seconds. */
const WARNING_LAG_SECONDS = 60

const TotalCounts = ({ counts: { clusters, events } }: Pick<Overview, 'counts'>) => (
  <FactList
    class="counts"
    facts={{ bundles: groupedDigits(clusters), events: groupedDigits(events) }}
  />
)

function ChainList({ chains }: Pick<Overview, 'chains'>) {
  return (
    <ul class="chains">
      {chains.map(({ network, block, behindSeconds, isHealthy }) => (
        <li key={network}>
          <span class={`lamp ${isHealthy ? 'good' : 'bad'}`} aria-hidden="true" />
          <span>{chainName(network)}</span>
          <span class="soft">
            {block === null ? 'no answer yet' : `block ${groupedDigits(block)}`}
          </span>
          {isHealthy && (behindSeconds ?? 0) < WARNING_LAG_SECONDS ? (
            <Badge kind="good">current</Badge>
          ) : (
            <Badge kind="bad">
              {behindSeconds === null ? 'away' : `${groupedDigits(behindSeconds)} s behind`}
            </Badge>
          )}
        </li>
      ))}
    </ul>
  )
}

/** `/`: the search, the newest events, totals, chains and communities. */
export function Home() {
  const newest = useApi<{ items: FeedEvent[] }>(
    `/v1/events?orderBy=newest&limit=${REQUESTED_EVENTS}`,
    {
      everyMs: FEED_POLL_MS,
    },
  )
  const overview = useApi<Overview>('/v1/overview', { everyMs: OVERVIEW_POLL_MS })
  useTitle('')
  return (
    <>
      <div class="hero">
        <h1>One name for all your wallets</h1>
        <p class="soft">
          Look up who is behind a name, what an address is called, and where a transaction has got
          to.
        </p>
        <SearchBox isLarge />
        <p class="soft">
          Looking up is free, and needs no account. To <Link to="/@register">register a name</Link>,
          sign in with your wallet.
        </p>
      </div>
      <div class="columns">
        <Card title="Happening now" aside={<span class="pulse" aria-hidden="true" />}>
          <LoadedContent state={newest} lines={8}>
            {({ items }) =>
              items.length > 0 ? (
                <EventList events={items.filter(isInformativeEvent).slice(0, MAX_SHOWN_EVENTS)} />
              ) : (
                <p class="empty">Nothing yet: register the first name.</p>
              )
            }
          </LoadedContent>
        </Card>
        <div>
          <Card title="Totals">
            <LoadedContent state={overview} lines={5}>
              {TotalCounts}
            </LoadedContent>
          </Card>
          <Card title="Chains">
            <LoadedContent state={overview}>{ChainList}</LoadedContent>
          </Card>
          <CommunityList />
        </div>
      </div>
    </>
  )
}
