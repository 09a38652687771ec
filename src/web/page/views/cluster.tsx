import type { ComponentChildren } from 'preact'
import { isName } from '../../paths.js'
import { callApi, isNotFoundError } from '../lib/api.js'
import { chainName, countText, utcMinuteText } from '../lib/format.js'
import { findCommunity, readNextItems, readNextNames, useListParts } from '../lib/lists.js'
import { Money } from '../lib/money.js'
import { ensNameOf } from '../lib/names.js'
import { useApi, useNetwork, usePolled, useTitle } from '../lib/net.js'
import { findCluster, isNameTaken, readNameAvailabilityAndPrice } from '../lib/offer.js'
import type {
  Airdrop,
  Cluster,
  Community,
  CommunityMember,
  FeedEvent,
  NameRecord,
  OwnedName,
} from '../lib/types.js'
import {
  Badge,
  Card,
  CopyableAddress,
  CopyableText,
  Link,
  LoadedContent,
  LoadedList,
  NameLabel,
  NameList,
  NamePicture,
  VerifiedBadge,
  WalletBadges,
} from '../parts/basics.js'
import { EventList } from '../parts/feed.js'
import { NotFound } from './notFound.js'

/** The history of a cluster has the events of at most this many wallets, which are the first in its list. */
const MAX_HISTORY_WALLETS = 6
/** Numbers of events of a history: shown at first, added by each "Show more", and shown at most. */
const HISTORY_EVENT_COUNTS = { first: 25, next: 100, most: 1_000 }

/** Number of an event in its feed, which is the last part of its id. */
const eventNumber = ({ id }: FeedEvent): number => Number(id.slice(id.lastIndexOf('-') + 1))

/** `/:name`: the cluster that holds a name; for a name that nobody holds, how to register it (`FreeNameView`). */
export function NamePage({ name }: { name: string }) {
  const { isTestnet } = useNetwork()
  const cluster = usePolled(name, (context) => findCluster(name, context))
  const community = usePolled(name, ({ get }) => findCommunity(name, get))
  const { error } = cluster
  const ens = ensNameOf(name, isTestnet)
  useTitle(`${name}/`)
  if (cluster.data === null || isNotFoundError(error)) return <FreeNameView name={name} />
  return (
    <>
      <PageHead picture={name} title={<NameLabel name={name} />}>
        <p class="soft">
          {cluster.data ? <ClusterSummary {...cluster.data} /> : !error && 'Looking it up…'}
        </p>
        {ens && (
          <p>
            <CopyableText text={ens} isWhole />
          </p>
        )}
      </PageHead>
      {community.data && <CommunityRules name={name} community={community.data} />}
      <LoadedContent state={cluster}>{(data) => <ClusterHoldings cluster={data} />}</LoadedContent>
      {community.data && <MemberList community={name} />}
    </>
  )
}

const PageHead = ({ picture, title, class: className, children }: PageHeadProps) => (
  <div class="head">
    {picture && <NamePicture name={picture} size={88} />}
    <div>
      <h1 class={className}>{title}</h1>
      {children}
    </div>
  </div>
)
interface PageHeadProps {
  picture: string | null | undefined
  title: ComponentChildren
  class?: string
  children: ComponentChildren
}

const ClusterSummary = ({ wallets, createdAt }: Cluster) => (
  <>
    {countText(wallets.length, 'public wallet')} · since <time>{createdAt.slice(0, 10)}</time>
  </>
)

function FreeNameView({ name }: { name: string }) {
  const { isTestnet, href } = useNetwork()
  const elsewhere = usePolled(name, (context) =>
    isNameTaken(name, { ...context, isTestnet: !isTestnet }),
  )
  // terms on the hub, or the reason why the name can't be registered now
  const terms = usePolled(name, (context) => readNameAvailabilityAndPrice(name, context))
  return (
    <PageHead picture={name} title={<NameLabel name={name} />}>
      <p>Nobody holds this name on the {isTestnet ? 'testnet' : 'mainnet'}.</p>
      <LoadedContent state={terms} lines={1}>
        {({ text }) => <p class="soft">{text}</p>}
      </LoadedContent>
      <p class="row">
        <Link to={`/@register?name=${name}`} class="button">
          Register it
        </Link>
        {elsewhere.data && (
          <a href={href(`/${name}`, !isTestnet)}>See who holds it on the other network</a>
        )}
      </p>
    </PageHead>
  )
}

