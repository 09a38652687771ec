import { loadavg } from 'node:os'
import { cpuMs, machineMs, median, printTable } from '../bench/bench.js'
import type { Counts } from './attacker.js'
import { type Attacker, startAttacker } from './attackers.js'
import type { Targets } from './floods.js'
import { type Met, visitorsLookUps } from './honest.js'

/** Largest median latency of visitors under one attacker: a multiple of the undisturbed median, and ms. */
const MOST_BY_ONE = { times: 5, ms: 60 }
/** Largest median latency of visitors under several attackers. */
const MOST_BY_SEVERAL = { times: 10, ms: Number.POSITIVE_INFINITY }
/** Pause between visitors' look-ups, ms. */
const PACE_MS = 20
/** Host part of the first attacker's network, 127.0.<n>.0. */
const FIRST_ATTACKER = 10
/** Seconds without an attacker between two attacks, for each second of an attack. */
const PAUSE = 0.5
/** Number of undisturbed look-ups whose median is the reference. They are from several pauses. */
const IDLE_LOOK_UPS = 150
const WARM_UP_S = 2

interface Besieged {
  api: string
  daemonPid: number
  targets: Targets
}

interface FloodOptions {
  seconds: number
  /** Names of the floods to send, one after the other. */
  attacks: readonly string[]
}

/** Visitors' look-ups during some time, with the processor time of daemon and machine, percent of one core. */
interface Phase {
  met: Met
  daemon: number
  machine: number
}

const HEAD = [
  'attack',
  'idle p50 ms',
  'under',
  'ratio',
  'verdict',
  'failed',
  'daemon %',
  'machine %',
]

/**
 * Measures the floods once for each number of attackers.
 * @param counts numbers of attackers, each with a separate address
 * @returns exceeded limits
 */
export async function measureReaches(
  besieged: Besieged,
  { counts, ...options }: FloodOptions & { counts: readonly number[] },
): Promise<string[]> {
  const broken: string[] = []
  let first = FIRST_ATTACKER
  for (const count of counts) {
    broken.push(...(await measureReach(besieged, { ...options, count, first })))
    first += count
  }
  return broken
}

/**
 * Compares the median of visitors' look-ups before and during each attack, and prints both. Each attack comes from
 * addresses that have not sent before, whose rate limits are unused.
 * @returns exceeded limits
 */
async function measureReach(
  { api, daemonPid, targets }: Besieged,
  { seconds, attacks, count, first }: FloodOptions & { count: number; first: number },
): Promise<string[]> {
  const phase = async (s: number): Promise<Phase> => {
    const startedMs = performance.now()
    const before = [cpuMs([daemonPid]), machineMs()[0]]
    const met = await visitorsLookUps(api, targets, AbortSignal.timeout(s * 1_000), PACE_MS)
    const share = (ms: number, i: number) =>
      ((ms - before[i]!) / (performance.now() - startedMs)) * 100
    return { met, daemon: share(cpuMs([daemonPid]), 0), machine: share(machineMs()[0], 1) }
  }
  const { times, ms } = count === 1 ? MOST_BY_ONE : MOST_BY_SEVERAL
  const attackers = Array.from({ length: count }, () => startAttacker(api, targets))
  const rows: string[][] = [HEAD]
  const broken: string[] = []
  try {
    // the first look-ups of a process take longer
    await phase(WARM_UP_S)
    let idleMs = (await phase(WARM_UP_S)).met.ms
    for (const [i, name] of attacks.entries()) {
      const { under, counts } = await attackBy(attackers, { name, i, first }, () => phase(seconds))
      const idle = median(idleMs)
      const p50 = median(under.met.ms)
      const bound = Math.min(times * idle, ms)
      const isWithin = p50 <= bound
      const row = [
        name,
        idle.toFixed(1),
        p50.toFixed(1),
        (p50 / idle).toFixed(1),
        isWithin ? 'ok' : `over ${bound.toFixed(1)}`,
        String(under.met.failed.length),
        under.daemon.toFixed(0),
        under.machine.toFixed(0),
      ]
      rows.push(row)
      console.log(`${row.join(' | ')} | ${JSON.stringify(counts)}`)
      if (!isWithin)
        broken.push(
          `${name}, attackers: ${count}: p50 ${p50.toFixed(1)} ms, at most ${bound.toFixed(1)} ms`,
        )
      const { failed } = under.met
      if (failed.length > 0)
        broken.push(`${name}, attackers: ${count}: ${failed.length} failed, first ${failed[0]}`)
      idleMs = [...idleMs, ...(await phase(seconds * PAUSE)).met.ms].slice(-IDLE_LOOK_UPS)
    }
  } finally {
    await Promise.all(attackers.map(({ close }) => close()))
    printTable(rows)
    console.log(`attackers: ${count}; load of the machine ${loadavg()[0]!.toFixed(1)}`)
  }
  return broken
}

/** Measures visitors during an attack, whose number `i` and `first` determine the attackers' addresses. */
async function attackBy(
  attackers: readonly Attacker[],
  { name, i, first }: { name: string; i: number; first: number },
  measure: () => Promise<Phase>,
): Promise<{ under: Phase; counts: (Counts[string] | undefined)[] }> {
  const begin = (attacker: Attacker, n: number) =>
    attacker.begin({ localAddress: `127.0.${first + n}.${i + 1}`, only: name })
  await Promise.all(attackers.map(begin))
  const under = await measure()
  const ended = await Promise.all(attackers.map(({ end }) => end()))
  return { under, counts: ended.map((counts) => counts[name]) }
}
