import PQueue from 'p-queue'
import type pg from 'pg'
import { ChainUnavailableError } from '../../chains/chain.js'
import { type BalancePort, readRequirementInputs } from '../../chains/requirementInputs.js'
import { appendEntries } from '../../db/journal/append.js'
import { lockHead, readHead } from '../../db/journal/head.js'
import { readRules } from '../../db/journal/sliceCommunities.js'
import { queueRefusals } from '../../db/outbox/refusals.js'
import { type OpenPayment, openCommunityPayments } from '../../db/payments/open.js'
import { markAppended } from '../../db/payments/payments.js'
import { notify } from '../../db/pg/notify.js'
import { inTransaction } from '../../db/pg/pool.js'
import { verifiedInClusters } from '../../db/registry/communities.js'
import { failpoint } from '../../ops/failpoint.js'
import { type RulesVersion, rulesAtBlock } from '../../registry/community/history.js'
import { areRequirementsMet } from '../../registry/community/requirements.js'
import type { CommunityRequirement } from '../../registry/community/rules.js'
import { encodePayment, requirementsHash } from '../../registry/journal/communityChange.js'
import type { Entry } from '../../registry/journal/entry.js'
import { keyOf, txKey } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'

/** Payments taken in one step: a batch holds the journal's head for some milliseconds. */
const BATCH = 100
/** Payers that are asked about beside one another: each may take twenty questions. */
const READS_AT_ONCE = 8
/**
 * Pauses before a payment whose payer can't be asked about is looked at again, by how often that failed; the last one
 * stays.
 */
const PAUSES_MS = [1_000, 2_000, 5_000, 10_000, 30_000]

export type JudgeOutcome =
  /** So many went into the journal; the fold has judged them. `waiting`: those that can't be judged yet. */
  | { kind: 'entered'; payments: number; waiting: number }
  /** None could: a chain that has to be asked about their payers is away. */
  | { kind: 'waiting'; waiting: number }
  /** The network has not been caught up: names may be taken by what is not known yet. */
  | { kind: 'catching_up' }
  | { kind: 'idle' }

/** What waits because a chain can't be asked. */
export interface JudgeState {
  waiting: number
  /** Since when the first of them does, ms; null for none. */
  sinceMs: number | null
  /** Why, as the last attempt was told. */
  reason: string | null
}

export interface PaymentJudge {
  readonly state: JudgeState
  /**
   * Takes believed payments for community names, oldest first, reads what is needed to judge them, and enters them into
   * the journal. One step, without timers. A payment whose payer can't be asked about delays no other.
   * @throws LostLeadershipError, or an error of the database; the next step goes on
   */
  step(): Promise<JudgeOutcome>
}

export interface PaymentJudgeOptions {
  pool: pg.Pool
  network: Network
  epoch: number
  /** The network's chains, where balances are asked for. */
  ports: readonly BalancePort[]
  nowMs?: () => number
}

/** A payment that waits. */
interface Stuck {
  id: Buffer
  failures: number
  nextMs: number
  sinceMs: number
}

/** A payment and the requirements that its payer was found to meet, or not. */
interface Read {
  payment: OpenPayment
  /** Of the rules in force at its block; null where there were none. */
  hash: Buffer | null
  isMet: boolean
}

