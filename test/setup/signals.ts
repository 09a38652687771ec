/** Environment variable by which the processes of the shared world (globalSetup.ts) are known to every worker. */
const SHARED_PIDS = 'CLUSTERD_TEST_SHARED_PIDS'

/** Names the processes of the shared world to the workers that are started from now on. */
export function shareWorld(pids: readonly number[]): void {
  process.env[SHARED_PIDS] = pids.join(' ')
}

/** Sends a signal to the processes of the shared world, where there is one; those that have ended are passed over. */
export function signalSharedWorld(signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of (process.env[SHARED_PIDS] ?? '').split(' ').filter(Boolean)) {
    try {
      process.kill(Number(pid), signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
