import fs from 'node:fs'
import path from 'node:path'
import { writeAtomically } from './files.js'
import { endProcess, identifyProcess } from './processes.js'

/** A process of a world in `<home>/pids.json`. */
export interface PidEntry {
  pid: number
  kind: string
  /** Part of the command line that tells this process from another one with the same id. */
  marker: string
  /** Start by `identifyProcess` at the time of writing; null where the system doesn't tell. */
  startedAt: string | null
}

const GRACE_MS = 5_000

/** Records the processes of a world in `<home>/pids.json`: the next launcher ends what a killed one left. */
export class PidFile {
  readonly #file: string
  #entries: PidEntry[]

  constructor(home: string) {
    this.#file = path.join(home, 'pids.json')
    this.#entries = readEntries(this.#file)
  }

  /** Adds a live process. `marker` has to be part of its command line. */
  add(pid: number, kind: string, marker: string): void {
    this.#write([...this.#entries, { pid, kind, marker, startedAt: identifyProcess(pid)?.startedAt ?? null }])
  }

  remove(pid: number): void {
    this.#write(this.#entries.filter((entry) => entry.pid !== pid))
  }

  /** Removes all entries. */
  clear(): void {
    this.#write([])
  }

  /** Entries whose process still runs: same id, same start, marker in the command line. */
  leftovers(): PidEntry[] {
    return this.#entries.filter(isSameProcess)
  }

  /**
   * Ends the processes of an earlier launcher (SIGINT, SIGKILL after 5 s) and removes their entries; processes with a
   * reused id are left alone. Kinds in `keep` keep running and stay listed.
   * @returns the ended entries
   */
  async endLeftovers(keep: readonly string[] = []): Promise<PidEntry[]> {
    const live = this.leftovers()
    const ended = live.filter((entry) => !keep.includes(entry.kind))
    await Promise.all(ended.map((entry) => endProcess(entry.pid, 'SIGINT', GRACE_MS)))
    this.#write(live.filter((entry) => keep.includes(entry.kind)))
    return ended
  }

  #write(entries: PidEntry[]): void {
    this.#entries = entries
    writeAtomically(this.#file, `${JSON.stringify(entries, null, 2)}\n`)
  }
}

function isSameProcess(entry: PidEntry): boolean {
  const now = identifyProcess(entry.pid)
  if (!now?.commandLine.includes(entry.marker)) return false
  return entry.startedAt === null || now.startedAt === null || entry.startedAt === now.startedAt
}

function readEntries(file: string): PidEntry[] {
  try {
    const parsed: unknown = JSON.parse(fs.readFileSync(file, 'utf8'))
    return Array.isArray(parsed) ? parsed.filter(isEntry) : []
  } catch {
    return [] // absent or unreadable
  }
}

function isEntry(value: unknown): value is PidEntry {
  const entry = value as Partial<PidEntry> | null
  return typeof entry?.pid === 'number' && typeof entry.kind === 'string' && typeof entry.marker === 'string'
}
