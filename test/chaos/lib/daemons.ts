import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type DaemonEnvironment,
  type DaemonProcess,
  type Stack,
  startTcpProxy,
  type TcpProxy,
} from '../../../src/testing/index.js'
import { startDaemonProcess } from '../../../src/testing/processes/daemonProcess.js'
import { freePort } from '../../../src/testing/processes/ports.js'
import { daemonEnvironment } from '../../../src/testing/stackParts.js'

const RESPAWN_MS = 200

/** Starts a daemon again whenever it has ended, as a service manager does. */
interface Supervisor {
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

function createSupervisor(daemon: DaemonProcess, env: DaemonEnvironment): Supervisor {
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

/** A daemon of the world: each has all keys, so that either may lead. */
export interface ChaosDaemon extends Supervisor {
  readonly name: 'a' | 'b'
  readonly api: string
  readonly ops: string
  readonly process: DaemonProcess
  /** What the daemon has instead of a way to the database of its own. */
  readonly database: TcpProxy
}

/** Puts the world's daemon behind the proxies of `chainsFile`, and starts a second one beside it. */
export async function openDaemons(
  stack: Stack<'mainnet'>,
  chainsFile: string,
): Promise<ChaosDaemon[]> {
  const [first, second] = await Promise.all(
    [0, 1].map(() => startTcpProxy({ port: Number(new URL(stack.databaseUrl).port) })),
  )
  const envOf = (proxy: TcpProxy): DaemonEnvironment => ({
    CLUSTERD_CHAINS: chainsFile,
    LOG_LEVEL: 'debug',
    DATABASE_URL: through(proxy, stack.databaseUrl),
  })
  await stack.daemon.restart(envOf(first!))
  return [
    supervised('a', stack, stack.daemon, first!, envOf(first!)),
    await startSecond(stack, second!, envOf(second!)),
  ]
}

async function startSecond(stack: Stack<'mainnet'>, database: TcpProxy, env: DaemonEnvironment) {
  const port = await freePort()
  const opsPort = await freePort()
  const at = { api: `http://127.0.0.1:${port}`, ops: `http://127.0.0.1:${opsPort}` }
  const { databaseUrl, home, solana } = stack
  const complete = daemonEnvironment(home, {
    databaseUrl,
    port,
    opsPort,
    env: { SOLANA_RELAYER_PRIVATE_KEY: solana?.relayAuthority.secretKey },
  })
  const daemon = await startDaemonProcess({
    opsUrl: at.ops,
    logFile: path.join(home, 'logs', 'daemon-b.log'),
    env: { ...complete, ...env },
    onEnd: () => {},
  })
  return supervised('b', at, daemon, database, env)
}

function supervised(
  name: ChaosDaemon['name'],
  { api, ops }: { api: string; ops: string },
  process: DaemonProcess,
  database: TcpProxy,
  env: DaemonEnvironment,
): ChaosDaemon {
  const supervisor = createSupervisor(process, env)
  return {
    name,
    api,
    ops,
    process,
    database,
    ...supervisor,
    get starts() {
      return supervisor.starts
    },
  }
}

function through({ port }: TcpProxy, databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.port = String(port)
  return url.href
}
