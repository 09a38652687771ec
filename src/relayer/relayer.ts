import type pg from 'pg'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { EvmChain } from '../chains/evm/chain.js'
import type { DeliverySettings } from '../config/index.js'
import { type OpenMessage, openMessages, settleMessages } from '../db/bridge/openMessages.js'
import { assertRelayer } from '../db/journal/head.js'
import { dueDeliveries, findDeliveries, hasLiveDeliveries, insertDeliveries } from '../db/outbox/deliveries.js'
import { type DeliveryStats, deliveryStats } from '../db/outbox/deliveryList.js'
import type { DeliveryKind, DeliveryRow, SignerKey } from '../db/outbox/deliveryRows.js'
import { undeliveredPayments } from '../db/payments/openPayments.js'
import { inTransaction } from '../db/pg/pool.js'
import { failpoint } from '../ops/failpoint.js'
import { addressToWord } from '../registry/primitives/address.js'
import { fromHex } from '../registry/primitives/bytes.js'
import type { Network } from '../registry/primitives/network.js'
import { isProgress, takeTurns } from './batch.js'
import type { Clock, DeliveryStore, Outcome, Ports } from './converge.js'
import { parked } from './delivery.js'
import { createDeliveryChain, type Job, type Share } from './evm.js'
import { judgeMessage, type Refusal, type Route } from './judge.js'
import { REPLACE_AFTER_BLOCKS } from './machine.js'
import { createNonceKeeper, type NonceKeeper } from './nonces.js'
import { storeOf, toDelivery } from './store.js'

const STATS_EVERY_MS = 5_000
const DAY_MS = 86_400_000

export interface RelayerOptions {
  pool: pg.Pool
  network: Network
  /** The chain on which is delivered, and its number in the database. */
  at: { chain: EvmChain; number: number }
  /** What is carried to it, where it is the hub; null: payments for community names are given back there, nothing else. */
  road: Road | null
  /** Who pays; null: only watch. */
  account: PrivateKeyAccount | null
  settings: DeliverySettings
  epoch: number
  clock?: Clock
  /** Told of each step of each delivery, with what is stored after it. */
  onOutcome?: (row: DeliveryRow, outcome: Outcome) => void
  /** Told of each message that was left lying, at every step while it is. */
  onStranded?: (message: OpenMessage) => void
}

/** The way of messages and payments to the hub. */
export interface Road {
  route: Route
  /** LayerZero's, null where no spoke is connected. */
  endpoint: Hex | null
  /** That of a local chain, which believes us. */
  messageLib: Hex | null
}

export interface RelayerState {
  network: Network
  /** Label of the chain on which is delivered. */
  chain: string
  stats: DeliveryStats | null
  /** null where no messages are carried to. */
  stranded: number | null
  nonceGaps: number
  balanceWei: bigint | null
  /** How long the balance lasts if as much is spent as in the last 24 hours; null while nothing was. */
  runwayMs: number | null
}

/** How a step ended. */
export interface StepOutcome {
  /** `progressed`: something was stored, so there may be more to do now. `waiting`: for the chain, or for a time. `idle`: for a message. */
  kind: 'progressed' | 'waiting' | 'idle'
  queued: number
  mended: number
  /** What became of each delivery that was looked at. */
  deliveries: { id: string; kind: DeliveryKind; outcomes: Outcome[] }[]
}

export interface Relayer {
  readonly state: RelayerState
  /**
   * Does what there is to do now, without timers: queues deliveries for new messages, mends nonces, and takes each delivery as far
   * as it goes.
   * @throws ChainUnavailableError, LostLeadershipError, or an error of the database; the next step goes on
   */
  step(): Promise<StepOutcome>
}

