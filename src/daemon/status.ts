import type pg from 'pg'
import type { Config } from '../config/index.js'
import { readChainStates, type StoredChainState } from '../db/chains/states.js'
import type { LeaderRole } from '../db/leaders/leaders.js'
import { type Leader, readLeaders } from '../db/leaders/leaders.js'
import { type MirroredNetwork, readMirrorAges, readMirroredNetworks } from '../db/mirror/mirrors.js'
import type { NetworkIndexRun } from '../indexer/run.js'
import type { NetworkMirrorRun } from '../mirror/run.js'
import {
  type AlarmName,
  alarmLogFields,
  type ProblemWithAlarm,
  STUCK_LOOP_ALARM_MS,
} from '../ops/alarms.js'
import { type ChainState, chainProblem, headAgeMs, indexingLagMs } from '../ops/chainState.js'
import type { FailedRequests } from '../ops/failedRequests.js'
import { REMEDIES } from '../ops/generated/remedies.js'
import { errorSentence, fallbackOnExpectedError, isInternalError } from '../ops/log/errors.js'
import type { LoopState, WorkerLoops } from '../ops/loops.js'
import { withTimeout } from '../ops/notify.js'
import type { NodeCounters } from '../ops/rpcMetrics.js'
import { SERVICE_VERSION } from '../ops/version.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'
import { outboxProblems } from '../relayer/report.js'
import type { RelayRun } from '../relayer/run.js'
import { NAME_PROOF_LOOP } from './proof.js'

/** Timeout of the database queries for /ready and /status, ms. */
const PROBE_LIMIT_MS = 3_000
/** Age from which a chain's stored state is ignored, ms: its leader has missed several writes. */
const STATE_LIMIT_MS = 10_000

/** Sources of the answers to an operator: /health, /ready and /status. */
export interface StatusSources {
  config: Pick<Config, 'chains' | 'roles'>
  /** Every chain that this process serves. */
  chains: readonly { network: Network; label: string; role: 'hub' | 'spoke' }[]
  pool: pg.Pool
  loops: WorkerLoops
  runs: readonly NetworkIndexRun[]
  mirrors: readonly NetworkMirrorRun[]
  relays: readonly RelayRun[]
  /** Networks with messages or payments to deliver. */
  relayed: ReadonlySet<Network>
  /** Counts of this process's requests and failures in the last minute. */
  requests: FailedRequests
  /** The nodes of every chain, as seen by this process. */
  nodes(): readonly { chain: string; nodes: readonly NodeCounters[] }[]
  isStopping: boolean
}

/** Answer of /health: whether no worker loop of this process is stuck. */
export function checkProcessHealth({ loops }: Pick<StatusSources, 'loops'>) {
  const stuck = loops.states().filter(({ ageMs }) => ageMs > STUCK_LOOP_ALARM_MS)
  return {
    isGood: stuck.length === 0,
    status: stuck.length === 0 ? 'ok' : 'stuck',
    stuck: stuck.map(loopAnswer),
  }
}

/** Answer of /ready: whether this process can fulfil its roles. Ignores chains and other processes. */
export async function checkProcessReadiness(sources: StatusSources) {
  const copies = await probed(readMirrorAges(sources.pool), null)
  const uncopied = (copies ?? []).filter(({ ageMs }) => ageMs === null)
  const problems = [
    ...(sources.isStopping ? ['this process is stopping'] : []),
    ...(copies ? [] : [NO_ANSWER]),
    ...uncopied.map(({ network }) => `the mirror of ${network} has copied nothing yet`),
    ...checkProcessHealth(sources).stuck.map(
      ({ name }) => `a loop has not turned for ${STUCK_LOOP_ALARM_MS / 1_000} s: ${name}`,
    ),
  ]
  return {
    isGood: problems.length === 0,
    ready: problems.length === 0,
    problems,
    roles: sources.config.roles,
  }
}