/** Rules of a community as sentences. */
function CommunityRules({ name, community }: { name: string; community: Community }) {
  const { prices, ownersOnly, requirements, startsAt } = community
  const airdrops = useApi<Airdrop[]>('/v1/airdrops')
  const airdrop = airdrops.data?.find(({ community }) => community === name)
  const isLater = startsAt && Date.parse(startsAt) > Date.now()
  return (
    <p class="note">
      <Badge kind="veil">community</Badge>
      <span>
        {ownersOnly ? (
          'Its bundle gives names here.'
        ) : (
          <>
            Anybody may have a name here{prices.length > 0 ? ' for ' : ', free'}
            {prices.map((price, i) => (
              <span key={`${price.network} ${price.token}`}>
                {i > 0 && ' or '}
                <Money {...price} /> on {chainName(price.network)}
              </span>
            ))}
            .
          </>
        )}
        {isLater && ` It opens on ${utcMinuteText(startsAt)}.`}
        {requirements.length > 0 &&
          ` Who wants one has to meet ${countText(requirements.length, 'requirement')}.`}
      </span>
      {!ownersOnly && <Link to={`/@communities?community=${name}`}>Get one</Link>}
      {airdrop && (
        <span>
          Its airdrop of <Money {...airdrop} amount={airdrop.total} /> ends on{' '}
          {airdrop.endsAt.slice(0, 10)}. <Link to="/@airdrops">See what it gives you</Link>
        </span>
      )}
    </p>
  )
}

/** Number of names in a part of the list of members. */
const MEMBERS_PART_SIZE = 25

/** Names below a community, and their owners. */
function MemberList({ community }: { community: string }) {
  const list = useListParts<CommunityMember>(community, (known, get) =>
    readNextItems(`/v1/communities/${community}/members`, MEMBERS_PART_SIZE, known, get),
  )
  return (
    <Card title="Members">
      <LoadedList {...list} empty="Nobody has a name here yet.">
        {(members) => (
          <ul class="rows">
            {members.map(({ name, owner }) => (
              <li key={name}>
                <NameLabel name={`${community}/${name}`} />
                <CopyableAddress address={owner} />
              </li>
            ))}
          </ul>
        )}
      </LoadedList>
    </Card>
  )
}

/**
 * The wallets and names of a cluster beside its history.
 * @param cluster null for an address without one
 */
function ClusterHoldings({ cluster, address }: { cluster: Cluster | null; address?: string }) {
  const owner = cluster ? cluster.wallets.find(({ isVerified }) => isVerified)?.address : address
  const names = useListParts<OwnedName>(owner ?? null, (known, get) =>
    readNextNames(owner!, known, get),
  )
  return (
    <div class="columns">
      <div>
        {cluster && cluster.wallets.length > 0 && (
          <Card title="Wallets">
            <ul class="rows">
              {cluster.wallets.map((wallet) => (
                <li key={wallet.address}>
                  <strong>{wallet.name}</strong>
                  <CopyableAddress address={wallet.address} />
                  <WalletBadges {...wallet} />
                </li>
              ))}
            </ul>
          </Card>
        )}
        <Card title="Names">
          {owner ? (
            <LoadedList {...names} lines={1} empty="No name yet.">
              {(names) => <NameList names={names} />}
            </LoadedList>
          ) : (
            <p class="empty">No public wallet is verified here, so its names are not shown.</p>
          )}
        </Card>
        {cluster && (
          <p class="soft id">
            Bundle <CopyableText text={cluster.id} />
          </p>
        )}
      </div>
      <Card title="History">
        <EventHistory
          addresses={cluster ? cluster.wallets.map(({ address }) => address) : [address!]}
          names={names.state.data?.items}
        />
      </Card>
    </div>
  )
}

/** Events of the first `MAX_HISTORY_WALLETS` addresses, newest first. @param names as for `EventList` */
function EventHistory({ addresses, names }: EventHistoryProps) {
  const actors = addresses.slice(0, MAX_HISTORY_WALLETS)
  const list = useListParts<FeedEvent>(actors.join(' '), async (known, get) => {
    // the list is merged from one list an address, so reading more means reading all again
    const limit =
      known.length === 0
        ? HISTORY_EVENT_COUNTS.first
        : Math.min(known.length + HISTORY_EVENT_COUNTS.next, HISTORY_EVENT_COUNTS.most)
    const pageOf = (address: string) =>
      get<{ items: FeedEvent[] }>(`/v1/events?from=${address}&orderBy=newest&limit=${limit}`)
    const items = (await Promise.all(actors.map(pageOf))).flatMap(({ items }) => items)
    items.sort((a, b) => eventNumber(b) - eventNumber(a))
    return { items: items.slice(0, limit), isMore: items.length >= limit }
  })
  const { data } = list.state
  const isFull = data !== undefined && data.items.length >= HISTORY_EVENT_COUNTS.most
  const state = isFull ? { data: { ...data, isMore: false } } : list.state
  return (
    <LoadedList
      {...list}
      state={state}
      lines={5}
      empty="It has done nothing in public."
      atEnd={data?.isMore ? 'What is older is in the feed of events alone.' : undefined}
    >
      {(events) => (
        <>
          <EventList events={events} names={names} />
          {addresses.length > MAX_HISTORY_WALLETS && (
            <p class="soft">
              Of the first {MAX_HISTORY_WALLETS} of its {addresses.length} wallets.
            </p>
          )}
        </>
      )}
    </LoadedList>
  )
}

