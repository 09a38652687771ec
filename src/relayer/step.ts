import { ChainUnavailableError } from '../chains/chain.js'
import type { EvmJobState } from '../chains/evm/jobView.js'
import { SignerUnavailableError } from '../chains/evm/relayerAccount.js'
import type { EvmJobSender, SimulatedTx } from '../chains/evm/signer.js'
import { RefusedByNodesError, RpcError, reasonOfError } from '../chains/rpc/errors.js'
import type { JobChange } from '../db/outbox/jobs.js'
import { failpoint } from '../ops/failpoint.js'
import { fallbackOnExpectedError } from '../ops/logger/errors.js'
import {
  DailyCapError,
  type EvmJobTx,
  REFUSED_BY_NODES,
  type TxFailure,
  type TxPurpose,
  WAITS_FOR_DAILY_CAP,
} from '../registry/outbox.js'
import {
  applyJobEvent,
  type EvmJobAction,
  type EvmJobSnapshot,
  type JobEvent,
  type SpendPolicy,
} from './machine/index.js'
import type { EvmJob } from './machine/job.js'
import { hasSentTransaction, MAX_BLOCKS_NODE_IS_AHEAD, planEvmJobStep } from './machine/nonce.js'

/**
 * Stores a changed job.
 * @param after the job after a step, or a function that makes the job with the signer's next nonce
 * @returns false when another process has changed the job's row
 */
export type SaveJob = (after: JobChange<EvmJob>['after']) => Promise<boolean>

/** Source of time and randomness, which tests replace. */
export interface RelayerClock {
  nowMs(): number
  /** Random number in [0, 1). */
  random(): number
}

interface JobStepDependencies {
  sender: EvmJobSender
  save: SaveJob
  clock: RelayerClock
  /** Called with each error of a node: the job's outcome has only the error's reason. */
  onNodeError?: (error: Error) => void
}

/** Outcome of a step. All except `waiting`, `unreachable` and `stale` have stored something. */
export type JobStepOutcome =
  | JobEvent<EvmJobTx>['is']
  | ('replaced' | 'cancelled' | 'resent' | 'waiting')
  /** The chain could not be reached. Nothing changed. */
  | 'unreachable'
  /** Another process has changed the job, so it has to be loaded again. */
  | 'stale'

const NO_PROGRESS_OUTCOMES = new Set<JobStepOutcome>(['waiting', 'unreachable', 'stale'])
export const isProgressOutcome = (outcome: JobStepOutcome): boolean =>
  !NO_PROGRESS_OUTCOMES.has(outcome)

/** True for an error that a node or a signer can cause. Any other error is one of our own code or of the database. */
const isChainError = (error: unknown): error is ChainUnavailableError | RpcError =>
  error instanceof ChainUnavailableError || error instanceof RpcError

/**
 * First half of a step: reads as much of the chain's state as the plan needs, and changes nothing. A job is stepped
 * until it waits or has ended. After a crash, the stored state is enough to continue.
 * @returns the second half, which executes the action and stores the result. It throws errors of the store.
 * @throws errors of our own code, as does the second half. Errors of nodes and signers become outcomes.
 */
export async function decideJobStep(
  job: EvmJob,
  ports: JobStepDependencies,
  policy: SpendPolicy,
): Promise<() => Promise<JobStepOutcome>> {
  const { clock } = ports
  const view = await readJobState(job, ports)
  if (view === null) return async () => 'unreachable'

  let seen: EvmJobSnapshot = {
    ...view,
    nowMs: clock.nowMs(),
    random: clock.random(),
    prepared: null,
  }
  for (;;) {
    const action = planEvmJobStep(job, seen, policy)
    if (action.do !== 'prepare') return () => executeAction(job, action, seen, ports)
    const before = seen
    const isEnough = (prepared: SimulatedTx) =>
      planEvmJobStep(job, { ...before, prepared }, policy).do === 'sign'
    seen = { ...before, prepared: await prepareTransaction(job, action.purpose, isEnough, ports) }
  }
}

/** Reads the state of a job on the chain. Null while too few nodes answer. */
async function readJobState(
  job: EvmJob,
  { sender, onNodeError }: JobStepDependencies,
): Promise<EvmJobState | null> {
  try {
    return await sender.look(job)
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error
    onNodeError?.(error)
    return null
  }
}

