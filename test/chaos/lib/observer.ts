import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { ChaosDaemon } from './daemons.js'
import { REFUSING_SETTINGS } from './databaseWeathers.js'

const LOOK_MS = 100
const ASK_LIMIT_MS = 5_000
const DATABASE_LIMIT_MS = 3_000
/** Time without an answered look-up from which a line is logged. */
const LONG_GAP_MS = 3_000
/** Limit of a take-over, and of the time without an answered look-up. */
const LIMIT_MS = 5_000
/** Longest time that one poll counts for. A longer poll is the fault of the machine or the server. */
const FAIR_LOOK_MS = 3 * LOOK_MS
const ROLES = ['index', 'relay'] as const
/** A look-up of a name that nobody holds, which still queries the database. */
const LOOK_UP = '/v1/clusters/name/nobody-has-this'

export type Cause = 'kill' | 'freeze' | 'silence' | 'forget' | 'clock'

/** Times of a run, ms. Only time in which the database answered the test at its usual pace counts. */
export interface Times {
  /** Longest time until another process held the lead, by the cause of its loss. */
  takeOvers: Record<string, { count: number; maxMs: number }>
  /** Longest time in which a running daemon, with a reachable database, answered no look-up. */
  lookUpGapMs: number
  /** Largest resident memory of a daemon at the end, bytes. */
  residentBytes: number
}

export interface Observer {
  /** Records a fault of a daemon from now until `well`. */
  struck(daemon: ChaosDaemon, cause: Cause): void
  /** @param isHarmless whether look-ups have to go on all the same */
  well(daemon: ChaosDaemon): void
  done: Promise<void>
  times(): Times
}

interface Patient {
  daemon: ChaosDaemon
  /** Null while it has no fault. */
  cause: Cause | null
  /** When a look-up was last answered or became possible. Null while none is possible. */
  sinceMs: number | null
  /** True if it has answered since its start. */
  hasServed: boolean
  /** Time since then at the last poll. */
  gapMs: number
}

interface Measure {
  role: (typeof ROLES)[number]
  daemon: ChaosDaemon
  cause: Cause
  atMs: number
  /** Epoch of the lead that it held. */
  epoch: number
}

interface Holder {
  epoch: number
  port: number
}

/** Result of a poll of the database. */
interface Leaders {
  /** By role. */
  holders: ReadonlyMap<string, Holder>
  /** True if a disruption makes the database refuse rows: nobody can take the lead then. */
  isRefusing: boolean
}

