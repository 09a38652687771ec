import type { ComponentChildren } from 'preact'
import { ClusterdError } from '../../../client/error.js'
import { isName } from '../../paths.js'
import { callApi } from '../lib/api.js'
import { chainName, findChain, priceText } from '../lib/format.js'
import {
  findCommunity,
  type ListPart,
  readNextItems,
  readNextNames,
  useListParts,
} from '../lib/lists.js'
import { eventNumber } from '../lib/live.js'
import { ensNameOf } from '../lib/names.js'
import { type ApiState, useApi, useNetwork, usePolled, useTitle } from '../lib/net.js'
import { findCluster, isNameTaken, useNameAvailabilityAndPrice } from '../lib/offer.js'
import type {
  Airdrop,
  Chain,
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
  MoreButton,
  NameLabel,
  NameList,
  NamePicture,
  VerifiedBadge,
} from '../parts/basics.js'
import { EventList } from '../parts/feed.js'
import { NotFound } from './notFound.js'

/** Number of a cluster's wallets whose history is read. */
const ACTORS = 6
/** Number of events of a history: shown at first, added by each "more", and read at most. */
const EVENTS = { first: 25, next: 100, most: 1_000 }

const isMissing = (error: Error | undefined): boolean =>
  error instanceof ClusterdError && error.status === 404

/** `/:name`: the cluster that holds a name. If only the other network has the name, its cluster there. */
export function NamePage({ name }: { name: string }) {
  const { isTestnet, get } = useNetwork()
  const cluster = usePolled<Cluster | null>(`${name} ${isTestnet}`, (signal) =>
    findCluster(name, { isTestnet, signal }),
  )
  const community = usePolled<Community | null>(`${name} ${isTestnet}`, (signal) =>
    findCommunity(name, (path) => get(path, signal)),
  )
  const { error } = cluster
  const ens = ensNameOf(name, isTestnet)
  useTitle(`${name}/`)
  if (cluster.data === null || isMissing(error)) return <FreeName name={name} />
  return (
    <>
      <Head picture={name} title={<NameLabel name={name} />}>
        <p class="soft">
          {cluster.data ? summaryOf(cluster.data) : (error?.message ?? 'Looking it up…')}
        </p>
        {ens && (
          <p>
            <CopyableText text={ens} isWhole />
          </p>
        )}
      </Head>
      {community.data && <Rules name={name} community={community.data} />}
      <ClusterView asked={cluster as ApiState<Cluster>} />
      {community.data && <Members community={name} />}
    </>
  )
}

const Head = ({ picture, title, class: className, children }: HeadProps) => (
  <div class="head">
    {picture && <NamePicture name={picture} size={88} />}
    <div>
      <h1 class={className}>{title}</h1>
      {children}
    </div>
  </div>
)
interface HeadProps {
  picture: string | null | undefined
  title: ComponentChildren
  class?: string
  children: ComponentChildren
}

const summaryOf = ({ wallets, createdAt }: Cluster): string =>
  `${wallets.length} public ${wallets.length === 1 ? 'wallet' : 'wallets'} · since ${createdAt.slice(0, 10)}`

function FreeName({ name }: { name: string }) {
  const { isTestnet, href } = useNetwork()
  const elsewhere = usePolled<boolean>(`${name} ${isTestnet}`, (signal) =>
    isNameTaken(name, { isTestnet: !isTestnet, signal }),
  )
  return (
    <Head picture={name} title={<NameLabel name={name} />}>
      <p>Nobody holds this name on the {isTestnet ? 'testnet' : 'mainnet'}.</p>
      <Terms name={name} />
      <p class="row">
        <Link to={`/@register?name=${name}`} class="button">
          Register it
        </Link>
        {elsewhere.data && (
          <a href={href(`/${name}`, !isTestnet)}>See who holds it on the other network</a>
        )}
      </p>
    </Head>
  )
}

/** Terms of a free name on the hub, or the reason why it can't be registered now. */
function Terms({ name }: { name: string }) {
  return (
    <LoadedContent asked={useNameAvailabilityAndPrice(name)} lines={1}>
      {({ text }) => <p class="soft">{text}</p>}
    </LoadedContent>
  )
}

