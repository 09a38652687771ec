import type pg from 'pg'
import type { NodeCounters } from '../chains/rpc/nodes.js'
import type { Config } from '../config/index.js'
import type { LeaderRole } from '../db/leaders/leaders.js'
import { type AlarmName, alarmLogFields, type ProblemWithAlarm } from '../ops/alarms.js'
import { type ChainState, chainProblem } from '../ops/chainState.js'
import { type FailedRoute, failedRequestProblems } from '../ops/failedRequests.js'
import { type InternalErrorCount, internalErrorProblems } from '../ops/internalErrors.js'
import type { Logger } from '../ops/logger/logger.js'
import { databaseAndClockProblems, type LoopState, loopProblems } from '../ops/loops.js'
import type { LoopWaker } from '../ops/waiting.js'
import { IDLE_POLL_MS, type Worker } from '../ops/worker.js'
import type { Network } from '../registry/primitives/network.js'
import { type OutboxState, outboxProblems } from '../relayer/report.js'

/** A chain that this process serves. */
export interface ServedChain {
  network: Network
  label: string
  role: 'hub' | 'spoke'
  /** State of the chain's indexer. Null while this process does not index the chain. */
  state: ChainState | null
  /** Counters of the chain's nodes, by consumer. */
  nodes: readonly { use: string; nodes: readonly NodeCounters[] }[]
}

/**
 * All that a process knows about its health at one time. `/health`, `/ready`, `/status`, `/metrics`, the alarms and the
 * operator's page are views of this snapshot.
 */
export interface ProcessSnapshot {
  /** Time of the snapshot, Unix ms. */
  nowMs: number
  config: Pick<Config, 'chains' | 'roles' | 'seededAlarms'>
  isStopping: boolean
  chains: readonly ServedChain[]
  /** Networks and roles that this process leads, or stands by for. */
  leads: readonly { network: Network; role: LeaderRole; isLeading: boolean }[]
  /** Networks that this process mirrors. `problem`: why the source's log is not read. */
  mirrors: readonly { network: Network; problem: ProblemWithAlarm | null }[]
  /** Outboxes that this process leads. */
  outboxes: readonly OutboxState[]
  /** Networks whose chains need a relayer, whether or not jobs wait or this process relays for them. */
  relayed: readonly Network[]
  loops: readonly LoopState[]
  internalErrors: readonly InternalErrorCount[]
  /** Alarms that workers of this process raise, and of databases that lost commits. */
  raised: readonly ProblemWithAlarm[]
  failedRoutes: readonly FailedRoute[]
  pools: Readonly<Record<string, Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>>>
  /** Number of signed changes that wait in the queue. */
  changesWaiting: number
  /** Number of open requests by kind: long polls for a status, and streams of the feed. */
  openLongRequests: Readonly<Record<string, number>>
}

/** A process's alarms. A problem makes `/status` 503, a warning does not. */
export interface Alarms {
  problems: ProblemWithAlarm[]
  warnings: ProblemWithAlarm[]
}

/**
 * All alarms of a snapshot, one for each cause.
 * @param installation problems of the database, the leaders and the chains, which `/status` also reads from the
 * database
 */
export function collectAlarms(
  snapshot: ProcessSnapshot,
  installation: readonly ProblemWithAlarm[],
): Alarms {
  const { nowMs, loops, mirrors, internalErrors, failedRoutes, raised, chains, outboxes } = snapshot
  const problems = [
    ...databaseAndClockProblems(loops),
    ...mirrors.flatMap(({ network, problem }) => (problem ? [{ ...problem, network }] : [])),
    ...internalErrorProblems(internalErrors),
    ...failedRequestProblems(failedRoutes),
    ...installation,
  ]
  const warnings = [
    ...raised,
    ...chains.flatMap(wrongNodeProblems),
    ...outboxes.flatMap((outbox) => outboxProblems(outbox, nowMs)),
  ]
  return {
    problems,
    warnings: [...warnings, ...loopProblems(loops, [...problems, ...warnings])],
  }
}

/** Alarms of this process and of the chains that it indexes, without a read of the database. */
export function processAlarms(snapshot: ProcessSnapshot): Alarms {
  const chains = snapshot.chains.flatMap(({ state }) => state ?? [])
  const problems = chains.flatMap((state) => {
    const problem = chainProblem(state, snapshot.nowMs)
    return problem ? [withChainName(state, problem)] : []
  })
  return collectAlarms(snapshot, problems)
}

/** Alarms that last until an operator acts. */
const LASTING_ALARMS: ReadonlySet<AlarmName> = new Set<AlarmName>([
  'ClusterdChainHalted',
  'ClusterdMirrorRefused',
])

/**
 * Creates the worker that logs alarms of this process when they begin: all warnings, and the problems that last until
 * an operator acts. Other problems, such as a chain that catches up, are only in `/status` and metrics.
 * @param notify wakes the worker before its next poll, for alarms that are logged immediately
 */
export function createAlarmLogWorker(
  log: Logger,
  read: () => ProcessSnapshot,
  notify?: LoopWaker,
): Worker {
  // the text is not part of the key: ages and errors in the text change while the alarm lasts
  const keyOf = ({ alarm, network, chain, subject }: ProblemWithAlarm) =>
    JSON.stringify([alarm, network, chain, subject])
  let known: ReadonlySet<string> = new Set()
  return {
    name: 'the log of alarms',
    fields: {},
    pollMs: IDLE_POLL_MS,
    ...(notify && { notify }),
    async step() {
      const { problems, warnings } = processAlarms(read())
      const alarms = [...problems.filter(({ alarm }) => LASTING_ALARMS.has(alarm)), ...warnings]
      for (const problem of alarms) {
        const { alarm, text, ...place } = problem
        if (!known.has(keyOf(problem))) log.error({ ...place, ...alarmLogFields(alarm) }, text)
      }
      known = new Set(alarms.map(keyOf))
      return 'idle'
    },
  }
}

/** Adds a chain's network and label to a problem: as fields, and at the beginning of its text. */
export const withChainName = (
  { network, label }: Pick<ServedChain, 'network' | 'label'>,
  { alarm, text }: ProblemWithAlarm,
): ProblemWithAlarm => ({
  alarm,
  text: `${network} chain "${label}": ${text}`,
  network,
  chain: label,
})

/** Problems of nodes that serve another chain, or whose logs were refuted: one for each node. */
function wrongNodeProblems({ network, label, nodes }: ServedChain): ProblemWithAlarm[] {
  const wrong = nodes.flatMap((consumer) => consumer.nodes.filter(({ isWrong }) => isWrong))
  const hosts = new Set(wrong.map(({ host }) => host))
  return [...hosts].map((host) => ({
    alarm: 'ClusterdRpcWrongChain',
    text: `an RPC URL of chain "${label}" at ${host} serves another chain, or false logs`,
    network,
    chain: label,
    subject: host,
  }))
}
