import type { JobRow } from '../../db/outbox/rows.js'
import { alarmFields } from '../../ops/alarms.js'
import type { Logger } from '../../ops/log/log.js'
import { DAILY_CAP, INSUFFICIENT_FUNDS, type JobKind } from '../../registry/outbox.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import type { PayerState } from '../payer.js'
import type { RelayerState, StuckMessage } from '../relayer.js'
import type { Outcome } from '../step.js'
import { DAY_MS, LOW_BALANCE_LAMPORTS } from './problems.js'

const DONE: Record<JobKind, string> = {
  verify: 'verified',
  execute: 'delivered',
  noop: 'used a nonce up',
  deliver: 'delivered',
  refuse: 'refunded a payment for a community name',
  settle: 'settled on Solana',
  refund: 'refunded on Solana',
  release: 'released a payment for a community name',
}

/** Logs what an operator has to know of a network's jobs, each thing once. */
export class Alarms {
  readonly #log: Logger
  readonly #network: Network
  readonly #nowMs: () => number
  /** The packets that were stuck at the last step. */
  #stuck: ReadonlySet<string> = new Set()
  /** The last value of each condition that is logged when it rises. */
  readonly #levels = new Map<string, number>()
  /** Numbers of the chains on which the signer has run dry. */
  readonly #dry = new Set<number>()

  constructor(log: Logger, network: Network, nowMs: () => number) {
    this.#log = log
    this.#network = network
    this.#nowMs = nowMs
  }

  outcome(job: JobRow, { outcome }: Pick<Outcome, 'outcome'>): void {
    const fields = fieldsOf(job)
    if (outcome === 'sent') this.#dry.delete(job.chain)
    if (outcome === 'parked') this.#parked(job, fields)
    else if (outcome === 'failed' || outcome === 'refused') this.#failed(job, fields)
    else if (outcome === 'confirmed') this.#confirmed(job, fields)
    else if (outcome === 'waiting' || outcome === 'ended') this.#log.trace(fields, outcome)
    else this.#log.debug(fields, outcome === 'unreachable' ? 'the chain could not be asked' : outcome)
  }

  stuck(messages: readonly StuckMessage[]): void {
    const known = this.#stuck
    this.#stuck = new Set(messages.map(({ guid }) => toHex(guid)))
    for (const { guid, sentMs } of messages) {
      const fields = { network: this.#network, guid: toHex(guid), ms: this.#nowMs() - sentMs }
      if (!known.has(fields.guid))
        this.#log.warn(
          { ...fields, ...alarmFields('ClusterdPacketsStuck') },
          'a packet is stuck: the hub has not received it',
        )
    }
  }

  relayer({ chain, stats, nonceGaps, nonceClaimed }: RelayerState): void {
    if (this.#hasRisen(`nonce on ${chain}`, nonceClaimed ?? 0))
      this.#log.error(
        { network: this.#network, chain, count: nonceClaimed, ...alarmFields('ClusterdNonceClaimed') },
        "the signer's transaction count is far above the stored nonce, nothing is signed: see `clusterd outbox nonce`",
      )
    if (this.#hasRisen(`gaps on ${chain}`, nonceGaps))
      this.#log.warn(
        { network: this.#network, chain, gaps: nonceGaps, ...alarmFields('ClusterdNonceGap') },
        'nonces are missing: later ones wait for them',
      )
    const jobs = stats?.heldByOthers ?? 0
    if (this.#hasRisen(`held by others on ${chain}`, jobs))
      this.#log.error(
        { network: this.#network, chain, jobs },
        'jobs hold nonces of another key: they are followed, and replaced or cancelled by that key alone',
      )
  }

  payer({ stats, balanceLamports }: PayerState, autoRefunds: boolean): void {
    const network = this.#network
    const isLow = balanceLamports !== null && balanceLamports < LOW_BALANCE_LAMPORTS
    if (this.#hasRisen('isLow', Number(isLow)))
      this.#log.error(
        { network, lamports: String(balanceLamports), ...alarmFields('ClusterdRelayAuthorityRunsDry') },
        'the relay authority on Solana runs dry: send it SOL',
      )
    const refunds = autoRefunds ? 0 : (stats?.owed.count ?? 0)
    if (this.#hasRisen('owed', refunds))
      this.#log.warn(
        { network, refunds, ...alarmFields('ClusterdRefundsOwed') },
        'refunds are owed on Solana: see `clusterd outbox list --refunds`',
      )
    // without the authority's key nobody refuses them
    const payments = balanceLamports === null ? queuedRefusals(stats) : 0
    if (this.#hasRisen('refusals', payments))
      this.#log.error(
        { network, payments, ...alarmFields('ClusterdRelayKeyMissing') },
        "payments on Solana wait to be refunded: set the relay authority's key",
      )
  }

  #hasRisen(what: string, level: number): boolean {
    const before = this.#levels.get(what) ?? 0
    this.#levels.set(what, level)
    return level > before
  }

  #confirmed(job: JobRow, fields: object): void {
    const sinceMs = job.message?.sentMs ?? job.payment?.paidMs ?? job.createdMs
    this.#log.info({ ...fields, ms: this.#nowMs() - sinceMs }, DONE[job.kind])
  }

  #parked(job: JobRow, about: object): void {
    const fields = { ...about, ...alarmFields('ClusterdJobsParked') }
    if (job.reason === 'settled_elsewhere' || job.reason === 'refunded_elsewhere')
      this.#log.error(fields, 'a job is parked: somebody else decided about its money')
    else this.#log.warn(fields, 'a job is parked: see `clusterd outbox show`')
  }

  #capped({ chain }: JobRow, fields: object): void {
    const day = Math.floor(this.#nowMs() / DAY_MS)
    if (this.#hasRisen(`day of chain ${chain}`, day))
      this.#log.error(
        fields,
        'the signer has signed for all that it may in a day (dailyCapWei): jobs wait for the next',
      )
  }

  #failed(job: JobRow, fields: object): void {
    if (job.reason === DAILY_CAP) this.#capped(job, fields)
    else if (job.reason === INSUFFICIENT_FUNDS) {
      if (!this.#dry.has(job.chain))
        this.#log.error(
          { ...fields, ...alarmFields('ClusterdRelayerRunsDry') },
          'the signer has run dry: send it funds; jobs wait for them',
        )
      this.#dry.add(job.chain)
    } else if (job.failures <= 1) this.#log.warn(fields, 'a job failed; it will be tried again')
    else this.#log.debug(fields, 'a job failed again')
  }
}

const queuedRefusals = (stats: PayerState['stats']): number =>
  stats?.open.find(({ kind, state }) => kind === 'refuse' && state === 'queued')?.count ?? 0

const fieldsOf = ({ network, id, kind, nonce, subject, payment, txs, failures, reason }: JobRow) => ({
  ...{ network, job: id, kind, nonce, subject: subject && toHex(subject) },
  ...(payment && { token: payment.money.token, amount: String(payment.money.amount) }),
  ...{ tx: txs.at(-1)?.hash, failures, reason },
})
