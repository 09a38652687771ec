import PQueue from 'p-queue'
import type pg from 'pg'
import type { PayoutCluster } from '../../chains/solana/payouts.js'
import { assertRelayer } from '../../db/journal/head.js'
import type { MoneyRow, PayoutFields, PayoutRow, PayoutTx, RefusalRow } from '../../db/outbox/payoutRows.js'
import { livePayouts, liveRefusals, queuePayouts, savePayouts } from '../../db/outbox/payouts.js'
import { type PayoutStats, payoutStats } from '../../db/outbox/refundList.js'
import { inTransaction } from '../../db/pg/pool.js'
import { failpoint } from '../../ops/failpoint.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Clock } from '../converge.js'
import { closed, confirmed, failed, planTx, refused, sent, signed, type TxSeen } from './machine.js'
import { createRefuser } from './refuser.js'

/** Payments in one `settle`: two accounts each, of the 1,232 bytes that a transaction may have. */
const SETTLE_AT_ONCE = 12
/** Of a transaction with one signature. */
const FEE_LAMPORTS = 5_000n
/** Transactions that are looked after at once. */
const CONCURRENCY = 4
const STATS_EVERY_MS = 5_000

export interface PayerOptions {
  pool: pg.Pool
  network: Network
  /** Number in the database of the program whose payments are paid out. */
  chain: number
  /** Null without the relay authority's key: then it only keeps watch. */
  cluster: PayoutCluster | null
  /** Whether refunds are paid without an operator's word. */
  autoRefunds: boolean
  epoch: number
  clock?: Clock
  /** Told of each change of each payout, with what is stored after it. */
  onOutcome?: (row: PayoutRow, outcome: PayoutOutcome) => void
}

export type PayoutOutcome = 'signed' | 'sent' | 'refused' | 'confirmed' | 'failed' | 'expired' | 'parked'

export interface PayerState {
  network: Network
  stats: PayoutStats | null
  /** Of the relay authority. */
  balanceLamports: bigint | null
}

export interface Payer {
  readonly state: PayerState
  /**
   * Does what there is to do now, without timers: queues what is due, looks what became of what was sent, signs and sends.
   * @returns `progressed` when something was stored, so that there may be more to do now
   * @throws ChainUnavailableError, LostLeadershipError, or an error of the database; the next step goes on
   */
  step(): Promise<'progressed' | 'waiting' | 'idle'>
}

