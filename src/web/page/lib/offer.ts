import { pause } from '../../../client/time.js'
import { type ApiCallOptions, callApi } from './api.js'
import { chainName, durationText, findChain } from './format.js'
import { HUB_NETWORK, NATIVE_TOKEN, priceText } from './money.js'
import type { Cluster, NameAvailabilityResponse, Overview } from './types.js'

/** Availability and price of a name, as read without a wallet. */
export interface NameAvailabilityAndPrice {
  /** True if the name can be registered. */
  isFree: boolean
  /** Cost on the hub without gas, such as `0.01 ETH`. */
  price: string
  /** Sentences to show: the terms, or why the name can't be registered. */
  text: string
  overview: Overview
}

/** Reads availability and price of a name. @throws ClusterdError */
export async function readNameAvailabilityAndPrice(
  name: string,
  options: ReadOptions,
): Promise<NameAvailabilityAndPrice> {
  const [availability, overview] = await Promise.all([
    readAvailability(name, options),
    callApi<Overview>('/v1/overview', options),
  ])
  const bid = { network: HUB_NETWORK, token: NATIVE_TOKEN, amount: overview.bidWei }
  const price = await priceText(bid, options.isTestnet)
  const isFree = availability?.isAvailable === true
  const taken =
    availability?.reason === 'pending' ? `A bid for ${name} is under way.` : `${name} is taken.`
  return { isFree, price, text: isFree ? termsText(price, overview) : taken, overview }
}

function termsText(price: string, overview: Overview): string {
  const [hub] = overview.chains
  if (!hub) return `It costs ${price} and gas.`
  return `It costs ${price} on ${chainName(hub.network)} and gas. ${registrationTimeText(hub, overview)}`
}

/**
 * Time from a payment on a chain to the registration, as a sentence: the usual time on the hub, the shortest time on
 * another chain. Empty where a chain's time to confirm is not known.
 */
export function registrationTimeText(
  { network }: { network: string },
  { chains }: Overview,
): string {
  const [hub] = chains
  const chain = findChain(chains, network)
  if (!hub?.confirmSeconds || !chain?.confirmSeconds) return ''
  if (chain === hub) return `It is yours about ${durationText(hub.confirmSeconds)} after you pay.`
  const seconds = chain.confirmSeconds + hub.confirmSeconds
  return `It is yours ${durationText(seconds)} after you pay at the earliest: a message has to reach ${chainName(hub.network)}.`
}

/** Pause after a typed letter, ms, in case another follows. */
const TYPING_PAUSE_MS = 200

/** Waits until the visitor has stopped typing. @throws the signal's reason, as another letter aborts the request */
export const waitUntilTypingPauses = (signal: AbortSignal) => pause(TYPING_PAUSE_MS, signal)

type ReadOptions = Pick<ApiCallOptions, 'isTestnet' | 'signal'>

/** Availability of a name, by a route that answers 200 for any name: the browser's console logs each 404. */
async function readAvailability(name: string, options: ReadOptions) {
  const path = '/v1/names/register/check'
  return (await callApi<NameAvailabilityResponse[]>(path, { ...options, body: [name] }))[0]
}

/** Whether a name is taken. True also for a malformed name, and false for a name with only a pending bid. */
export async function isNameTaken(name: string, options: ReadOptions): Promise<boolean> {
  const availability = await readAvailability(name, options)
  return availability?.isAvailable === false && availability.reason !== 'pending'
}

/**
 * The cluster that holds a name; null for a name that is not taken.
 * @throws ClusterdError, with status 404 for a malformed name
 */
export const findCluster = async (name: string, options: ReadOptions): Promise<Cluster | null> =>
  (await isNameTaken(name, options)) ? callApi<Cluster>(`/v1/clusters/name/${name}`, options) : null