/** The deliveries of one network on one of its chains, by one signer. */
export function createRelayer(options: RelayerOptions): Relayer {
  const { pool, network, at, road, account, settings, epoch } = options
  const clock: Clock = options.clock ?? { nowMs: Date.now, random: Math.random }
  const key: SignerKey | null = account && { network, chain: at.number, signer: fromHex(account.address) }
  const nonces: NonceKeeper | null =
    account && key && createNonceKeeper({ pool, key, signer: { chain: at.chain, account }, epoch, nowMs: clock.nowMs })
  const policy = {
    spendCapWei: settings.spendCapWei,
    replaceAfterBlocks: REPLACE_AFTER_BLOCKS,
    pollMs: at.chain.config.pollMs,
  }
  const onHub = { chain: at.number, valueWei: 0n }
  const isLocal = road?.route.hub.isLocal ?? false
  const delivers = account !== null && (isLocal || settings.executeStranded)
  let statsAtMs = Number.NEGATIVE_INFINITY
  const state: RelayerState = {
    network,
    chain: at.chain.label,
    stats: null,
    stranded: road && 0,
    nonceGaps: 0,
    balanceWei: null,
    runwayMs: null,
  }

  const step = async (): Promise<StepOutcome> => {
    const queued = road ? await queueMessages(road) : 0
    let mended = 0
    let deliveries: StepOutcome['deliveries'] = []
    // where nothing is carried to there is mostly nothing to do, and then nobody is asked
    if (key && nonces && (road || (await hasLiveDeliveries(pool, key)))) {
      mended = await nonces.step()
      state.nonceGaps = nonces.gaps
      deliveries = await advanceAll(await dueDeliveries(pool, key, clock.nowMs()))
    }
    const hasStored = deliveries.some(({ outcomes }) => outcomes.some(isProgress))
    const isProgressed = queued > 0 || mended > 0 || hasStored
    if (isProgressed || clock.nowMs() - statsAtMs >= STATS_EVERY_MS) await takeStats()
    return {
      kind: isProgressed ? 'progressed' : deliveries.length > 0 ? 'waiting' : 'idle',
      queued,
      mended,
      deliveries,
    }
  }

  /**
   * Every confirmed message that the hub has not taken gets its deliveries once, on public networks those left lying; and so does
   * every payment that is believed and keeps to a quote of ours, which nobody else carries.
   */
  const queueMessages = async (road: Road): Promise<number> => {
    const nowMs = clock.nowMs()
    const strandedMs = nowMs - settings.strandedAfterMs
    const { queued, stranded } = await inTransaction(pool, async (client) => {
      await assertRelayer(client, network, epoch)
      await settleMessages(client, network, nowMs)
      const open = await openMessages(client, network, isLocal ? Number.MAX_SAFE_INTEGER : strandedMs)
      const messages = delivers
        ? open.filter(({ isNew, isReceived }) => isNew && !isReceived).flatMap(rowsOn(road))
        : []
      const payments = account ? await undeliveredPayments(client, network) : []
      const fresh = [...messages, ...payments.map((guid) => ({ guid, kind: 'deliver' as const, ...onHub }))]
      return {
        queued: fresh.length > 0 ? await insertDeliveries(client, network, fresh, nowMs) : 0,
        stranded: open.filter(({ isReceived, sentMs }) => !isReceived && sentMs <= strandedMs),
      }
    })
    if (queued > 0) failpoint('relay.queued')
    state.stranded = stranded.length
    for (const message of stranded) options.onStranded?.(message)
    return queued
  }

  /** Locally nobody else verifies. An execution that is refused is queued too, so that it is seen parked. */
  const rowsOn = (road: Road) => (message: OpenMessage) => {
    const { guid } = message
    const judged = judgeMessage(message, road.route)
    const valueWei = 'refusal' in judged ? 0n : judged.option.value
    const execute = { guid, kind: 'execute' as const, ...onHub, valueWei }
    const isVerifiedHere = road.messageLib !== null && judged.packet !== null
    return isVerifiedHere ? [{ guid, kind: 'verify' as const, ...onHub }, execute] : [execute]
  }

  const advanceAll = async (due: readonly DeliveryRow[]): Promise<StepOutcome['deliveries']> => {
    const turns = await takeTurns(due, {
      policy,
      portsOf,
      reload: (ids) => findDeliveries(pool, network, ids),
      onOutcome: options.onOutcome,
    })
    return turns.map(({ row, outcomes }) => ({ id: row.id, kind: row.kind, outcomes }))
  }

  const portsOf = (row: DeliveryRow, share: Share): Ports | Promise<Outcome> => {
    if (!account || !key) return Promise.resolve({ outcome: 'ended' })
    const store = storeOf(pool, row, { key, epoch, nowMs: clock.nowMs })
    const job = jobOf(row)
    if (typeof job === 'string') return setAside(row, store, job)
    return { chain: createDeliveryChain({ chain: at.chain, account }, job, share), store, clock }
  }

  const setAside = async (row: DeliveryRow, store: DeliveryStore, reason: Refusal): Promise<Outcome> => {
    const delivery = toDelivery(row)
    return (await store.save(delivery, parked(delivery, reason))) ? { outcome: 'parked' } : { outcome: 'outrun' }
  }

  /** What there is to do for a row, or why nothing may be. Judged at every step: an operator's word doesn't make it right. */
  const jobOf = (row: DeliveryRow): Job | Refusal => {
    if (row.kind === 'fill') return { kind: 'fill' }
    if (row.kind === 'refuse') return refusalOf(row, at.chain.config.communityPayments)
    if (!road) return 'foreign_packet'
    const { route, endpoint, messageLib } = road
    if (row.kind === 'deliver') {
      const bid = row.payment?.isHonoured ? { ...row.payment, from: addressToWord(row.payment.payer) } : null
      return bid ? { kind: 'deliver', hub: route.hub.contract, bid } : 'foreign_payment'
    }
    const judged = row.message && judgeMessage(row.message, route)
    if (!judged?.packet || !endpoint) return 'foreign_packet'
    const { packet } = judged
    if (row.kind === 'verify') return messageLib ? { kind: 'verify', endpoint, messageLib, packet } : 'foreign_packet'
    return 'refusal' in judged ? judged.refusal : { kind: 'execute', endpoint, packet, option: judged.option }
  }

  const takeStats = async (): Promise<void> => {
    state.stats = await deliveryStats(pool, { network, chain: at.number, signer: key?.signer ?? null }, clock.nowMs())
    statsAtMs = clock.nowMs()
    if (!account) return
    state.balanceWei = BigInt(await at.chain.rpc.call<Hex>('eth_getBalance', [account.address, 'latest']))
    const { spentLastDayWei } = state.stats
    state.runwayMs = spentLastDayWei === 0n ? null : (Number(state.balanceWei) / Number(spentLastDayWei)) * DAY_MS
  }

  return { state, step }
}

const refusalOf = ({ guid, refusal: made }: DeliveryRow, payments: Hex | undefined): Job | Refusal =>
  guid && payments ? { kind: 'refuse', payments, payment: { paymentId: guid, made } } : 'no_payments_contract'
