import { readdirSync } from 'node:fs'
import { identifyProcess } from '../../../src/testing/processes/processes.js'

/** Stops processes where they are (SIGSTOP): alive for the kernel, silent for all others. @returns lets them go on */
export function freeze(pids: readonly number[]): () => void {
  // the start tells a process from a later one with its id
  const stopped = pids.map((pid) => ({ pid, startedAt: identifyProcess(pid)?.startedAt }))
  for (const { pid } of stopped) signal(pid, 'SIGSTOP')
  return () => {
    for (const { pid, startedAt } of stopped) if (identifyProcess(pid)?.startedAt === startedAt) signal(pid, 'SIGCONT')
  }
}

/** A process and its children; empty where the system has no /proc. */
export function familyOf(pid: number): number[] {
  try {
    const all = readdirSync('/proc').map(Number)
    return [pid, ...all.filter((one) => identifyProcess(one)?.parentPid === pid)]
  } catch {
    return []
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // ended meanwhile
  }
}
