import PQueue from 'p-queue'
import type pg from 'pg'
import { ChainUnavailableError } from '../chains/chain.js'
import { readRequirementInputs, type TokenBalancePort } from '../chains/requirementInputs.js'
import { NodesDisagreeError } from '../chains/rpc/nodes.js'
import { appendEntries } from '../db/journal/append.js'
import { lockJournalHead, readJournalHead } from '../db/journal/head.js'
import { readCommunityRules } from '../db/journal/sliceCommunities.js'
import { queueRefusals } from '../db/outbox/refusals.js'
import { findOpenCommunityPayments, type OpenCommunityPayment } from '../db/payments/open.js'
import { markPaymentsAppended } from '../db/payments/payments.js'
import { notifyNetwork } from '../db/pg/notify.js'
import { inTransaction } from '../db/pg/pool.js'
import { findClusterNamesOfVerifiedWallet, findFreedNames } from '../db/registry/communityNames.js'
import type { LeaderContext } from '../ops/context.js'
import { failpoint } from '../ops/failpoint.js'
import { BACKOFF_PAUSES_MS, backoffPauseMs, type LoopWaker } from '../ops/waiting.js'
import { IDLE_POLL_MS, type Worker } from '../ops/worker.js'
import { type RulesVersion, rulesAtBlock } from '../registry/community/history.js'
import { areRequirementsMet, requirementsHash } from '../registry/community/requirements.js'
import type { CommunityRequirement } from '../registry/community/rules.js'
import { type DecodedEntry, decodeEntry } from '../registry/journal/decode.js'
import { encodePayment } from '../registry/journal/payment.js'
import { mapKey, txKeyOfHash } from '../registry/primitives/bytes.js'
import type { Network } from '../registry/primitives/network.js'

/** Age from which a waiting payment raises an alarm, ms: a refund is possible only while the payment is held. */
const ALARM_AFTER_MS = 5 * 60_000
/** Maximum number of payments in one step: appending a batch locks the journal's head for some ms. */
const MAX_PAYMENTS_PER_STEP = 100
/**
 * Number of payers whose balances are read in parallel, each with up to twenty calls. Also the maximum number of
 * waiting payments that one step tries again.
 */
const READS_AT_ONCE = 8

export type CommunityPaymentJudgeStepOutcome =
  /**
   * `payments`: number of payments appended to the journal, which decides them. `waiting`: number of payments that
   * can't be decided yet.
   */
  | { kind: 'entered'; payments: number; waiting: number }
  /** A chain that has the payers' balances is unavailable. */
  | { kind: 'waiting'; waiting: number }
  /** The network's journal has not caught up with the chains: later entries may take the names. */
  | { kind: 'catching_up' }
  | { kind: 'idle' }

export interface CommunityPaymentJudgeOptions
  extends Pick<LeaderContext, 'pool' | 'network' | 'epoch'> {
  /** The network's chains, for reading balances. */
  ports: readonly TokenBalancePort[]
  nowMs?: () => number
}

/** A payment that waits for a chain's answer. */
interface WaitingPayment {
  id: Buffer
  failures: number
  nextMs: number
  sinceMs: number
  /** Error of the last attempt. */
  reason: string
}

interface CheckedPayment {
  payment: OpenCommunityPayment
  /** Hash of the community's requirements in force at the payment's time. Null where there was no community. */
  hash: Buffer | null
  /**
   * True if the payer meets the requirements. False without a check where `hash` is null or the payment
   * `belongsToPayer`.
   */
  isMet: boolean
}

/**
 * Worker that decides a network's payments for community names (`CommunityPaymentJudge`).
 * @param notify wakes the worker when payments may have become confirmed
 */
export function createCommunityPaymentJudgeWorker(
  ctx: LeaderContext,
  {
    ports,
    notify,
    pollMs,
  }: Pick<CommunityPaymentJudgeOptions, 'ports'> & { notify: LoopWaker; pollMs: number },
): Worker {
  const { pool, network, epoch, log, metrics } = ctx
  const judge = new CommunityPaymentJudge({ pool, network, epoch, ports })
  return {
    name: 'the payments of communities',
    fields: { network },
    notify,
    pollMs,
    idleMs: IDLE_POLL_MS,
    async step(_, alive) {
      const outcome = await judge.step(alive)
      if (outcome.kind !== 'entered') return outcome.kind === 'idle' ? 'idle' : 'waiting'
      metrics.entries.inc({ network }, outcome.payments)
      log.info({ network, ...outcome }, 'payments of communities are in the journal')
      return 'progressed'
    },
    // the alarm ends when no payment has waited for ALARM_AFTER_MS any more
    alarms() {
      const { waiting, sinceMs, reason } = judge.state
      if (sinceMs === null || Date.now() - sinceMs < ALARM_AFTER_MS) return []
      const text = `${waiting} payments of ${network} for community names wait: ${reason}`
      return [{ alarm: 'ClusterdPaymentsWait', text, network }]
    },
  }
}