/** Answer of /status: whether the whole installation works, as seen from this process. */
export async function installationStatus(sources: StatusSources) {
  const { config, pool, runs, relays, loops } = sources
  const nowMs = Date.now()
  const answer = Promise.all([readChainStates(pool), readLeaders(pool), readMirroredNetworks(pool)])
  // the newest reason why the database does not answer
  let databaseFault = NO_ANSWER
  answer.catch((error: unknown) => {
    databaseFault = `${NO_ANSWER}: ${errorSentence(error)}`
  })
  const stored = await probed(answer, null)
  const [states, leaders, copies] = stored ?? [[], [], new Map<Network, MirroredNetwork>()]
  const causes = loops.problems()
  const isCopied = (network: Network) =>
    copies.has(network) || sources.mirrors.some((mirror) => mirror.network === network)
  const isExplained = ({ network }: { network: Network }) =>
    !stored || (causes.length > 0 && !isLed(leaders, network, 'index'))
  const chains = sources.chains.flatMap(({ role, ...chain }) => {
    if (!isCopied(chain.network)) {
      const found = stateOf(chain, runs, { states, leaders }, nowMs)
      const follows = found.problem !== null && FOLLOWING.has(found.problem.alarm)
      return [isExplained(chain) && follows ? { ...found, problem: null } : found]
    }
    return role === 'hub'
      ? [{ ...chain, state: null, problem: unproved(chain.network, loops) }]
      : []
  })
  const isDatabaseNamed = causes.some(({ alarm }) => alarm === 'ClusterdDatabaseAway')
  const problems = [
    ...causes,
    ...(stored || isDatabaseNamed
      ? []
      : [{ alarm: 'ClusterdDatabaseAway' as const, text: databaseFault }]),
    ...sources.mirrors.flatMap((mirror) => mirror.problem() ?? []),
    ...loops.ownErrors.problems(),
    ...sources.requests.problems(),
    ...(stored ? unindexed(sources, leaders) : []).filter(
      (unled) => !isCopied(unled.network) && !isExplained(unled),
    ),
    ...chains.flatMap(({ network, label, problem }) =>
      problem ? [{ ...problem, text: `${network} chain "${label}": ${problem.text}` }] : [],
    ),
  ]
  const warnings = [
    ...loops.raised.values(),
    ...sources.nodes().flatMap(wrongNodes),
    ...(stored ? unrelayed(sources, leaders, isCopied) : []),
    ...relays.flatMap((relay) => outboxProblems(relay.state(), nowMs)),
  ]
  return {
    isGood: problems.length === 0,
    ok: problems.length === 0,
    version: SERVICE_VERSION,
    problems: problems.map(textOf),
    warnings: warnings.map(textOf),
    alarms: [...problems, ...warnings].map(alarmAnswer),
    roles: config.roles,
    leaders: leaders.map((leader) => ({ ...leader, isThisProcess: leads(leader, runs, relays) })),
    chains: chains.map(({ state, problem, ...chain }) => ({
      ...chain,
      problem: problem?.text ?? null,
      ...(state ? chainAnswer(state, nowMs) : copyAnswer(copies.get(chain.network))),
    })),
    mirrors: [...copies.values()]
      .filter(({ ageMs }) => ageMs !== null)
      .map(({ network, ageMs }) => ({ network, ageSeconds: seconds(ageMs) })),
    loops: loops.states().map(loopAnswer),
    watchOnly: config.chains.filter(({ watchOnly }) => watchOnly).map(({ label }) => label),
  }
}

const NO_ANSWER = 'the database does not answer'

/** Alarms of a chain that are also consequences of an unavailable database or a wrong clock. */
const FOLLOWING: ReadonlySet<AlarmName> = new Set<AlarmName>([
  'ClusterdNotLed',
  'ClusterdLoopHangs',
  'ClusterdHeadStandsStill',
  'ClusterdChainBehind',
])

/** Problems of nodes that serve another chain, or whose logs were refuted. */
const wrongNodes = ({
  chain,
  nodes,
}: ReturnType<StatusSources['nodes']>[number]): ProblemWithAlarm[] =>
  nodes
    .filter(({ isWrong }) => isWrong)
    .map(({ host }) => ({
      alarm: 'ClusterdRpcWrongChain',
      text: `an RPC URL of chain "${chain}" at ${host} serves another chain, or false logs`,
    }))

const textOf = ({ text }: ProblemWithAlarm): string => text

/** A problem with its remedy and a link. */
const alarmAnswer = ({ alarm, text }: ProblemWithAlarm) => ({
  text,
  remedy: REMEDIES[alarm],
  ...alarmLogFields(alarm),
})

/** An answer of the database, or `otherwise` where it fails or takes too long. @throws errors of our own code */
const probed = <T, Otherwise>(answer: Promise<T>, otherwise: Otherwise): Promise<T | Otherwise> =>
  withTimeout(
    PROBE_LIMIT_MS,
    fallbackOnExpectedError(answer, (error) => !isInternalError(error), otherwise),
    otherwise,
  )

