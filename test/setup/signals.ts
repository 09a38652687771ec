/** Environment variable by which the processes of the shared world (globalSetup.ts) are known to every worker. */
export const SHARED_PIDS = 'CLUSTERD_TEST_SHARED_PIDS'

/** Sends a signal to processes; those that have ended are passed over. */
export function signalAll(pids: readonly number[], signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