/** Rules of a community as sentences. */
function Rules({
  name,
  community: { prices, ownersOnly, requirements },
}: {
  name: string
  community: Community
}) {
  const chains = useApi<Chain[]>('/v1/networks')
  const airdrops = useApi<Airdrop[]>('/v1/airdrops')
  const airdrop = airdrops.data?.find(({ community }) => community === name)
  if (!chains.data) return null
  const known = chains.data
  const costs = prices.map(
    (price) =>
      `${priceText(price, findChain(known, price.network))} on ${chainName(price.network)}`,
  )
  return (
    <p class="note">
      <Badge kind="veil">community</Badge>
      {ownersOnly
        ? 'Its cluster gives names here.'
        : `Anybody may have a name here${costs.length > 0 ? ` for ${costs.join(' or ')}` : ', free'}.`}
      {requirements.length > 0 &&
        ` Who wants one has to meet ${requirements.length} ${requirements.length === 1 ? 'requirement' : 'requirements'}.`}
      {!ownersOnly && <Link to={`/@communities?community=${name}`}>Get one</Link>}
      {airdrop && (
        <span>
          Its airdrop of {airdrop.total} base units ends on {airdrop.endsAt.slice(0, 10)}.{' '}
          <Link to="/@airdrops">See what it gives you</Link>
        </span>
      )}
    </p>
  )
}

/** Names per part of the list of members. */
const MEMBERS = 25

/** Names below a community, and their owners. */
function Members({ community }: { community: string }) {
  const { asked, more } = useListParts<CommunityMember>(community, (known, get) =>
    readNextItems(`/v1/communities/${community}/members`, MEMBERS, known, get),
  )
  return (
    <Card title="Members">
      <LoadedContent asked={asked}>
        {({ items, isMore }) =>
          items.length === 0 ? (
            <p class="empty">Nobody has a name here yet.</p>
          ) : (
            <>
              <ul class="rows">
                {items.map(({ name, owner }) => (
                  <li key={name}>
                    <NameLabel name={`${community}/${name}`} />
                    <CopyableAddress address={owner} />
                  </li>
                ))}
              </ul>
              <MoreButton isMore={isMore} onMore={more} />
            </>
          )
        }
      </LoadedContent>
    </Card>
  )
}

/** A cluster's wallets, names and history. */
function ClusterView({ asked }: { asked: ApiState<Cluster> }) {
  const wallets = asked.data?.wallets
  const first = wallets?.find(({ isVerified }) => isVerified)
  return (
    <div class="columns">
      <div>
        <Card title="Wallets">
          <LoadedContent asked={asked}>
            {({ wallets }) => (
              <ul class="rows">
                {wallets.map(({ address, name, isVerified }) => (
                  <li key={address}>
                    <strong>{name}</strong>
                    <CopyableAddress address={address} />
                    <VerifiedBadge isVerified={isVerified} />
                  </li>
                ))}
              </ul>
            )}
          </LoadedContent>
        </Card>
        <Card title="Names">
          {asked.data && !first ? (
            <p class="empty">No name yet.</p>
          ) : (
            <Owned address={first?.address} />
          )}
        </Card>
        {asked.data && (
          <p class="soft id">
            Cluster <CopyableText text={asked.data.id} />
          </p>
        )}
      </div>
      <Card title="History">
        <History addresses={wallets?.map(({ address }) => address)} />
      </Card>
    </div>
  )
}

/** Names that a wallet owns. `address` is undefined while it is not known. */
function Owned({ address }: { address: string | undefined }) {
  const { asked, more } = useListParts<OwnedName>(address ?? null, (known, get) =>
    readNextNames(address!, known, get),
  )
  return (
    <LoadedContent asked={asked} lines={1}>
      {({ items, isMore }) => <NameList names={items} isMore={isMore} onMore={more} />}
    </LoadedContent>
  )
}