/**
 * A chain's state: this process's own while it leads, otherwise the stored state of the leader. A new leader's chain
 * counts as healthy only once other processes can see its state. The state of an earlier leader is ignored.
 */
function stateOf(
  { network, label }: { network: Network; label: string },
  runs: readonly NetworkIndexRun[],
  { states, leaders }: { states: readonly StoredChainState[]; leaders: readonly Leader[] },
  nowMs: number,
) {
  const led = leaders.find((leader) => leader.network === network && leader.role === 'index')
  const limitMs = Math.min(STATE_LIMIT_MS, led?.ageMs ?? STATE_LIMIT_MS)
  const isIt = (state: ChainState) => state.network === network && state.label === label
  const own = runs
    .find((run) => run.network === network)
    ?.states()
    ?.find(isIt)
  const written = states.find(({ state, ageMs }) => ageMs < limitMs && isIt(state))?.state ?? null
  const problem = (own && chainProblem(own, nowMs)) ?? chainProblem(written, nowMs)
  return { network, label, state: own ?? written, problem }
}

const isLed = (leaders: readonly Leader[], network: Network, role: LeaderRole): boolean =>
  leaders.some((leader) => leader.network === network && leader.role === role)

const unindexed = ({ chains }: StatusSources, leaders: readonly Leader[]) =>
  NETWORKS.filter(
    (network) =>
      chains.some((chain) => chain.network === network) && !isLed(leaders, network, 'index'),
  ).map((network) => ({
    network,
    alarm: 'ClusterdNotLed' as const,
    text: `nobody indexes ${network}`,
  }))

/**
 * Why the names of a mirrored network are not proved, as far as this process knows. Null while the proof may still
 * come.
 */
function unproved(network: Network, loops: WorkerLoops): ProblemWithAlarm | null {
  const failed = loops
    .states()
    .find((loop) => loop.name === NAME_PROOF_LOOP && loop.network === network)
  return failed?.lastError ? { alarm: 'ClusterdChainFailing', text: failed.lastError } : null
}

/** Trust in the names of a mirrored network. @param copy undefined for a network that is not mirrored */
const copyAnswer = (copy?: MirroredNetwork): Partial<ReturnType<typeof chainAnswer>> =>
  copy === undefined || copy.ageMs === null
    ? {}
    : {
        trust: copy.isProved ? 'proved' : 'snapshot',
        confirmed: copy.provedBlock || null,
      }

/** Problems of jobs that nobody delivers or pays for. None where a service leaves jobs to others, as a mirror does. */
const unrelayed = (
  { relays, relayed }: StatusSources,
  leaders: readonly Leader[],
  isCopied: (network: Network) => boolean,
): ProblemWithAlarm[] => [
  ...[...relayed]
    .filter((network) => !isCopied(network) && !isLed(leaders, network, 'relay'))
    .map(
      (network): ProblemWithAlarm => ({
        alarm: 'ClusterdNotRelayed',
        text: `nobody relays for ${network}`,
      }),
    ),
  ...relays.flatMap(({ network, missingKeys, leads }) =>
    (leads() ? missingKeys : []).map(
      (key): ProblemWithAlarm => ({
        alarm: 'ClusterdRelayKeyMissing',
        text: `this process relays for ${network} without ${key}`,
      }),
    ),
  ),
]

const leads = (
  { network, role }: Leader,
  runs: readonly NetworkIndexRun[],
  relays: readonly RelayRun[],
): boolean =>
  role === 'index'
    ? runs.some((run) => run.network === network && run.states() !== null)
    : relays.some((relay) => relay.network === network && relay.leads())

function chainAnswer(state: ChainState, nowMs: number) {
  const {
    latest,
    confirmed,
    nextBlock,
    tailBlock,
    isCaughtUp,
    trust,
    trustNodes,
    halted,
    lastError,
    confirmedMs,
    stagesMs,
  } = state
  return {
    latest,
    confirmed,
    nextBlock,
    tailBlock,
    isCaughtUp,
    trust,
    trustNodes,
    halted,
    lastError,
    headAgeSeconds: seconds(headAgeMs(state, nowMs)),
    finalityAgeSeconds: seconds(confirmedMs === null ? null : nowMs - confirmedMs),
    behindSeconds: seconds(indexingLagMs(state, nowMs)),
    lagBlocks: latest === null || tailBlock === null ? null : Math.max(0, latest - tailBlock),
    stagesMs,
  }
}

const loopAnswer = ({ ageMs, ...loop }: LoopState) => ({ ...loop, ageSeconds: seconds(ageMs) })

const seconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms / 1_000))
