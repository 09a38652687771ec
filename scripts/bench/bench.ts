import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, constants, cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

/** Temporary folder and clean-up of a benchmark. */
export interface Bench {
  /** A temporary folder, removed at the end. */
  home: string
  /** Clean-up functions, called at the end in reverse order. */
  onEnd(close: () => Promise<unknown>): void
}

/** Runs a benchmark and cleans up afterwards, also after an error (exit code 1) or a signal (128 + its number). */
export async function runBench(work: (bench: Bench) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'clusterd-bench-'))
  const closers: (() => Promise<unknown>)[] = []
  let ending: Promise<void> | null = null
  const end = (): Promise<void> => {
    ending ??= (async () => {
      for (const close of closers.reverse())
        await close().catch((error: Error) => console.error(error.message))
      rmSync(home, { recursive: true, force: true })
    })()
    return ending
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // `on`, not `once`: while a listener is left, a second signal can't end this process before its children end
    process.on(signal, () => {
      end().finally(() => process.exit(128 + constants.signals[signal]))
    })
  }
  // a killed npm or shell does not notify the processes that it started, so poll whether they still exist
  const job = ancestorsOf(process.pid)
  const watch = setInterval(() => {
    if (job.some((pid) => !existsSync(`/proc/${pid}`))) process.kill(process.pid, 'SIGTERM')
  }, 1_000)
  try {
    await work({ home, onEnd: (close) => closers.push(close) })
  } catch (error) {
    // errors after a signal come from the clean-up itself
    if (!ending) console.error(error)
    process.exitCode = 1
  } finally {
    clearInterval(watch)
    await end()
  }
}

/** The ancestors of a process in its process group: npm, a shell, tsx. Empty without /proc. */
function ancestorsOf(pid: number): number[] {
  const stat = statOf(pid)
  if (!stat || statOf(stat.parent)?.group !== stat.group) return []
  return [stat.parent, ...ancestorsOf(stat.parent)]
}

/** Fields of /proc/<pid>/stat (proc(5)) that are read of a process. */
interface Stat {
  parent: number
  group: number
  /** Processor time of the process, user and system, ms. */
  own: number
  /** Processor time of its children that have ended and that it has waited for, ms. */
  ended: number
}

/** Reads a process. Null for a process that has ended, and where there is no /proc. */
function statOf(pid: number): Stat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [, parent, group] = fields.map(Number)
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number)
    const ms = (ticks: number) => (ticks * 1_000) / TICKS_PER_S
    return {
      parent: parent!,
      group: group!,
      own: ms(user! + system!),
      ended: ms(endedUser! + endedSystem!),
    }
  } catch {
    return null
  }
}

/** One line about the machine: processor, cores, memory, versions of Node and PostgreSQL. */
export async function describeMachine(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
  await client.end()
  const gib = Math.round(totalmem() / 2 ** 30)
  const processor = cpus()[0]?.model.trim() ?? process.arch
  const postgres = rows[0]!.server_version.split(' ')[0]
  return `${processor}, ${availableParallelism()} cores, ${gib} GiB, Node ${process.version}, PostgreSQL ${postgres}`
}

/** Peak memory of a process in KiB: the kernel's `VmHWM` on Linux, the current size elsewhere. */
export function peakMemoryKib(pid: number): number {
  if (process.platform === 'linux') {
    const mark = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return Number(mark?.[1] ?? 0)
  }
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).trim())
}

/** Clock ticks per second in /proc (USER_HZ): 100 on every Linux that Node runs on. */
const TICKS_PER_S = 100

/** Processor time that processes have used so far, user and system, in milliseconds. NaN where there is no /proc. */
export const cpuMs = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + (statOf(pid)?.own ?? Number.NaN), 0)

/**
 * Processor time that a process and its descendants have used so far, ms, ended ones included, such as a PostgreSQL
 * with its backends. NaN where there is no /proc.
 */
export function treeCpuMs(root: number): number {
  if (!statOf(root)) return Number.NaN
  return treeOf(root).reduce((sum, pid) => {
    const stat = statOf(pid)
    return stat ? sum + stat.own + stat.ended : sum
  }, 0)
}

/** Peak memory of a process and its live descendants, KiB: the sum of their peaks. */
export const treePeakKib = (root: number): number =>
  treeOf(root).reduce((sum, pid) => sum + peakMemoryKib(pid), 0)

/** Ids of a process and all of its descendants. */
function treeOf(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = statOf(Number(name))?.parent
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)]
  return below(root)
}

/** Processor time that `work` takes, ms. @param countMs reads the processor time so far, before and after it */
export async function cpuOf(countMs: () => number, work: () => Promise<unknown>): Promise<number> {
  const beforeMs = countMs()
  await work()
  return countMs() - beforeMs
}

/** Processor time of this process so far, ms. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Processor time used by all processes, and stolen by the host for other machines, ms since boot (proc(5)). */
export function machineMs(): [busy: number, stolen: number] {
  const [cpu = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user, nice, system, , , irq, softirq, steal] = cpu.split(/\s+/).slice(1).map(Number)
  const ms = (ticks: number) => (ticks * 1_000) / TICKS_PER_S
  return [ms(user! + nice! + system! + irq! + softirq!), ms(steal!)]
}

/** Median; the lower of the two middle values of an even count. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
}

/** Percentiles of latency, ms. */
export interface Latency {
  p50: number
  p95: number
  p99: number
}

export function latencyOf(times: readonly number[]): Latency {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

export const thousands = (value: number): string => Math.round(value).toLocaleString('en-US')

/** Prints a table in aligned columns: the first column flush left, the others flush right. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  for (const row of rows) {
    const cells = row.map((cell, i) =>
      i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!),
    )
    console.log(`  ${cells.join('   ')}`)
  }
}
