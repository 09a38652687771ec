import type { Hex } from '../chains/chain.js'
import { failpoint } from '../ops/failpoint.js'
import type { Delivery, Purpose, SignedTx } from './delivery.js'
import { classifyError, type Failure } from './errors.js'
import type { Fees } from './fees.js'
import {
  type Action,
  apply,
  type Event,
  type Mined,
  type Policy,
  type Prepared,
  plan,
  type Seen,
  type WaitReason,
} from './machine.js'

/** What a step needs of the chain and the signer. Each may throw whatever the transport throws. */
export interface DeliveryChain {
  /**
   * What the chain shows now, nonce before receipts. `mined` may come from one node; `search` asks all.
   */
  observe(delivery: Delivery): Promise<Pick<Seen, 'head' | 'delivered' | 'nonce' | 'mined'>>
  search(delivery: Delivery): Promise<Mined | null>
  /** Simulates at the newest block and estimates gas and fees. A call that would revert is a failure, not an exception. */
  prepare(delivery: Delivery, purpose: Purpose): Promise<Prepared>
  /** Signs offline; nothing is sent. */
  sign(delivery: Delivery, order: SignOrder): Promise<{ hash: Hex; raw: Hex }>
  /** @returns the newest block when the node took it, null where that could not be told */
  broadcast(raw: Hex): Promise<number | null>
}

export interface SignOrder {
  purpose: Purpose
  nonce: number
  gas: bigint
  fees: Fees
  valueWei: bigint
}

/** What a step needs of the database. Both compare the stored delivery with `before` and give false when it is another by now. */
export interface DeliveryStore {
  save(before: Delivery, after: Delivery): Promise<boolean>
  /** Takes the signer's next nonce, and stores what `build` makes with it, in one transaction or not at all. */
  saveWithNonce(before: Delivery, build: (nonce: number) => Promise<Delivery>): Promise<boolean>
}

export interface Clock {
  nowMs(): number
  /** In [0, 1). */
  random(): number
}

export interface Ports {
  chain: DeliveryChain
  store: DeliveryStore
  clock: Clock
}

/** How a step ended. Every one but `waiting`, `ended`, `unreachable` and `outrun` has stored something. */
export type Outcome =
  | {
      outcome: 'signed' | 'replaced' | 'cancelled' | 'sent' | 'resent' | 'included' | 'reorged' | 'delivered' | 'parked'
    }
  | { outcome: 'refused' | 'failed'; failure: Failure }
  | { outcome: 'settled'; reason: string }
  | { outcome: 'waiting'; untilMs: number; why: WaitReason }
  | { outcome: 'ended' }
  /** The chain could not be asked; nothing changed. */
  | { outcome: 'unreachable'; failure: Failure }
  /** Somebody else changed the delivery meanwhile: load it again. */
  | { outcome: 'outrun' }

type Deed = Exclude<Action, { do: 'search' } | { do: 'prepare' }>

/** What there is to do, with what was seen; or why the chain could not be asked. */
export type Decision = { deed: Deed; seen: Seen } | { failure: Failure } | { ended: true }

/**
 * One step of a delivery: looks, does one thing, stores it. Call it again until it is waiting or has ended. It may be killed at
 * any instruction; the next call goes on from what is stored.
 * @throws only what the store and the offline signer throw
 */
export async function converge(delivery: Delivery, ports: Ports, policy: Policy): Promise<Outcome> {
  return carryOut(delivery, await decide(delivery, ports, policy), ports)
}

/** The first half of a step: looks, as closely as the plan asks for, until there is something to do. Changes nothing. */
export async function decide(
  delivery: Delivery,
  { chain, clock }: Pick<Ports, 'chain' | 'clock'>,
  policy: Policy,
): Promise<Decision> {
  if (delivery.state === 'confirmed' || delivery.state === 'parked') return { ended: true }
  try {
    const observed = await chain.observe(delivery)
    let seen: Seen = { ...observed, nowMs: clock.nowMs(), random: clock.random(), hasSearched: false, prepared: null }
    for (;;) {
      const action = plan(delivery, seen, policy)
      if (action.do === 'search') seen = { ...seen, mined: await chain.search(delivery), hasSearched: true }
      else if (action.do === 'prepare') seen = { ...seen, prepared: await prepare(chain, delivery, action.purpose) }
      else return { deed: action, seen }
    }
  } catch (error) {
    return { failure: classifyError(error) }
  }
}

