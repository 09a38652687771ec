/**
 * The public event types, one row for each. The journal's bytes, both versions of the feed, the OpenAPI documents,
 * the client's types, the pages' sentences, the mirror's readers and docs/use/events.md are derived from these rows.
 */

/** Types of field values by kind. `Cluster`: serial of a cluster within the journal, public id (hex) outside of it. */
export interface EventFieldValues<Cluster> {
  cluster: Cluster
  clusterOrNull: Cluster | null
  name: string
  /** Stored address of the wallet. */
  wallet: Buffer
  wei: bigint
  flag: boolean
}
export type EventFieldKind = keyof EventFieldValues<unknown>

export interface EventField {
  kind: EventFieldKind
  /** Name in `data` of the API's v1; null for a field of the wallet (`PublicWallet`) that only v0.1 shows. */
  v1: string | null
  description?: string
  example?: string
}
export type EventFields = Readonly<Record<string, EventField>>

/** Values of an event's fields. With `V1` = `string`, only of the fields that the API's v1 shows. */
type ValuesOf<F extends EventFields, Cluster, V1> = {
  -readonly [Key in keyof F as F[Key]['v1'] extends V1
    ? Key
    : never]: EventFieldValues<Cluster>[F[Key]['kind']]
}

/** Event types in the API's v0.1. It shows several of our types as one of these, and leaves out all other types. */
export type V01EventType = 'register' | 'updateWallet' | 'removeWallet'

/** Fields of a wallet in a cluster that events show. */
export interface PublicWallet {
  name: string
  isVerified: boolean
  isBackedUp: boolean
}
/** Key of a wallet in a cluster. */
interface ClusterWalletKey {
  cluster: string
  wallet: Buffer
}

/** State of a mirror. A method throws for an event that does not fit the state. */
export interface MirrorState {
  createCluster(event: { cluster: string }): void
  addWallet(event: ClusterWalletKey & PublicWallet): void
  changeWallet(key: ClusterWalletKey, change: Partial<PublicWallet>): void
  removeWallet(key: ClusterWalletKey): void
  registerName(event: { name: string; amountWei: bigint; cluster: string }): void
  transferName(event: { name: string; cluster: string; from: string }): void
  registerCommunityName(event: {
    community: string
    name: string
    wallet: Buffer
    cluster: string | null
  }): void
}

interface EventRow<F extends EventFields, V01 extends V01EventType | null> {
  /** Code of the event type in stored bytes: never renumber. */
  code: number
  /** When the event is published. Private wallets publish no events. */
  published: string
  /** Rest of the pages' sentence that begins with the actor. src/web/page/parts/feed.tsx defines its placeholders. */
  sentence: string
  /** Colour of the event's dot on the pages. src/web/page/style.css has a rule for each tone but `plain`. */
  tone: 'plain' | 'name' | 'member' | 'loss' | 'move'
  /** Event type in the API's v0.1; null where v0.1 leaves the event out. */
  v01: V01
  /**
   * Fields in the order of `data` in the API's v1. In the binary form the clusters come first, then the other fields in
   * this order.
   */
  fields: F
  /** Applies the event to a mirror's state. Does nothing for an event that changes no state. */
  apply(state: MirrorState, event: ValuesOf<F, string, string>): void
}

const createEventRow = <const F extends EventFields, const V01 extends V01EventType | null>(
  row: EventRow<F, V01>,
) => ({
  ...row,
  list: Object.entries<EventField>(row.fields).map(([key, field]) => {
    const isCluster = field.kind === 'cluster' || field.kind === 'clusterOrNull'
    return { key, ...field, isCluster }
  }),
})

const CLUSTER_FIELD = {
  kind: 'cluster',
  v1: 'cluster_id',
  description: 'The cluster’s id',
} as const
const NAME_FIELD = { kind: 'name', v1: 'name', description: 'The name', example: 'foobar' } as const
const WALLET_FIELD = { kind: 'wallet', v1: 'address', description: 'The wallet' } as const
const WALLET_NAME_FIELD = {
  kind: 'name',
  v1: 'name',
  description: 'Its name in the cluster',
  example: 'main',
} as const