export function createPaymentJudge(options: PaymentJudgeOptions): PaymentJudge {
  const { pool, network, ports, nowMs = Date.now } = options
  const stuck = new Map<string, Stuck>()
  const state: JudgeState = { waiting: 0, sinceMs: null, reason: null }

  const read = async (payment: OpenPayment, rules: RulesOf): Promise<Read | null> => {
    const asked = requirementsOf(payment, rules)
    if (!asked) return { payment, hash: null, isMet: false }
    const hash = requirementsHash(asked)
    if (payment.isRefused) return { payment, hash, isMet: false }
    try {
      const wallet = await readRequirementInputs({
        wallet: payment.payer,
        requirements: asked,
        ports,
        verifiedIn: (names) => verifiedInClusters(pool, network, payment.payer, names),
      })
      return { payment, hash, isMet: areRequirementsMet(asked, wallet) }
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error
      postpone(payment.id, error.message)
      return null
    }
  }

  const postpone = (id: Buffer, reason: string): void => {
    const before = stuck.get(keyOf(id))
    const failures = (before?.failures ?? 0) + 1
    const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1]!
    stuck.set(keyOf(id), { id, failures, nextMs: nowMs() + pauseMs, sinceMs: before?.sinceMs ?? nowMs() })
    state.reason = reason
  }

  const step = async (): Promise<JudgeOutcome> => {
    if (!(await readHead(pool, network)).caughtUp) return { kind: 'catching_up' }
    const resting = [...stuck.values()].filter(({ nextMs }) => nextMs > nowMs()).map(({ id }) => id)
    const open = await openCommunityPayments(pool, network, BATCH, resting)
    forget(resting, open)
    const rules = await rulesOf(pool, network, open)
    const queue = new PQueue({ concurrency: READS_AT_ONCE })
    const reads = (await queue.addAll(open.map((payment) => () => read(payment, rules)))).filter((one) => one !== null)
    const payments = reads.length > 0 ? await enter(options, reads) : 0
    for (const { payment } of reads) stuck.delete(keyOf(payment.id))
    settle()
    if (payments > 0) return { kind: 'entered', payments, waiting: stuck.size }
    return stuck.size > 0 ? { kind: 'waiting', waiting: stuck.size } : { kind: 'idle' }
  }

  /** Those that nobody waits for any more: a rewind took them back. */
  const forget = (resting: readonly Buffer[], open: readonly OpenPayment[]): void => {
    const known = new Set([...resting, ...open.map(({ id }) => id)].map(keyOf))
    for (const key of stuck.keys()) if (!known.has(key)) stuck.delete(key)
  }

  const settle = (): void => {
    state.waiting = stuck.size
    state.sinceMs = stuck.size > 0 ? Math.min(...[...stuck.values()].map(({ sinceMs }) => sinceMs)) : null
    if (stuck.size === 0) state.reason = null
  }

  return { state, step }
}

type RulesOf = ReadonlyMap<string, readonly RulesVersion[]>

/** The rules of the payments' communities, from the time of the first payment for each. */
async function rulesOf(
  db: pg.Pool | pg.ClientBase,
  network: Network,
  payments: readonly OpenPayment[],
): Promise<RulesOf> {
  const since = new Map<string, number>()
  for (const { communityName: name, paidMs } of payments) {
    if (name !== null) since.set(name, Math.min(paidMs, since.get(name) ?? paidMs))
  }
  if (since.size === 0) return new Map()
  const { generation } = await readHead(db, network)
  return readRules(db, network, generation, since)
}

/** What was asked of a payer at the time of the block; null where there was no community. */
function requirementsOf(
  { communityName, paidMs }: OpenPayment,
  rules: RulesOf,
): readonly CommunityRequirement[] | null {
  const history = communityName === null ? undefined : rules.get(communityName)
  return rulesAtBlock(history ?? [], paidMs)?.requirements ?? null
}

/**
 * Appends what was read, marks it, and queues what bought nothing to be given back, in one transaction. Behind the
 * head's lock the rules are read again: where they were set meanwhile, the payment is left for the next step.
 * @returns how many
 */
async function enter(
  { pool, network, epoch, nowMs = Date.now }: PaymentJudgeOptions,
  reads: readonly Read[],
): Promise<number> {
  failpoint('judge.before_transaction')
  const entered = await inTransaction(pool, async (client) => {
    await lockHead(client, network)
    const now = await rulesOf(
      client,
      network,
      reads.map(({ payment }) => payment),
    )
    const still = reads.filter(({ payment, hash }) => {
      const asked = requirementsOf(payment, now)
      return asked ? hash?.equals(requirementsHash(asked)) : hash === null
    })
    const payments = still.map(({ payment }) => payment)
    const { payments: judged } = await appendEntries(client, network, still.map(entryOf), { epoch, writerMs: nowMs() })
    await markAppended(
      client,
      network,
      payments.map(({ id }) => id),
    )
    const bought = new Set(judged.flatMap(({ judgement }, i) => (judgement.outcome === 'registered' ? [i] : [])))
    const refused = payments.filter((_, i) => !bought.has(i))
    await queueRefusals(client, network, refused, nowMs())
    if (still.length > 0) await notify(client, network)
    failpoint('judge.before_commit')
    return still.length
  })
  failpoint('judge.after_commit')
  return entered
}

function entryOf({ payment, hash, isMet }: Read): Entry {
  const { chain, block, sequence, tx, label, payer, money, target, referral } = payment
  const { community, name, recipient } = target
  return {
    kind: 'pay_community_name',
    position: { chain, block, logIndex: sequence },
    txKey: txKey(tx),
    causeMs: payment.paidMs,
    body: encodePayment({
      ...{ tx, network: label, payer, ...money, recipient, community, name, referral },
      blockMs: payment.paidMs,
      met: isMet ? hash : null,
    }),
  }
}
