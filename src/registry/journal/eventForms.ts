import { decodeWallet, parseWalletOrNull } from '../primitives/address.js'
import { isCanonicalName } from '../primitives/nameRule.js'
import {
  asciiCodec,
  booleanCodec,
  bytesCodec,
  type Codec,
  nullableCodec,
  u256,
  unionCodec,
} from './codec.js'
import {
  EVENTS,
  type EventFieldKind,
  type EventFieldValues,
  type EventOf,
  type EventType,
  type PublicEvent,
  type V1Event,
} from './eventTypes.js'

/** Binary and JSON forms of events, derived from the rows of EVENTS. */

/** Codec of the binary form of events. @param cluster codec of the clusters in events */
export function eventCodec<Cluster>(cluster: Codec<Cluster>): Codec<EventOf<Cluster>> {
  const codecs: { [Kind in EventFieldKind]: Codec<EventFieldValues<Cluster>[Kind]> } = {
    cluster,
    clusterOrNull: nullableCodec(cluster),
    name: asciiCodec,
    wallet: bytesCodec,
    wei: u256,
    flag: booleanCodec,
  }
  const cases = Object.entries(EVENTS).map(([type, { code, list }]) => {
    const ordered = list.toSorted((a, b) => Number(b.isCluster) - Number(a.isCluster))
    return [type, [code, Object.fromEntries(ordered.map(({ key, kind }) => [key, codecs[kind]]))]]
  })
  return unionCodec('type', Object.fromEntries(cases)) as Codec<EventOf<Cluster>>
}

/** Address shown as the actor of an event where no wallet may be shown. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`
export const actorText = (actor: Buffer | null): string =>
  actor ? decodeWallet(actor).text : ZERO_ADDRESS

const fieldValueOf = (event: object, key: string): unknown =>
  (event as Readonly<Record<string, unknown>>)[key]

/** Clusters that an event refers to. */
export const clustersOfEvent = <Cluster>(event: V1Event<Cluster>): NonNullable<Cluster>[] =>
  EVENTS[event.type].list.flatMap(({ key, isCluster }) =>
    isCluster ? ((fieldValueOf(event, key) ?? []) as NonNullable<Cluster>) : [],
  )

/** Cluster that an event belongs to: the first cluster among its fields. Null for an event without a cluster. */
export const clusterOfEvent = <Cluster>(event: V1Event<Cluster>): NonNullable<Cluster> | null =>
  clustersOfEvent(event)[0] ?? null

/** Writes the `data` of an event in the API's v1 form, as JSON. @param idOf public id of a cluster, hex */
export function eventDataJson<Cluster>(
  event: V1Event<Cluster>,
  idOf: (cluster: Cluster) => string,
): string {
  let data = ''
  for (const { key, kind, v1, isCluster } of EVENTS[event.type].list) {
    if (v1 === null) continue
    const value = fieldValueOf(event, key)
    const json =
      isCluster && value !== null ? `"${idOf(value as Cluster)}"` : fieldJson(kind, value)
    data += `${data === '' ? '{' : ','}"${v1}":${json}`
  }
  return `${data}}`
}

function fieldJson(kind: EventFieldKind, value: unknown): string {
  if (kind === 'name') return JSON.stringify(value)
  if (kind === 'wallet') return `"${decodeWallet(value as Buffer).text}"`
  return kind === 'wei' ? `"${value}"` : String(value)
}

const CLUSTER_ID_PATTERN = /^0x[0-9a-f]{64}$/
const WEI_PATTERN = /^\d{1,78}$/

/** Parsers of fields in the `data` of the API's v1 form; undefined for a malformed value. */
const FIELD_PARSERS: {
  readonly [Kind in EventFieldKind]: (json: unknown) => EventFieldValues<string>[Kind] | undefined
} = {
  cluster: (json) => textIfMatching(CLUSTER_ID_PATTERN, json),
  clusterOrNull: (json) => (json === null ? null : textIfMatching(CLUSTER_ID_PATTERN, json)),
  name: (json) => (typeof json === 'string' && isCanonicalName(json) ? json : undefined),
  wallet: (json) => (typeof json === 'string' ? parseWalletOrNull(json)?.bytes : undefined),
  wei(json) {
    const digits = textIfMatching(WEI_PATTERN, json)
    return digits === undefined ? undefined : BigInt(digits)
  },
  flag: (json) => (typeof json === 'boolean' ? json : undefined),
}

const textIfMatching = (form: RegExp, json: unknown): string | undefined =>
  typeof json === 'string' && form.test(json) ? json : undefined

/**
 * Parses an event of the given type from its `data` in the API's v1 form. Unknown fields are ignored.
 * @returns undefined for malformed data
 */
export function parseEventData(type: EventType, data: unknown): V1Event<string> | undefined {
  const json = Object(data) as Readonly<Record<string, unknown>>
  const event: Record<string, unknown> = { type }
  for (const { key, kind, v1 } of EVENTS[type].list) {
    if (v1 === null) continue
    const value = FIELD_PARSERS[kind](json[v1])
    if (value === undefined) return undefined
    event[key] = value
  }
  return event as V1Event<string>
}

/**
 * Converts an event to the form that the journal stores.
 * @param serialOf serial of a cluster by its public id
 * @param wallet the event's wallet in its cluster after the event, for the fields that the API's v1 does not show
 */
export function toStoredEvent(
  shown: V1Event<string>,
  serialOf: (id: string) => number,
  wallet: object | undefined,
): PublicEvent {
  const event: Record<string, unknown> = { ...wallet, ...shown }
  for (const { key, isCluster } of EVENTS[shown.type].list)
    if (isCluster && event[key] !== null) event[key] = serialOf(event[key] as string)
  return event as PublicEvent
}
