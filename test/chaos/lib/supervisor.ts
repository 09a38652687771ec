import { setTimeout as sleep } from 'node:timers/promises'
import type { DaemonEnvironment, DaemonProcess } from '../../../src/testing/index.js'

const RESPAWN_MS = 200

/** Starts a daemon again whenever it has ended, as a service manager does. */
export interface Supervisor {
  /** SIGKILL. */
  kill(): void
  /** Adds to the environment of its next start, once. */
  arm(env: DaemonEnvironment): void
  /** Count of its restarts, and the fail points at which it died. */
  readonly starts: number
  readonly failpoints: Readonly<Record<string, number>>
  /** Arms nothing more; the daemon runs on as it is, and is restarted only where something is armed in it. */
  release(): void
  /** Ends the supervision; the daemon runs on. */
  end(): Promise<void>
}

export function createSupervisor(daemon: DaemonProcess, env: DaemonEnvironment): Supervisor {
  let isOn = true
  let isKilled = false
  let next: DaemonEnvironment = {}
  let added: DaemonEnvironment = {}
  let starts = 0
  const failpoints: Record<string, number> = {}
  let wake: () => void = () => {}
  const over = new Promise<void>((resolve) => {
    wake = resolve
  })

  const supervise = async (): Promise<void> => {
    while (isOn) {
      const ended = await Promise.race([daemon.exited(), over])
      if (!ended) return
      if (ended.signal === 'SIGKILL' && !isKilled && added.CLUSTERD_FAILPOINT) {
        const name = added.CLUSTERD_FAILPOINT.split(':')[0]!
        failpoints[name] = (failpoints[name] ?? 0) + 1
      }
      isKilled = false
      await sleep(RESPAWN_MS)
      added = next
      next = {}
      starts += 1
      await daemon.spawn({ ...env, ...added })
    }
  }
  const supervising = supervise()
  const kill = () => {
    isKilled = true
    if (daemon.isRunning()) process.kill(daemon.pid, 'SIGKILL')
  }

  return {
    kill,
    arm(added) {
      next = added
    },
    get starts() {
      return starts
    },
    failpoints,
    release() {
      next = {}
      // any other restart would mend what the daemon has to mend by itself
      if (Object.keys(added).length > 0) kill()
    },
    async end() {
      isOn = false
      wake()
      await supervising
    },
  }
}