/** Changes that wallets made, newest first. `addresses` is undefined while they are not known. */
function History({ addresses }: { addresses: readonly string[] | undefined }) {
  const actors = addresses?.slice(0, ACTORS) ?? []
  const key = addresses ? actors.join(' ') : null
  const { asked, more } = useListParts<FeedEvent>(
    key,
    async (known, get): Promise<ListPart<FeedEvent>> => {
      // the list is merged from several lists, so reading more means reading all again
      const limit =
        known.length === 0 ? EVENTS.first : Math.min(known.length + EVENTS.next, EVENTS.most)
      const pageOf = (address: string) =>
        get<{ items: FeedEvent[] }>(`/v1/events?from=${address}&orderBy=newest&limit=${limit}`)
      const items = (await Promise.all(actors.map(pageOf))).flatMap(({ items }) => items)
      items.sort((a, b) => eventNumber(b) - eventNumber(a))
      return { items: items.slice(0, limit), isMore: items.length >= limit }
    },
  )
  return (
    <LoadedContent asked={asked} lines={5}>
      {({ items, isMore }) =>
        items.length === 0 ? (
          <p class="empty">It has done nothing in public.</p>
        ) : (
          <>
            <EventList events={items} />
            <MoreButton
              isMore={isMore && items.length < EVENTS.most}
              onMore={more}
              atEnd={isMore ? 'What is older is in the feed of events alone.' : undefined}
            />
            {addresses && addresses.length > ACTORS && (
              <p class="soft">
                Of the first {ACTORS} of its {addresses.length} wallets.
              </p>
            )}
          </>
        )
      }
    </LoadedContent>
  )
}

/** `/:community/:name`: the owner of a name below a community. A wallet name of a cluster has the same form. */
export function NameBelowCommunityPage({ community, name }: { community: string; name: string }) {
  const full = `${community}/${name}`
  const { isTestnet } = useNetwork()
  const found = usePolled<NameRecord | null>(`${full} ${isTestnet}`, async (signal) => {
    const records = await callApi<NameRecord[]>('/v1/names', {
      isTestnet,
      signal,
      body: [{ name: full }],
    })
    return records[0] ?? null
  })
  useTitle(full)
  return (
    <>
      <Head
        picture={community}
        title={
          <>
            <NameLabel name={community} />
            {name}
          </>
        }
      >
        <LoadedContent asked={found} lines={1}>
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
              <FreeMember community={community} name={name} />
            )
          }
        </LoadedContent>
      </Head>
      {found.data && <AddressView address={found.data.address} />}
    </>
  )
}

/**
 * Page text for a name below a community that nobody holds: a link to get the name, or to the name above if that is no
 * community.
 */
function FreeMember({ community, name }: { community: string; name: string }) {
  const { isTestnet, get } = useNetwork()
  const asked = usePolled<Community | null>(`${community} ${isTestnet}`, (signal) =>
    findCommunity(community, (path) => get(path, signal)),
  )
  if (asked.data === null)
    return (
      <>
        <p>
          Nobody has this name, and {community}/ is no community: no names are registered below it.
        </p>
        <p>
          <Link to={`/${community}`}>Look up {community}/</Link>
        </p>
      </>
    )
  return (
    <LoadedContent asked={asked} lines={1}>
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
  const { isTestnet } = useNetwork()
  // use the route of many addresses: it answers 200 for an unknown address
  const record = usePolled<NameRecord>(`${address} ${isTestnet}`, async (signal) => {
    const asked = { isTestnet, signal, body: [address] }
    const [found] = await callApi<NameRecord[]>('/v1/names/address', asked)
    return found!
  })
  useTitle(address)
  // `address/<name>` can also be a name below the community `address`; only the service knows every form of addresses
  if (record.data?.type === null && isName(address))
    return <NameBelowCommunityPage community="address" name={address.toLowerCase()} />
  if (record.data?.type === null) return <NotFound text={address} />
  const { clusterName, walletName } = record.data ?? {}
  return (
    <>
      <Head picture={clusterName} title={<CopyableText text={address} isWhole />} class="address">
        <LoadedContent asked={record} lines={1}>
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
      </Head>
      {record.data && <AddressView address={record.data.address} />}
    </>
  )
}

function AddressView({ address }: { address: string }) {
  const cluster = useApi<{ clusterId: string | null }>(
    `/v1/clusters/address/${encodeURIComponent(address)}?orNull=true`,
  )
  const found = useApi<Cluster>(
    cluster.data?.clusterId ? `/v1/clusters/id/${cluster.data.clusterId}` : null,
  )
  // wait for the cluster: otherwise only the names would be shown, and then replaced
  if (!cluster.data && !cluster.error)
    return <LoadedContent asked={cluster}>{() => null}</LoadedContent>
  if (cluster.data?.clusterId) return <ClusterView asked={found} />
  return (
    <div class="columns">
      <Card title="Names">
        <Owned address={address} />
      </Card>
      <Card title="History">
        <History addresses={[address]} />
      </Card>
    </div>
  )
}
