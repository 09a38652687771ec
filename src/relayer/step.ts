import { SignerUnavailableError } from '../chains/evm/relayerAccount.js'
import type { NonceSender, Prepared } from '../chains/evm/signer.js'
import { classifyTxError } from '../chains/evm/txErrors.js'
import { failpoint } from '../ops/failpoint.js'
import { DAILY_CAP, DailyCapError, type NonceTx, type Purpose } from '../registry/outbox.js'
import { type Action, apply, type Event, type Policy, type Seen } from './machine/index.js'
import type { NonceJob } from './machine/job.js'
import { MOST_AHEAD, planNonceJob } from './machine/nonce.js'

/** Both methods compare versions and give false when the job has changed. */
export interface JobStore {
  save(after: NonceJob): Promise<boolean>
  /** Stores what `build` makes with the signer's next nonce, in one transaction. */
  saveWithNonce(build: (nonce: number) => Promise<NonceJob>): Promise<boolean>
}

export interface Clock {
  nowMs(): number
  /** Random number in [0, 1). */
  random(): number
}

export interface Ports {
  sender: NonceSender
  store: JobStore
  clock: Clock
}

/** Outcome of a step. All but `waiting`, `unreachable` and `stale` have stored something. */
export type Outcome =
  | Event<NonceTx>['is']
  | ('replaced' | 'cancelled' | 'resent' | 'waiting')
  /** The chain could not be asked; nothing changed. */
  | 'unreachable'
  /** Another process has changed the job: load it again. */
  | 'stale'

const NO_PROGRESS = new Set<Outcome>(['waiting', 'unreachable', 'stale'])
export const isProgress = (outcome: Outcome): boolean => !NO_PROGRESS.has(outcome)

/**
 * First half of a step: looks as closely as the plan asks for, and changes nothing. A job is stepped until it waits or
 * has ended; a killed process resumes from the stored state.
 * @returns second half: does what was decided, and stores it; it throws only what the store and the offline signer do
 */
export async function decide(
  job: NonceJob,
  ports: Ports,
  policy: Policy,
): Promise<() => Promise<Outcome>> {
  const { sender, clock } = ports
  try {
    const view = await sender.look(job)
    let seen: Seen = { ...view, nowMs: clock.nowMs(), random: clock.random(), prepared: null }
    for (;;) {
      const action = planNonceJob(job, seen, policy)
      if (action.do !== 'prepare') return carryOut.bind(null, job, action, seen, ports)
      seen = { ...seen, prepared: await prepare(sender, job, action.purpose) }
    }
  } catch {
    return async () => 'unreachable'
  }
}

async function carryOut(
  job: NonceJob,
  deed: Exclude<Action, { do: 'prepare' }>,
  seen: Seen,
  ports: Ports,
): Promise<Outcome> {
  switch (deed.do) {
    case 'wait':
      return 'waiting'
    case 'record':
      return store(job, deed.event, seen, ports)
    case 'sign':
      return sign(job, deed, seen, ports)
    case 'broadcast':
      return broadcast(job, deed.tx, seen, ports)
  }
}

/** A question that fails is a failed attempt, so the pause grows. */
async function prepare(sender: NonceSender, job: NonceJob, purpose: Purpose): Promise<Prepared> {
  try {
    return await sender.prepare(job, purpose)
  } catch (error) {
    return { failure: classifyTxError(error) }
  }
}

async function sign(
  job: NonceJob,
  order: Extract<Action, { do: 'sign' }>,
  seen: Seen,
  ports: Ports,
): Promise<Outcome> {
  const { purpose, gas, fees, valueWei } = order
  const build = async (nonce: number): Promise<NonceJob> => {
    const { hash, raw } = await ports.sender.sign({ purpose, nonce, gas, fees, valueWei })
    const tx: NonceTx = {
      hash,
      raw,
      purpose,
      gas,
      valueWei,
      ...fees,
      sentBlock: null,
      isRejected: false,
    }
    failpoint('relay.sign')
    return apply(job, { is: 'signed', nonce, tx }, seen)
  }
  const { nonce } = order
  try {
    const isStored =
      nonce === null
        ? await ports.store.saveWithNonce(build)
        : await ports.store.save(await build(nonce))
    failpoint('relay.signed')
    if (!isStored) return 'stale'
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === null) throw error
    // nothing replaces the last one, which nodes may have dropped
    const last = nonce === null ? undefined : job.txs.at(-1)
    if (last?.purpose === purpose) await ports.sender.broadcast(last.raw).catch(() => null)
    return store(job, { is: 'failed', failure: { class: 'transient', reason } }, seen, ports)
  }
  if (purpose === 'cancel') return 'cancelled'
  return nonce === null ? 'signed' : 'replaced'
}

/** Why nothing was signed, where another attempt may be. */
function reasonOf(error: unknown): string | null {
  if (error instanceof DailyCapError) return DAILY_CAP
  return error instanceof SignerUnavailableError ? 'signer_unreachable' : null
}

async function broadcast(job: NonceJob, tx: NonceTx, seen: Seen, ports: Ports): Promise<Outcome> {
  let event: Event<NonceTx> = { is: 'sent', hash: tx.hash }
  let { head } = seen
  try {
    // blocks mined since the look, while others were sent, are no reason to replace the transaction
    const told = await ports.sender.broadcast(tx.raw)
    if (told !== null && told <= head + MOST_AHEAD) head = Math.max(head, told)
  } catch (error) {
    event = { is: 'refused', hash: tx.hash, failure: classifyTxError(error) }
  }
  failpoint('relay.broadcast')
  const outcome = await store(job, event, { ...seen, head }, ports)
  return outcome === 'sent' && tx.sentBlock !== null ? 'resent' : outcome
}

async function store(
  job: NonceJob,
  event: Event<NonceTx>,
  seen: Seen,
  ports: Ports,
): Promise<Outcome> {
  if (!(await ports.store.save(apply(job, event, seen)))) return 'stale'
  failpoint(`relay.${event.is}`)
  return event.is === 'refused' && event.failure.class === 'known' ? 'sent' : event.is
}
