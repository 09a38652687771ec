import type { JobRow } from '../../db/outbox/rows.js'
import { alarmFields, type Problem } from '../../ops/alarms.js'
import type { Logger } from '../../ops/log/log.js'
import type { JobKind } from '../../registry/outbox.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import type { StuckMessage } from '../relayer.js'
import type { Outcome } from '../step.js'

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
export class OutboxLog {
  readonly #log: Logger
  readonly #network: Network
  readonly #nowMs: () => number
  /** Guids of the packets that were stuck at the last step. */
  #stuck: ReadonlySet<string> = new Set()
  /** Alarms of the last step. */
  #alarms: ReadonlySet<Problem['alarm']> = new Set()

  constructor(log: Logger, network: Network, nowMs: () => number) {
    this.#log = log
    this.#network = network
    this.#nowMs = nowMs
  }

  outcome(job: JobRow, { outcome }: Pick<Outcome, 'outcome'>): void {
    const fields = fieldsOf(job)
    if (outcome === 'parked') this.#parked(job, fields)
    else if (outcome === 'failed' || outcome === 'refused') {
      if (job.failures <= 1) this.#log.warn(fields, 'a job failed; it will be tried again')
      else this.#log.debug(fields, 'a job failed again')
    } else if (outcome === 'confirmed') this.#confirmed(job, fields)
    else if (outcome === 'waiting' || outcome === 'ended') this.#log.trace(fields, outcome)
    else this.#log.debug(fields, outcome === 'unreachable' ? 'the chain could not be asked' : outcome)
  }

  stuck(messages: readonly StuckMessage[]): void {
    const known = this.#stuck
    this.#stuck = new Set(messages.map(({ guid }) => toHex(guid)))
    for (const { guid, sentMs } of messages) {
      const fields = { network: this.#network, guid: toHex(guid), ms: this.#nowMs() - sentMs }
      if (!known.has(fields.guid)) this.#log.warn(fields, 'a packet is stuck: the hub has not received it')
    }
  }

  /** Logs each alarm when it begins. */
  problems(problems: readonly Problem[]): void {
    const known = this.#alarms
    this.#alarms = new Set(problems.map(({ alarm }) => alarm))
    for (const alarm of this.#alarms) {
      if (known.has(alarm)) continue
      const texts = problems.filter((problem) => problem.alarm === alarm).map(({ text }) => text)
      this.#log.error({ network: this.#network, ...alarmFields(alarm) }, texts.join('; '))
    }
  }

  #confirmed(job: JobRow, fields: object): void {
    const sinceMs = job.message?.sentMs ?? job.payment?.paidMs ?? job.createdMs
    this.#log.info({ ...fields, ms: this.#nowMs() - sinceMs }, DONE[job.kind])
  }

  #parked(job: JobRow, fields: object): void {
    if (job.reason === 'settled_elsewhere' || job.reason === 'refunded_elsewhere')
      this.#log.error(fields, 'a job is parked: somebody else decided about its money')
    else this.#log.warn(fields, 'a job is parked: see `clusterd outbox show`')
  }
}

const fieldsOf = ({ network, id, kind, nonce, subject, payment, txs, failures, reason }: JobRow) => ({
  ...{ network, job: id, kind, nonce, subject: subject && toHex(subject) },
  ...(payment && { token: payment.money.token, amount: String(payment.money.amount) }),
  ...{ tx: txs.at(-1)?.hash, failures, reason },
})