/** Watches who leads and whether look-ups are answered, until the signal. */
export function observe(
  daemons: readonly ChaosDaemon[],
  pool: pg.Pool,
  signal: AbortSignal,
  log: (line: string) => void,
): Observer {
  const patients = daemons.map(
    (daemon): Patient => ({ daemon, cause: null, sinceMs: null, hasServed: false, gapMs: 0 }),
  )
  const of = (daemon: ChaosDaemon) => patients.find((one) => one.daemon === daemon)!
  const takeOvers: Times['takeOvers'] = {}
  let lookUpGapMs = 0
  let holders: Leaders['holders'] = new Map()
  let measures: Measure[] = []
  let fairMs = 0
  let lookedMs = performance.now()
  let isDatabaseUp = true

  /** A clock that stops while the database does not answer the test, and while the machine is busy. */
  const now = () =>
    fairMs + (isDatabaseUp ? Math.min(performance.now() - lookedMs, FAIR_LOOK_MS) : 0)
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      const found = await leaders(pool)
      fairMs = now()
      lookedMs = performance.now()
      isDatabaseUp = found !== null
      measures = found ? measures.filter((one) => !note(one, found)) : []
      if (found) holders = found.holders
      await sleep(LOOK_MS)
    }
  }
  /** A take-over is measured from the time at which another daemon can lead. */
  const canTakeOver = ({ daemon }: Measure) =>
    patients.some((one) => one.daemon !== daemon && one.cause === null && one.hasServed)
  const isAble = ({ cause, daemon }: Patient) =>
    (cause === null || cause === 'forget' || cause === 'clock') && daemon.process.isRunning()
  /** Records the time if the lead has moved. @returns whether it has */
  const note = (measure: Measure, { holders, isRefusing }: Leaders): boolean => {
    // a lead may outlast a fault, and end later when its process dies at a fail point
    if (measure.cause !== 'kill' && !measure.daemon.process.isRunning())
      Object.assign(measure, { cause: 'kill', atMs: now() })
    const { role, cause, epoch } = measure
    const isPossible = !isRefusing && canTakeOver(measure)
    if (!isPossible) measure.atMs = now()
    const holder = holders.get(role)
    // while no row can be written, nobody takes a lease
    if (isRefusing || !holder || holder.epoch === epoch) return false
    if (!isPossible) return true
    const ms = now() - measure.atMs
    log(`another process leads the ${role} ${(ms / 1_000).toFixed(1)} s after ${cause}`)
    const before = takeOvers[cause] ?? { count: 0, maxMs: 0 }
    takeOvers[cause] = { count: before.count + 1, maxMs: Math.max(before.maxMs, ms) }
    return true
  }
  const probe = async (patient: Patient): Promise<void> => {
    while (!signal.aborted) {
      const askedMs = performance.now()
      const isAnswered = await answers(patient.daemon.api)
      const nowMs = now()
      // it may die at a fail point
      patient.hasServed &&= patient.daemon.process.isRunning()
      if (isAble(patient) && patient.sinceMs !== null) {
        patient.gapMs = nowMs - patient.sinceMs
        lookUpGapMs = Math.max(lookUpGapMs, patient.gapMs)
      }
      if (patient.gapMs > LONG_GAP_MS && (isAnswered || !isAble(patient)))
        log(
          `${patient.daemon.name} answered no look-up for ${(patient.gapMs / 1_000).toFixed(1)} s`,
        )
      if (isAnswered || !isAble(patient)) patient.gapMs = 0
      if (!isAble(patient)) patient.sinceMs = null
      // a daemon that starts counts from its first answer on, any other from the time at which it could answer
      else if (isAnswered) Object.assign(patient, { sinceMs: nowMs, hasServed: true })
      await sleep(Math.max(0, LOOK_MS - (performance.now() - askedMs)))
    }
  }
  return {
    struck(daemon, cause) {
      const patient = of(daemon)
      const ports = daemon.database.upstreamPorts()
      const led = patient.cause
        ? []
        : ROLES.filter((role) => ports.has(holders.get(role)?.port ?? 0))
      for (const role of led)
        measures.push({ role, daemon, cause, atMs: now(), epoch: holders.get(role)!.epoch })
      log(`${cause} of ${daemon.name}, which leads ${led.join(' and ') || 'nothing'}`)
      patient.cause = cause
      patient.hasServed &&= cause !== 'kill'
      if (!isAble(patient)) patient.sinceMs = null
    },
    well(daemon) {
      const patient = of(daemon)
      // a daemon that was frozen or cut off can answer from now on
      const isBack = patient.cause === 'freeze' || patient.cause === 'silence'
      patient.cause = null
      // a lead that outlasted the fault is not a take-over
      if (isBack) measures = measures.filter((one) => one.daemon !== daemon)
      if (isBack && patient.hasServed) patient.sinceMs = now()
    },
    done: Promise.all([follow(), ...patients.map(probe)]).then(() => {}),
    times: () => ({
      takeOvers,
      lookUpGapMs,
      residentBytes: Math.max(...daemons.map(({ process }) => residentBytesOf(process.pid))),
    }),
  }
}

/** Times of a run that are too long, one sentence each. */
export const timesTooLong = ({ takeOvers, lookUpGapMs }: Times): string[] => [
  ...Object.entries(takeOvers)
    .filter(([, { maxMs }]) => maxMs > LIMIT_MS)
    .map(([cause, { maxMs }]) => `a take-over after ${cause} took ${Math.round(maxMs)} ms`),
  ...(lookUpGapMs > LIMIT_MS
    ? [`a daemon answered no look-up for ${Math.round(lookUpGapMs)} ms`]
    : []),
]

/** Leaders of mainnet. Null while the database does not answer. */
async function leaders(pool: pg.Pool): Promise<Leaders | null> {
  const asked = pool.query<{ refuses: boolean; role: number | null; epoch: number; port: number }>(
    `SELECT s.refuses, l.role::int, l.epoch::int, a.client_port AS port
     FROM (SELECT 'on' IN (${REFUSING_SETTINGS.map((name) => `current_setting('${name}', true)`)}) AS refuses) s
     LEFT JOIN (leaders l JOIN pg_stat_activity a ON a.pid = l.backend)
       ON l.network = 0 AND l.until_ms > extract(epoch FROM clock_timestamp()) * 1000`,
  )
  const found = await Promise.race([asked.catch(() => null), sleep(DATABASE_LIMIT_MS, null)])
  if (!found) return null
  const held = found.rows.flatMap(({ role, epoch, port }) =>
    role === null ? [] : [[ROLES[role]!, { epoch, port }] as const],
  )
  return { holders: new Map(held), isRefusing: found.rows[0]!.refuses }
}

/** True if a look-up is answered, even by "nobody holds it". */
async function answers(api: string): Promise<boolean> {
  try {
    const response = await fetch(`${api}${LOOK_UP}`, { signal: AbortSignal.timeout(ASK_LIMIT_MS) })
    await response.arrayBuffer()
    return response.status < 500
  } catch {
    return false
  }
}

/** Resident memory of a process. 0 where the system does not report it. */
function residentBytesOf(pid: number): number {
  try {
    return (
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) *
      1_024
    )
  } catch {
    return 0
  }
}
