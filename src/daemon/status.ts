import type pg from 'pg'
import { readChainStates, type StoredChainState } from '../db/chains/states.js'
import { type Leader, readLeaders } from '../db/leaders/leaders.js'
import { type MirroredNetwork, readMirrorAges, readMirroredNetworks } from '../db/mirror/mirrors.js'
import {
  type AlarmName,
  alarmLogFields,
  type ProblemWithAlarm,
  STUCK_LOOP_ALARM_MS,
} from '../ops/alarms.js'
import { type ChainState, chainProblem, headAgeMs, indexingLagMs } from '../ops/chainState.js'
import { REMEDIES } from '../ops/generated/remedies.js'
import { errorSentence, fallbackOnExpectedError, isInternalError } from '../ops/logger/errors.js'
import { databaseAndClockProblems, type LoopState } from '../ops/loops.js'
import { SERVICE_VERSION } from '../ops/version.js'
import { withTimeout } from '../ops/waiting.js'
import type { Network } from '../registry/primitives/network.js'
import { NAME_PROOF_LOOP } from './proof.js'
import { collectAlarms, type ProcessSnapshot, type ServedChain, withChainName } from './snapshot.js'

/** Timeout of the database queries for /ready and /status, ms. */
const PROBE_TIMEOUT_MS = 3_000
/** Age from which a chain's stored state is ignored, ms: its leader has missed several writes. */
const MAX_STATE_AGE_MS = 10_000

/** Answer of /health, good while no worker loop of this process is stuck. */
export function checkProcessHealth({ loops }: Pick<ProcessSnapshot, 'loops'>) {
  const stuck = loops.filter(({ ageMs }) => ageMs > STUCK_LOOP_ALARM_MS)
  return {
    isGood: stuck.length === 0,
    status: stuck.length === 0 ? 'ok' : 'stuck',
    stuck: stuck.map(loopAnswer),
  }
}

/** Answer of /ready, good while this process can fulfil its roles. Ignores chains and other processes. */
export async function checkProcessReadiness(snapshot: ProcessSnapshot, pool: pg.Pool) {
  const mirrorAges = await nullIfNoDatabaseAnswer(readMirrorAges(pool))
  const emptyMirrors = (mirrorAges ?? []).filter(({ ageMs }) => ageMs === null)
  const problems = [
    ...(snapshot.isStopping ? ['this process is stopping'] : []),
    ...(mirrorAges ? [] : [NO_DATABASE_ANSWER_TEXT]),
    ...emptyMirrors.map(({ network }) => `the mirror of ${network} has copied nothing yet`),
    ...checkProcessHealth(snapshot).stuck.map(
      ({ name }) => `a loop has not turned for ${STUCK_LOOP_ALARM_MS / 1_000} s: ${name}`,
    ),
  ]
  return {
    isGood: problems.length === 0,
    ready: problems.length === 0,
    problems,
    roles: snapshot.config.roles,
  }
}

/** State of an installation, as its processes have stored it in the database. */
interface StoredState {
  states: readonly StoredChainState[]
  leaders: readonly Leader[]
  mirrored: ReadonlyMap<Network, MirroredNetwork>
}

/** Answer of /status, good while the whole installation works, as seen from this process. */
export async function installationStatus(snapshot: ProcessSnapshot, pool: pg.Pool) {
  const { config, nowMs, loops } = snapshot
  const { stored, fault } = await readStoredState(pool)
  const { leaders, mirrored } = stored ?? EMPTY_STORED_STATE
  const chains = chainStatuses(snapshot, stored)
  const { problems, warnings } = collectAlarms(snapshot, [
    ...databaseProblems(snapshot, fault),
    ...(stored ? unindexedNetworkProblems(snapshot, stored) : []),
    ...chains.flatMap((chain) => chainAlarm(chain, stored) ?? []),
  ])
  if (stored) warnings.push(...unrelayedNetworkWarnings(snapshot, stored))
  return {
    isGood: problems.length === 0,
    ok: problems.length === 0,
    version: SERVICE_VERSION,
    problems: problems.map(({ text }) => text),
    warnings: warnings.map(({ text }) => text),
    alarms: [...problems, ...warnings].map((problem) => alarmAnswer(problem, config.seededAlarms)),
    roles: config.roles,
    leaders: leaders.map((leader) => ({ ...leader, isThisProcess: isLedHere(leader, snapshot) })),
    chains: chains.map(({ network, label, state, problem }) => ({
      network,
      label,
      problem: problem?.text ?? null,
      ...(state ? chainAnswer(state, nowMs) : mirrorAnswer(mirrored.get(network))),
    })),
    mirrors: [...mirrored.values()]
      .filter(({ ageMs }) => ageMs !== null)
      .map(({ network, ageMs }) => ({ network, ageSeconds: wholeSeconds(ageMs) })),
    loops: loops.map(loopAnswer),
    watchOnly: config.chains.filter(({ watchOnly }) => watchOnly).map(({ label }) => label),
  }
}