/** The payouts of one program's payments, by its relay authority. One process a network runs it: the relayer's leader. */
export function createPayer(options: PayerOptions): Payer {
  const { pool, network, chain, cluster, autoRefunds, epoch } = options
  const clock: Clock = options.clock ?? { nowMs: Date.now, random: Math.random }
  const state: PayerState = { network, stats: null, balanceLamports: null }
  let statsAtMs = Number.NEGATIVE_INFINITY

  const now = () => ({ nowMs: clock.nowMs(), random: clock.random() })

  const step = async () => {
    if (!cluster) {
      await takeStats(false)
      return 'idle'
    }
    const nowMs = clock.nowMs()
    const queued = await inTransaction(pool, async (client) => {
      await assertRelayer(client, network, epoch)
      return queuePayouts(client, network, { chain, refunds: autoRefunds, nowMs })
    })
    if (queued > 0) failpoint('payout.queued')
    const live = await livePayouts(pool, network, chain, nowMs)
    let stored = queued
    const counting = async (work: Promise<number>): Promise<void> => {
      stored += await work
    }
    const refusals = await liveRefusals(pool, network, chain, nowMs)
    const underWay = groupsOf([...live, ...refusals])
    const errors: unknown[] = []
    const guarded = (work: () => Promise<number>) =>
      counting(work()).catch((error: unknown) => {
        errors.push(error)
      })
    await guarded(() => followAll(cluster, underWay, guarded))
    // a refusal has only so long as the payment is held
    await guarded(() => refuseAll(cluster, refusals.filter(isQueued), guarded))
    await guarded(() => startAll(cluster, live.filter(isQueued), guarded))
    await takeStats(stored > 0)
    if (errors.length > 0) throw errors[0]
    return stored > 0 ? 'progressed' : live.length + refusals.length > 0 ? 'waiting' : 'idle'
  }

  type Guarded = (work: () => Promise<number>) => Promise<void>

  /** What became of the transactions that were signed. */
  const followAll = async (to: PayoutCluster, groups: readonly Group[], guarded: Guarded): Promise<number> => {
    if (groups.length === 0) return 0
    const { height, slot, statuses } = await to.statuses(groups.map(({ tx }) => tx.signature))
    const queue = new PQueue({ concurrency: CONCURRENCY })
    await queue.addAll(
      groups.map((group, i) => () => {
        const seen: TxSeen = { height, status: statuses[i] ?? null }
        return guarded(() => follow(to, group, seen, slot))
      }),
    )
    return 0
  }

  const follow = async (to: PayoutCluster, { rows, tx }: Group, seen: TxSeen, slot: number): Promise<number> => {
    const action = planTx(tx, seen)
    switch (action.do) {
      case 'wait':
        return 0
      case 'confirm':
        return save(rows, confirmed, 'confirmed')
      case 'requeue':
        return save(rows, failed(action.reason, now()), 'failed')
      case 'broadcast':
        return broadcast(to, rows, tx)
      case 'look':
        return expired(to, rows, slot)
    }
  }

  /** It can't land any more, and in a later slot it can be seen whether it has. */
  const expired = async (to: PayoutCluster, all: readonly PayoutRow[], slot: number): Promise<number> => {
    let stored = 0
    for (const row of all) if (row.kind === 'refuse') stored += await refuser.expired(to, row, slot)
    const rows = all.filter((row) => row.kind !== 'refuse')
    if (rows.length === 0) return stored
    const isHeld = await to.areHeld(keysOf(rows), slot)
    const held = rows.filter((_, i) => isHeld[i])
    const ended = await end(
      to,
      rows.filter((_, i) => !isHeld[i]),
    )
    return stored + ended + (await save(held, failed('expired', now()), 'expired'))
  }

  /** The payments' accounts are closed: by whom? */
  const end = async (to: PayoutCluster, rows: readonly MoneyRow[]): Promise<number> => {
    let stored = 0
    for (const row of rows) {
      const closing = await to.closing(row.payment)
      const outcome = closing ? (closing.kind === row.kind ? 'confirmed' : 'parked') : 'failed'
      stored += await save([row], closed(row.kind, closing, now()), outcome)
    }
    return stored
  }

  const refuseAll = async (to: PayoutCluster, rows: readonly RefusalRow[], guarded: Guarded): Promise<number> => {
    await affording(
      to,
      rows.map((row) => [row]),
      guarded,
      ([row]) => refuser.start(to, row!),
    )
    return 0
  }

  const startAll = async (to: PayoutCluster, rows: readonly MoneyRow[], guarded: Guarded): Promise<number> => {
    if (rows.length === 0) return 0
    const isHeld = await to.areHeld(keysOf(rows), Math.max(...rows.map(({ payment }) => payment.slot)))
    await guarded(() =>
      end(
        to,
        rows.filter((_, i) => !isHeld[i]),
      ),
    )
    const batches = batchesOf(rows.filter((_, i) => isHeld[i]))
    await affording(to, batches, guarded, (batch) => start(to, batch))
    return 0
  }

  /** Starts as many batches as the balance has fees for. */
  const affording = async <Row extends PayoutRow>(
    to: PayoutCluster,
    batches: readonly Row[][],
    guarded: Guarded,
    work: (batch: Row[]) => Promise<number>,
  ): Promise<void> => {
    const affordable = batches.length > 0 ? Number((await to.balance()) / FEE_LAMPORTS) : 0
    const queue = new PQueue({ concurrency: CONCURRENCY })
    await queue.addAll(
      batches.map((batch, i) => () => {
        if (i >= affordable) return guarded(() => save(batch, failed('insufficient_funds', now()), 'failed'))
        return guarded(() => work(batch))
      }),
    )
  }

  const start = async (to: PayoutCluster, rows: readonly MoneyRow[]): Promise<number> => {
    const payments = rows.map(({ payment }) => ({ ...payment, payer: payment.payer.subarray(1) }))
    return carry(to, rows, await to.sign(rows[0]!.kind, payments))
  }

  /** Stores what was signed, then sends it. */
  const carry = async (to: PayoutCluster, rows: readonly PayoutRow[], tx: PayoutTx): Promise<number> => {
    failpoint('payout.sign')
    const stored = await save(rows, signed(tx), 'signed')
    if (stored === 0) return 0
    const after = rows.map((row): PayoutRow => ({ ...row, ...signed(tx)(row), version: row.version + 1 }))
    return stored + (await broadcast(to, after, tx))
  }

  const broadcast = async (to: PayoutCluster, rows: readonly PayoutRow[], tx: PayoutTx): Promise<number> => {
    const refusal = await to.send(tx.raw)
    failpoint('payout.broadcast')
    if (refusal === null) return rows[0]!.state === 'sent' ? 0 : save(rows, sent, 'sent')
    return rows[0]!.reason === refusal ? 0 : save(rows, refused(refusal), 'refused')
  }

  /** @returns how many rows were stored: all, or none where one is another by now */
  const save = async (
    rows: readonly PayoutRow[],
    change: (payout: PayoutFields) => PayoutFields,
    outcome: PayoutOutcome,
  ): Promise<number> => {
    if (rows.length === 0) return 0
    const changes = rows.map((row) => ({ row, fields: change(row) }))
    const isSaved = await savePayouts(pool, network, changes, { epoch, nowMs: clock.nowMs() })
    failpoint(`payout.${outcome}`)
    if (!isSaved) return 0
    for (const { row, fields } of changes) options.onOutcome?.({ ...row, ...fields }, outcome)
    return rows.length
  }

  const refuser = createRefuser({ now, save, carry })

  const takeStats = async (isNews: boolean): Promise<void> => {
    if (!isNews && clock.nowMs() - statsAtMs < STATS_EVERY_MS) return
    statsAtMs = clock.nowMs()
    state.stats = await payoutStats(pool, network)
    if (cluster) state.balanceLamports = await cluster.balance()
  }

  return { state, step }
}

/** Payouts that share a transaction. */
interface Group {
  tx: PayoutTx
  rows: PayoutRow[]
}

function groupsOf(live: readonly PayoutRow[]): Group[] {
  const groups = new Map<string, Group>()
  for (const row of live) {
    if (row.state === 'queued' || !row.tx) continue
    const id = row.tx.signature.toString('hex')
    const group = groups.get(id) ?? { tx: row.tx, rows: [] }
    group.rows.push(row)
    groups.set(id, group)
  }
  return [...groups.values()]
}

/** Settlements go together; one that failed goes alone, so that it holds up no other. */
function batchesOf(rows: readonly MoneyRow[]): MoneyRow[][] {
  const isAlone = ({ kind, failures }: MoneyRow) => kind === 'refund' || failures > 0
  const together = rows.filter((row) => !isAlone(row))
  const batches = rows.filter(isAlone).map((row) => [row])
  for (let i = 0; i < together.length; i += SETTLE_AT_ONCE) batches.push(together.slice(i, i + SETTLE_AT_ONCE))
  return batches
}

const isQueued = ({ state }: PayoutRow): boolean => state === 'queued'

const keysOf = (rows: readonly MoneyRow[]) => rows.map(({ payment }) => payment)