/** Reads whether payers meet the requirements, and appends their payments to the journal, whose fold decides them. */
export class CommunityPaymentJudge {
  readonly #options: CommunityPaymentJudgeOptions
  readonly #nowMs: () => number
  readonly #stuck = new Map<string, WaitingPayment>()

  constructor(options: CommunityPaymentJudgeOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? Date.now
  }

  /**
   * The payments that wait because a chain is unavailable: how many, since when (Unix ms), and why the oldest one
   * waits.
   */
  get state() {
    const [first] = [...this.#stuck.values()].sort((a, b) => a.sinceMs - b.sinceMs)
    return {
      waiting: this.#stuck.size,
      sinceMs: first?.sinceMs ?? null,
      reason: first?.reason ?? null,
    }
  }

  /**
   * Reads the balances of payers of confirmed payments, oldest first, and appends those payments to the journal. One
   * step, without timers. A payment whose payer's balance can't be read does not delay the others.
   * @param alive called after each payment: if nodes answer late, a few may take the step's time limit
   * @throws LostLeadershipError, or a database error; the next step continues
   */
  async step(alive = () => {}): Promise<CommunityPaymentJudgeStepOutcome> {
    const { pool, network } = this.#options
    if (!(await readJournalHead(pool, network)).caughtUp) return { kind: 'catching_up' }
    const nowMs = this.#nowMs()
    const resting = this.#findRestingIds(nowMs)
    const open = await findOpenCommunityPayments(
      pool,
      network,
      MAX_PAYMENTS_PER_STEP,
      nowMs,
      resting,
    )
    this.#forgetGone(resting, open)
    const rules = await readRulesOfCommunities(pool, network, open)
    const queue = new PQueue({ concurrency: READS_AT_ONCE })
    const ports = this.#options.ports.map(stopAfterFailure)
    const all = await queue.addAll(
      open.map((payment) => () => this.#read(payment, rules, ports).finally(alive)),
    )
    const reads = all.filter((one) => one !== null)
    const payments = reads.length > 0 ? await appendPayments(this.#options, reads) : 0
    for (const { payment } of reads) this.#stuck.delete(mapKey(payment.id))
    const waiting = this.#stuck.size
    if (payments > 0) return { kind: 'entered', payments, waiting }
    return waiting > 0 ? { kind: 'waiting', waiting } : { kind: 'idle' }
  }

  async #read(
    payment: OpenCommunityPayment,
    rules: RulesByCommunity,
    ports: readonly TokenBalancePort[],
  ): Promise<CheckedPayment | null> {
    const { pool, network } = this.#options
    const requirements = requirementsOf(payment, rules)
    if (!requirements) return { payment, hash: null, isMet: false }
    const hash = requirementsHash(requirements)
    if (payment.belongsToPayer) return { payment, hash, isMet: false }
    try {
      const wallet = await readRequirementInputs({
        wallet: payment.payer,
        requirements,
        ports,
        verifiedIn: (names) =>
          findClusterNamesOfVerifiedWallet(pool, network, payment.payer, names),
      })
      return { payment, hash, isMet: areRequirementsMet(requirements, wallet) }
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error
      this.#postpone(payment.id, error.message)
      return null
    }
  }

  /**
   * Ids of the waiting payments that this step skips: those whose back-off has not ended, and of the others all but the
   * first READS_AT_ONCE. Otherwise the payments of a chain that does not answer could fill each step.
   */
  #findRestingIds(nowMs: number): Buffer[] {
    const byTime = [...this.#stuck.values()].sort((a, b) => a.nextMs - b.nextMs)
    // a retry time that is later than the longest back-off allows was set before the system clock was set back
    const isDue = ({ nextMs }: WaitingPayment) =>
      nextMs <= nowMs || nextMs > nowMs + BACKOFF_PAUSES_MS.payer.at(-1)!
    const due = new Set(byTime.filter(isDue).slice(0, READS_AT_ONCE))
    return byTime.filter((one) => !due.has(one)).map(({ id }) => id)
  }

  #postpone(id: Buffer, reason: string): void {
    const nowMs = this.#nowMs()
    const before = this.#stuck.get(mapKey(id))
    const failures = (before?.failures ?? 0) + 1
    const pauseMs = backoffPauseMs(failures, BACKOFF_PAUSES_MS.payer)
    this.#stuck.set(mapKey(id), {
      id,
      failures,
      nextMs: nowMs + pauseMs,
      sinceMs: before?.sinceMs ?? nowMs,
      reason,
    })
  }

  /** Forgets waiting payments that are no longer open, as after a rewind or a reclaim. */
  #forgetGone(resting: readonly Buffer[], open: readonly OpenCommunityPayment[]): void {
    const known = new Set([...resting, ...open.map(({ id }) => id)].map(mapKey))
    for (const key of this.#stuck.keys()) if (!known.has(key)) this.#stuck.delete(key)
  }
}