const NO_DATABASE_ANSWER_TEXT = 'the database does not answer'
const EMPTY_STORED_STATE: StoredState = { states: [], leaders: [], mirrored: new Map() }

/**
 * Reads the stored state. It is null, with a sentence about the reason in `fault`, where the database does not answer.
 */
async function readStoredState(
  pool: pg.Pool,
): Promise<{ stored: StoredState | null; fault: string }> {
  const answer = Promise.all([readChainStates(pool), readLeaders(pool), readMirroredNetworks(pool)])
  let fault = NO_DATABASE_ANSWER_TEXT
  answer.catch((error: unknown) => {
    fault = `${NO_DATABASE_ANSWER_TEXT}: ${errorSentence(error)}`
  })
  const read = await nullIfNoDatabaseAnswer(answer)
  if (!read) return { stored: null, fault }
  const [states, leaders, mirrored] = read
  return { stored: { states, leaders, mirrored }, fault: '' }
}

/** The alarm of a database that does not answer, unless a loop of this process names the cause already. */
function databaseProblems({ loops }: ProcessSnapshot, fault: string): ProblemWithAlarm[] {
  const isNamed = databaseAndClockProblems(loops).some(
    ({ alarm }) => alarm === 'ClusterdDatabaseAway',
  )
  return fault === '' || isNamed ? [] : [{ alarm: 'ClusterdDatabaseAway', text: fault }]
}

/** Form of an alarm in /status: the problem with its remedy and a link. */
const alarmAnswer = ({ alarm, text }: ProblemWithAlarm, seeded: readonly string[]) => ({
  text,
  remedy: REMEDIES[alarm],
  ...alarmLogFields(alarm),
  isSeeded: seeded.includes(text),
})

/** An answer of the database, or null where the database fails or takes too long. @throws errors of our own code */
const nullIfNoDatabaseAnswer = <T>(answer: Promise<T>): Promise<T | null> =>
  withTimeout(
    PROBE_TIMEOUT_MS,
    fallbackOnExpectedError(answer, (error) => !isInternalError(error), null),
    null,
  )

interface ChainStatus extends Pick<ServedChain, 'network' | 'label' | 'state'> {
  problem: ProblemWithAlarm | null
}

/** Chains with their states and problems. Of a mirrored network only the hub is shown, which proves the names. */
function chainStatuses(snapshot: ProcessSnapshot, stored: StoredState | null): ChainStatus[] {
  return snapshot.chains.flatMap((chain): ChainStatus[] => {
    const { network, label, role } = chain
    if (isMirrored(network, snapshot, stored))
      return role === 'hub'
        ? [{ network, label, state: null, problem: nameProofProblem(network, snapshot) }]
        : []
    return [chainStatus(chain, stored ?? EMPTY_STORED_STATE, snapshot.nowMs)]
  })
}

/** Alarms of a chain that an unavailable database, a missing leader or a wrong clock also causes. */
const CONSEQUENT_ALARMS: ReadonlySet<AlarmName> = new Set<AlarmName>([
  'ClusterdNotLed',
  'ClusterdLoopHangs',
  'ClusterdHeadStandsStill',
  'ClusterdChainBehind',
])

/** The alarm of a chain's problem. Null for no problem, or one that a missing database or leader explains. */
function chainAlarm(
  { problem, ...chain }: ChainStatus,
  stored: StoredState | null,
): ProblemWithAlarm | null {
  if (problem === null) return null
  const isExplained = !stored || !isLed(stored.leaders, chain.network, 'index')
  return isExplained && CONSEQUENT_ALARMS.has(problem.alarm) ? null : withChainName(chain, problem)
}

const isMirrored = (
  network: Network,
  { mirrors }: ProcessSnapshot,
  stored: StoredState | null,
): boolean => stored?.mirrored.has(network) || mirrors.some((mirror) => mirror.network === network)