export const EVENTS = {
  CREATE_CLUSTER: createEventRow({
    code: 1,
    published:
      'A cluster was made, by its first signed change or by the first name that its wallet won',
    sentence: 'made a bundle',
    tone: 'plain',
    v01: null,
    fields: { cluster: CLUSTER_FIELD },
    apply: (state, event) => state.createCluster(event),
  }),
  ADD_WALLET: createEventRow({
    code: 2,
    published: 'A wallet was added to a cluster in public, or a private one became public',
    sentence: 'added :address as :wallet',
    tone: 'plain',
    v01: 'updateWallet',
    fields: {
      name: WALLET_NAME_FIELD,
      wallet: WALLET_FIELD,
      cluster: CLUSTER_FIELD,
      isVerified: { kind: 'flag', v1: 'is_verified' },
      isBackedUp: { kind: 'flag', v1: 'is_backed_up' },
    },
    apply: (state, event) => state.addWallet(event),
  }),
  REGISTER_NAME: createEventRow({
    code: 8,
    published: 'A confirmed bid on the hub won a name for the cluster',
    sentence: 'registered :name for :price',
    tone: 'name',
    v01: 'register',
    fields: {
      name: NAME_FIELD,
      amountWei: { kind: 'wei', v1: 'wei_amount', description: 'The bid, wei of ETH' },
      cluster: CLUSTER_FIELD,
    },
    apply: (state, event) => state.registerName(event),
  }),
  UPDATE_WALLET_NAME: createEventRow({
    code: 3,
    published: 'A wallet of the cluster got another name',
    sentence: 'named :address :wallet',
    tone: 'plain',
    v01: 'updateWallet',
    fields: {
      name: WALLET_NAME_FIELD,
      wallet: WALLET_FIELD,
      cluster: CLUSTER_FIELD,
      isVerified: { kind: 'flag', v1: null },
    },
    apply: (state, event) => state.changeWallet(event, { name: event.name }),
  }),
  VERIFY_WALLET: createEventRow({
    code: 4,
    published: 'A listed wallet verified itself in the cluster',
    sentence: 'verified :address',
    tone: 'plain',
    v01: 'updateWallet',
    fields: {
      name: { kind: 'name', v1: null },
      wallet: WALLET_FIELD,
      cluster: CLUSTER_FIELD,
      isVerified: { kind: 'flag', v1: null },
    },
    apply: (state, event) => state.changeWallet(event, { isVerified: true }),
  }),
  REMOVE_WALLET: createEventRow({
    code: 5,
    published: 'A wallet was removed from the cluster, or left it to verify itself in another one',
    sentence: 'removed :address',
    tone: 'loss',
    v01: 'removeWallet',
    fields: { wallet: WALLET_FIELD, cluster: CLUSTER_FIELD },
    apply: (state, event) => state.removeWallet(event),
  }),
  BACKUP_WALLET: createEventRow({
    code: 6,
    published: 'A wallet of the cluster was confirmed to be backed up',
    sentence: 'backed up :address',
    tone: 'plain',
    v01: null,
    fields: { wallet: WALLET_FIELD, cluster: CLUSTER_FIELD },
    apply: (state, event) => state.changeWallet(event, { isBackedUp: true }),
  }),
  TRANSFER_NAME: createEventRow({
    code: 7,
    published: 'A name moved along with the last verified wallet of its cluster',
    sentence: 'moved :name to another bundle',
    tone: 'move',
    v01: 'register',
    fields: {
      name: NAME_FIELD,
      cluster: { kind: 'cluster', v1: 'to', description: 'The cluster that holds it now' },
      from: {
        kind: 'cluster',
        v1: 'from_cluster_id',
        description: 'The cluster that held it before',
      },
    },
    apply: (state, event) => state.transferName(event),
  }),
  REGISTER_COMMUNITY_NAME: createEventRow({
    code: 9,
    published: 'A name below a community has a new owner: for free, assigned, or by a payment',
    sentence: 'got :member:forOther',
    tone: 'member',
    v01: null,
    fields: {
      community: {
        kind: 'name',
        v1: 'community',
        description: 'The community',
        example: 'club',
      },
      name: { kind: 'name', v1: 'name', description: 'The name below it', example: 'alice' },
      wallet: { kind: 'wallet', v1: 'address', description: 'The wallet that owns the name' },
      cluster: {
        kind: 'clusterOrNull',
        v1: 'cluster_id',
        description: 'The cluster in which the owner is verified in public, null for none',
      },
    },
    apply: (state, event) => state.registerCommunityName(event),
  }),
}

type Events = typeof EVENTS
export type EventType = keyof Events

/** Event with all its fields, also those that only the API's v0.1 shows: name and verification of a changed wallet. */
export type EventOf<Cluster, V1 = string | null> = {
  [Type in EventType]: { type: Type } & ValuesOf<Events[Type]['fields'], Cluster, V1>
}[EventType]

/** Event with the fields that the API's v1 shows. */
export type V1Event<Cluster> = EventOf<Cluster, string>

/** Public event in the journal. Clusters are serials. */
export type PublicEvent = EventOf<number>