/**
 * Wraps a balance port for one step. After a failed call the chain is not called again, and further calls fail with the
 * same error: otherwise a step lasts as long as the sum of all timeouts. A contradiction between nodes does not count
 * as a failure of the chain, because a token may return another balance in each block.
 */
function stopAfterFailure({ label, tokenBalance }: TokenBalancePort): TokenBalancePort {
  let away: Error | null = null
  return {
    label,
    async tokenBalance(token, wallet) {
      if (away) throw away
      return tokenBalance(token, wallet).catch((error: Error) => {
        if (!(error instanceof NodesDisagreeError)) away = error
        throw error
      })
    },
  }
}

type RulesByCommunity = ReadonlyMap<string, readonly RulesVersion[]>

async function readRulesOfCommunities(
  db: pg.Pool | pg.ClientBase,
  network: Network,
  payments: readonly OpenCommunityPayment[],
): Promise<RulesByCommunity> {
  const since = new Map<string, number>()
  for (const { communityName: name, paidMs } of payments)
    if (name !== null) since.set(name, Math.min(paidMs, since.get(name) ?? paidMs))
  if (since.size === 0) return new Map()
  const { generation } = await readJournalHead(db, network)
  return readCommunityRules(db, network, generation, since)
}

/** The community's requirements in force at the payment's time. Null where there was no community. */
function requirementsOf(
  { communityName, paidMs }: OpenCommunityPayment,
  rules: RulesByCommunity,
): readonly CommunityRequirement[] | null {
  const history = communityName === null ? undefined : rules.get(communityName)
  return rulesAtBlock(history ?? [], paidMs)?.requirements ?? null
}

/**
 * Appends the payments' entries, marks the payments as appended and queues refusals, in one transaction. Reads the
 * communities' rules again under the lock of the journal's head. Where they changed, the payment waits for the next
 * step.
 * @returns number of payments that were appended
 */
async function appendPayments(
  { pool, network, epoch, nowMs = Date.now }: CommunityPaymentJudgeOptions,
  reads: readonly CheckedPayment[],
): Promise<number> {
  failpoint('judge.before_transaction')
  const entered = await inTransaction(pool, async (client) => {
    await lockJournalHead(client, network, epoch)
    const candidates = reads.map(({ payment }) => payment)
    const now = await readRulesOfCommunities(client, network, candidates)
    const still = reads.filter(({ payment, hash }) => {
      const requirements = requirementsOf(payment, now)
      return requirements ? hash?.equals(requirementsHash(requirements)) : hash === null
    })
    const payments = still.map(({ payment }) => payment)
    const ids = payments.map(({ id }) => id)
    const freed = await findFreedNames(client, network, ids)
    const entries = still.map((read) => entryOfPayment(read, freed.get(mapKey(read.payment.id))))
    const { changes } = await appendEntries(client, network, entries, { epoch })
    await markPaymentsAppended(client, network, ids)
    const refused = payments.filter(
      (_, i) => changes.payments[i]!.judgement.outcome !== 'registered',
    )
    await queueRefusals(client, network, refused, nowMs())
    if (still.length > 0) await notifyNetwork(client, network)
    failpoint('judge.before_commit')
    return still.length
  })
  failpoint('judge.after_commit')
  return entered
}

function entryOfPayment(
  { payment, hash, isMet }: CheckedPayment,
  freed: number | undefined,
): DecodedEntry {
  const { chain, block, sequence, tx, label, payer, money, target, referral } = payment
  const { community, name, recipient } = target
  return decodeEntry({
    kind: 'pay_community_name',
    position: { chain, block, logIndex: sequence },
    txKey: txKeyOfHash(tx),
    causeMs: payment.paidMs,
    body: encodePayment({
      tx,
      network: label,
      payer,
      ...money,
      recipient,
      community,
      name,
      referral,
      blockMs: payment.paidMs,
      met: isMet ? hash : null,
      ...(freed !== undefined && { freed }),
    }),
  })
}