/**
 * The second half: does what was decided, and stores it.
 * @throws only what the store and the offline signer throw
 */
export async function carryOut(delivery: Delivery, decision: Decision, ports: Ports): Promise<Outcome> {
  if ('ended' in decision) return { outcome: 'ended' }
  if ('failure' in decision) return { outcome: 'unreachable', failure: decision.failure }
  const { deed, seen } = decision
  switch (deed.do) {
    case 'rest':
      return { outcome: 'ended' }
    case 'wait':
      return { outcome: 'waiting', untilMs: deed.untilMs, why: deed.why }
    case 'record':
      return store(delivery, deed.event, seen, ports)
    case 'sign':
      return sign(delivery, deed, seen, ports)
    case 'broadcast':
      return broadcast(delivery, deed.tx, seen, ports)
  }
}

/** A question that fails is a failed attempt, so that its pause grows. */
async function prepare(chain: DeliveryChain, delivery: Delivery, purpose: Purpose): Promise<Prepared> {
  try {
    return await chain.prepare(delivery, purpose)
  } catch (error) {
    return { failure: classifyError(error) }
  }
}

async function sign(
  delivery: Delivery,
  order: Extract<Action, { do: 'sign' }>,
  seen: Seen,
  { chain, store }: Ports,
): Promise<Outcome> {
  const { purpose, gas, fees, valueWei } = order
  const build = async (nonce: number): Promise<Delivery> => {
    const { hash, raw } = await chain.sign(delivery, { purpose, nonce, gas, fees, valueWei })
    const tx: SignedTx = { hash, raw, purpose, gas, valueWei, ...fees, sentBlock: null, isRejected: false }
    failpoint('relay.sign')
    return apply(delivery, { is: 'signed', nonce, tx }, seen)
  }
  const { nonce } = order
  const isStored =
    nonce === null ? await store.saveWithNonce(delivery, build) : await store.save(delivery, await build(nonce))
  failpoint('relay.signed')
  if (!isStored) return { outcome: 'outrun' }
  return { outcome: purpose === 'cancel' ? 'cancelled' : nonce === null ? 'signed' : 'replaced' }
}

async function broadcast(delivery: Delivery, tx: SignedTx, seen: Seen, ports: Ports): Promise<Outcome> {
  let event: Event = { is: 'sent', hash: tx.hash }
  let { head } = seen
  try {
    // blocks may have come since the look, when others were sent before: they are no reason to replace it
    head = Math.max(head, (await ports.chain.broadcast(tx.raw)) ?? head)
  } catch (error) {
    event = { is: 'refused', hash: tx.hash, failure: classifyError(error) }
  }
  failpoint('relay.broadcast')
  const outcome = await store(delivery, event, { ...seen, head }, ports)
  return outcome.outcome === 'sent' && tx.sentBlock !== null ? { outcome: 'resent' } : outcome
}

async function store(delivery: Delivery, event: Event, seen: Seen, ports: Ports): Promise<Outcome> {
  if (!(await ports.store.save(delivery, apply(delivery, event, seen)))) return { outcome: 'outrun' }
  failpoint(`relay.${event.is}`)
  switch (event.is) {
    case 'refused':
      return event.failure.class === 'known' ? { outcome: 'sent' } : { outcome: 'refused', failure: event.failure }
    case 'failed':
      return { outcome: 'failed', failure: event.failure }
    case 'settled':
      return { outcome: 'settled', reason: event.reason }
    default:
      return { outcome: event.is }
  }
}