interface EventHistoryProps {
  addresses: readonly string[]
  names: readonly OwnedName[] | undefined
}

/**
 * `/:community/:name`: the owner of a name below a community. A wallet's name in a cluster has the same form
 * (`alice/main`), so the page also shows such a wallet.
 */
export function NameBelowCommunityPage({ community, name }: { community: string; name: string }) {
  const full = `${community}/${name}`
  const owner = usePolled(full, async (context) => {
    const body = [{ name: full }]
    const records = await callApi<NameRecord[]>('/v1/names', { ...context, body })
    return records[0] ?? null
  })
  useTitle(full)
  return (
    <>
      <PageHead
        picture={community}
        title={
          <>
            <NameLabel name={community} />
            {name}
          </>
        }
      >
        <LoadedContent state={owner} lines={1}>
          {(record) =>
            record ? (
              <>
                <p class="row">
                  <CopyableAddress address={record.address} isWhole />
                  <VerifiedBadge isVerified={record.isVerified} />
                </p>
                {!record.isVerified && (
                  <p class="soft">
                    {community}/ says that this wallet belongs to it. The wallet has not confirmed
                    that.
                  </p>
                )}
              </>
            ) : (
              <FreeMemberHint community={community} name={name} />
            )
          }
        </LoadedContent>
      </PageHead>
      {owner.data && <AddressView address={owner.data.address} />}
    </>
  )
}

/**
 * Hint for `community/name` where nobody holds that name: a link to get the name. If `community` is not a community,
 * the link leads to its page.
 */
function FreeMemberHint({ community, name }: { community: string; name: string }) {
  const rules = usePolled(community, ({ get }) => findCommunity(community, get))
  if (rules.data === null)
    return (
      <>
        <p>
          Nobody has this name, and {community}/ is no community: no names are registered below it.
          {community === 'tx' && ' It is no transaction either: a hash has 64 hexadecimal digits.'}
        </p>
        <p>
          <Link to={`/${community}`}>Look up {community}/</Link>
        </p>
      </>
    )
  return (
    <LoadedContent state={rules} lines={1}>
      {() => (
        <>
          <p>Nobody has this name.</p>
          <Link to={`/@communities?community=${community}&name=${name}`} class="button">
            Get the name
          </Link>
        </>
      )}
    </LoadedContent>
  )
}

/** `/address/:a`: the name of an address, its own names and its history. */
export function AddressPage({ address }: { address: string }) {
  // use the route of many addresses: it answers 200 for an unknown address
  const record = usePolled(address, async (context) => {
    const body = [address]
    const [first] = await callApi<NameRecord[]>('/v1/names/address', { ...context, body })
    return first!
  })
  useTitle(address)
  // `address/<name>` can also be a name below the community `address`: only the service knows every form of addresses
  if (record.data?.type === null && isName(address))
    return <NameBelowCommunityPage community="address" name={address.toLowerCase()} />
  if (record.data?.type === null) return <NotFound text={address} />
  const { clusterName, walletName } = record.data ?? {}
  return (
    <>
      <PageHead
        picture={clusterName}
        title={<CopyableText text={address} isWhole />}
        class="address"
      >
        <LoadedContent state={record} lines={1}>
          {({ type, isVerified }) =>
            clusterName ? (
              <p class="row">
                <NameLabel name={clusterName} />
                {walletName && !clusterName.includes('/') && (
                  <span class="soft">wallet {walletName}</span>
                )}
                <VerifiedBadge isVerified={isVerified} />
                <Badge>{type}</Badge>
              </p>
            ) : (
              <p class="row">
                It has no name in public.
                <Badge>{type}</Badge>
              </p>
            )
          }
        </LoadedContent>
      </PageHead>
      {record.data && <AddressView address={record.data.address} />}
    </>
  )
}

function AddressView({ address }: { address: string }) {
  const cluster = usePolled(address, async ({ get }) => {
    const path = `/v1/clusters/address/${encodeURIComponent(address)}?orNull=true`
    const { clusterId } = await get<{ clusterId: string | null }>(path)
    return clusterId ? get<Cluster>(`/v1/clusters/id/${clusterId}`) : null
  })
  return (
    <LoadedContent state={cluster}>
      {(data) => <ClusterHoldings cluster={data} address={address} />}
    </LoadedContent>
  )
}