async function executeAction(
  job: EvmJob,
  action: Exclude<EvmJobAction, { do: 'prepare' }>,
  seen: EvmJobSnapshot,
  ports: JobStepDependencies,
): Promise<JobStepOutcome> {
  switch (action.do) {
    case 'wait':
      return 'waiting'
    case 'record':
      return storeEvent(job, action.event, seen, ports)
    case 'sign':
      return signAndStore(job, action, seen, ports)
    case 'broadcast':
      return broadcastAndStore(job, action.tx, seen, ports)
  }
}

/**
 * Simulates the job's transaction and estimates gas and fees. A failed call counts as a failed attempt, so that the
 * pause grows.
 */
async function prepareTransaction(
  job: EvmJob,
  purpose: TxPurpose,
  isEnough: (simulated: SimulatedTx) => boolean,
  { sender, onNodeError }: JobStepDependencies,
): Promise<SimulatedTx> {
  try {
    return await sender.prepare(purpose, job.valueWei, isEnough)
  } catch (error) {
    if (!isChainError(error)) throw error
    onNodeError?.(error)
    return { failure: { class: 'transient', reason: reasonOfError(error) } }
  }
}

async function signAndStore(
  job: EvmJob,
  order: Extract<EvmJobAction, { do: 'sign' }>,
  seen: EvmJobSnapshot,
  ports: JobStepDependencies,
): Promise<JobStepOutcome> {
  const { purpose, nonce } = order
  const build = async (used: number): Promise<EvmJob> => {
    const tx = await ports.sender.sign(order, used)
    failpoint('relay.sign')
    return applyJobEvent(job, { is: 'signed', nonce: used, tx }, seen)
  }
  try {
    const isStored = await ports.save(nonce === null ? build : await build(nonce))
    failpoint('relay.signed')
    if (!isStored) return 'stale'
  } catch (error) {
    const reason = retryReasonOf(error)
    if (reason === null) throw error
    // sends the last transaction again: no replacement was signed, and nodes may have dropped the transaction
    const last = nonce === null ? undefined : job.txs.at(-1)
    const isTaken =
      last?.purpose === purpose &&
      (await fallbackOnExpectedError(
        ports.sender.broadcast(last.raw).then(() => true),
        isChainError,
        false,
      ))
    // later nonces must not wait until the next day: a cancel costs less than the sum already booked for the nonce
    const isFreed =
      reason === WAITS_FOR_DAILY_CAP &&
      purpose === 'deliver' &&
      last?.isRejected === true &&
      !isTaken &&
      !hasSentTransaction(job, seen)
    const failure: TxFailure = { class: isFreed ? 'revert' : 'transient', reason }
    return storeEvent(job, { is: 'failed', failure }, seen, ports)
  }
  if (purpose === 'cancel') return 'cancelled'
  return nonce === null ? 'signed' : 'replaced'
}

/** Reason to try again later: the daily cap, or a signer that does not answer. Null for any other error. */
function retryReasonOf(error: unknown): string | null {
  if (error instanceof DailyCapError) return WAITS_FOR_DAILY_CAP
  return error instanceof SignerUnavailableError ? 'signer_unreachable' : null
}

async function broadcastAndStore(
  job: EvmJob,
  tx: EvmJobTx,
  seen: EvmJobSnapshot,
  ports: JobStepDependencies,
): Promise<JobStepOutcome> {
  let event: JobEvent<EvmJobTx> = { is: 'sent', hash: tx.hash }
  let { head } = seen
  try {
    // blocks that were mined since the observation are no reason to replace the transaction
    const newest = await ports.sender.broadcast(tx.raw)
    if (newest !== null && newest <= head + MAX_BLOCKS_NODE_IS_AHEAD) head = Math.max(head, newest)
  } catch (error) {
    if (!isChainError(error)) throw error
    ports.onNodeError?.(error)
    // while an earlier nonce is unused, nodes may refuse every transaction
    const isRefused = seen.nonce === 'next' && error instanceof RefusedByNodesError
    const reason = isRefused ? REFUSED_BY_NODES : reasonOfError(error)
    event = { is: 'refused', hash: tx.hash, reason }
  }
  failpoint('relay.broadcast')
  const outcome = await storeEvent(job, event, { ...seen, head }, ports)
  return outcome === 'sent' && tx.sentBlock !== null ? 'resent' : outcome
}

async function storeEvent(
  job: EvmJob,
  event: JobEvent<EvmJobTx>,
  seen: EvmJobSnapshot,
  ports: JobStepDependencies,
): Promise<JobStepOutcome> {
  if (!(await ports.save(applyJobEvent(job, event, seen)))) return 'stale'
  failpoint(`relay.${event.is}`)
  return event.is
}
