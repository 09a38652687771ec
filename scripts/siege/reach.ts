import { loadavg } from 'node:os'
import { cpuMs, machineMs, median, printTable } from '../bench/bench.js'
import type { Counts } from './attacker.js'
import { type Attacker, startAttacker } from './attackers.js'
import { REACH, type Targets } from './floods.js'
import { lookUps, type Met } from './honest.js'

/** What one attacker may make of a visitor's median: so many times that without one, and so many ms; and four of them. */
const MOST_BY_ONE = { times: 5, ms: 60 }
const MOST_BY_FOUR = { times: 10, ms: Number.POSITIVE_INFINITY }
const ATTACKERS = 4
/** Pause between a visitor's look-ups, ms. */
const PACE_MS = 25
/** Seconds without an attacker between two attacks, for each second of an attack. */
const PAUSE = 0.5

interface Besieged {
  api: string
  daemonPid: number
  targets: Targets
}

export interface ReachOptions {
  seconds: number
  /** Names of attacks; all without one. */
  attacks: readonly string[]
  /** Address of the visitor. */
  visitor: string
}

/** A visitor's look-ups for some time, and what processors did meanwhile, percent of one. */
interface Phase {
  met: Met
  p50: number
  daemon: number
  machine: number
}

const HEAD = [
  'attack',
  'attackers',
  'idle p50 ms',
  'under',
  'after',
  'failed',
  'daemon % idle',
  'under',
  'machine % idle',
  'under',
  'load',
]

/**
 * Compares the median of a visitor's look-ups before, under and after each attack, and prints them. Each attack comes
 * from an address without debts.
 * @returns what is beyond the reach
 */
export async function measureReach(
  { api, daemonPid, targets }: Besieged,
  { seconds, attacks, visitor }: ReachOptions,
): Promise<string[]> {
  const phase = async (s: number): Promise<Phase> => {
    const startedMs = performance.now()
    const before = [cpuMs([daemonPid]), machineMs()[0]]
    const met = await lookUps(api, visitor, targets, AbortSignal.timeout(s * 1_000), PACE_MS)
    const share = (ms: number, i: number) =>
      ((ms - before[i]!) / (performance.now() - startedMs)) * 100
    return {
      met,
      p50: median(met.ms),
      daemon: share(cpuMs([daemonPid]), 0),
      machine: share(machineMs()[0], 1),
    }
  }
  const isAsked = (name: string) => attacks.length === 0 || attacks.includes(name)
  const cases = [
    ...REACH.one.filter(isAsked).map((name) => ({ name, count: 1, most: MOST_BY_ONE })),
    ...REACH.several
      .filter(isAsked)
      .map((name) => ({ name, count: ATTACKERS, most: MOST_BY_FOUR })),
  ]
  const attackers = Array.from({ length: ATTACKERS }, () => startAttacker(api, targets))
  const rows: string[][] = [HEAD]
  const broken: string[] = []
  try {
    // the first look-ups of a process take longer
    await phase(seconds)
    let idle = await phase(seconds)
    for (const [i, { name, count, most }] of cases.entries()) {
      const those = attackers.slice(0, count)
      const { under, counts } = await attackBy(those, { name, i }, () => phase(seconds))
      const after = await phase(seconds * PAUSE)
      const row = [
        name,
        String(count),
        ...[idle, under, after].map(({ p50 }) => p50.toFixed(1)),
        String(under.met.failed.length),
        ...[idle.daemon, under.daemon, idle.machine, under.machine].map((n) => n.toFixed(0)),
        loadavg()[0]!.toFixed(1),
      ]
      rows.push(row)
      console.log(`${row.join(' | ')} | ${JSON.stringify(counts)}`)
      const bound = Math.min(most.times * idle.p50, most.ms)
      if (!(under.p50 <= bound))
        broken.push(
          `${name}, ${count} attackers: p50 ${under.p50.toFixed(1)} ms, at most ${bound.toFixed(1)} ms`,
        )
      idle = after
    }
  } finally {
    await Promise.all(attackers.map(({ close }) => close()))
  }
  printTable(rows)
  return broken
}

/** @param i number of the attack, which gives its addresses */
async function attackBy(
  attackers: readonly Attacker[],
  { name, i }: { name: string; i: number },
  measure: () => Promise<Phase>,
): Promise<{ under: Phase; counts: (Counts[string] | undefined)[] }> {
  const begin = (attacker: Attacker, n: number) =>
    attacker.begin({ localAddress: `127.0.${10 + n}.${i + 1}`, only: name })
  await Promise.all(attackers.map(begin))
  const under = await measure()
  const ended = await Promise.all(attackers.map(({ end }) => end()))
  return { under, counts: ended.map((counts) => counts[name]) }
}