/**
 * A chain's state: this process's own while it leads, otherwise the stored state of the leader. A new leader's chain
 * counts as healthy only once other processes can see its state. The state of an earlier leader is ignored.
 */
function chainStatus(
  { network, label, state: ownState }: ServedChain,
  { states, leaders }: StoredState,
  nowMs: number,
): ChainStatus {
  const led = leaders.find((leader) => leader.network === network && leader.role === 'index')
  const limitMs = Math.min(MAX_STATE_AGE_MS, led?.ageMs ?? MAX_STATE_AGE_MS)
  const written = states.find(
    ({ state, ageMs }) => ageMs < limitMs && state.network === network && state.label === label,
  )
  const state = written?.state ?? null
  const problem = (ownState && chainProblem(ownState, nowMs)) ?? chainProblem(state, nowMs)
  return { network, label, state: ownState ?? state, problem }
}

const isLed = (leaders: readonly Leader[], network: Network, role: Leader['role']): boolean =>
  leaders.some((leader) => leader.network === network && leader.role === role)

const isLedHere = ({ network, role }: Leader, { leads }: ProcessSnapshot): boolean =>
  leads.some((lead) => lead.network === network && lead.role === role && lead.isLeading)

/** True if no process leads a network in a role. False for a mirrored network, which needs no such leader. */
const isLeaderMissing = (
  network: Network,
  role: Leader['role'],
  snapshot: ProcessSnapshot,
  stored: StoredState,
): boolean => !isMirrored(network, snapshot, stored) && !isLed(stored.leaders, network, role)

/** Networks that no process indexes, unless the database or the clock of this process is the cause. */
function unindexedNetworkProblems(
  snapshot: ProcessSnapshot,
  stored: StoredState,
): ProblemWithAlarm[] {
  if (databaseAndClockProblems(snapshot.loops).length > 0) return []
  const networks = new Set(snapshot.chains.map(({ network }) => network))
  return [...networks]
    .filter((network) => isLeaderMissing(network, 'index', snapshot, stored))
    .map((network) => ({ alarm: 'ClusterdNotLed', text: `nobody indexes ${network}`, network }))
}

/** A problem for each network in `relayed` for which no process has the lead of the relayer. */
const unrelayedNetworkWarnings = (
  snapshot: ProcessSnapshot,
  stored: StoredState,
): ProblemWithAlarm[] =>
  snapshot.relayed
    .filter((network) => isLeaderMissing(network, 'relay', snapshot, stored))
    .map((network) => ({
      alarm: 'ClusterdNotRelayed',
      text: `nobody relays for ${network}`,
      network,
    }))

/** Problem of the worker that proves a mirrored network's names. Null if the worker's last step did not fail. */
function nameProofProblem(network: Network, { loops }: ProcessSnapshot): ProblemWithAlarm | null {
  const failed = loops.find((loop) => loop.name === NAME_PROOF_LOOP && loop.network === network)
  return failed?.lastError ? { alarm: 'ClusterdChainFailing', text: failed.lastError } : null
}

/** Fields of a mirrored network's hub in /status: the trust in its names. None while nothing is mirrored. */
const mirrorAnswer = (mirrored?: MirroredNetwork): Partial<ReturnType<typeof chainAnswer>> =>
  mirrored === undefined || mirrored.ageMs === null
    ? {}
    : {
        trust: mirrored.isProved ? 'proved' : 'snapshot',
        confirmed: mirrored.provedBlock || null,
      }

function chainAnswer(state: ChainState, nowMs: number) {
  const { latest, confirmed, nextBlock, tailBlock, confirmedMs } = state
  const { isCaughtUp, trust, trustNodes, halted, lastError, stagesMs } = state
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
    headAgeSeconds: wholeSeconds(headAgeMs(state, nowMs)),
    finalityAgeSeconds: wholeSeconds(confirmedMs === null ? null : nowMs - confirmedMs),
    behindSeconds: wholeSeconds(indexingLagMs(state, nowMs)),
    lagBlocks: latest === null || tailBlock === null ? null : Math.max(0, latest - tailBlock),
    stagesMs,
  }
}

const loopAnswer = ({ ageMs, ...loop }: LoopState) => ({ ...loop, ageSeconds: wholeSeconds(ageMs) })

const wholeSeconds = (ms: number | null): number | null =>
  ms === null ? null : Math.round(ms / 1_000)
