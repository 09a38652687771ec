import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DaemonEnvironment, DaemonProcess, Stack } from '../../../src/testing/index.js'
import { startDaemonProcess } from '../../../src/testing/processes/daemonProcess.js'
import { chooseFreePort } from '../../../src/testing/processes/ports.js'
import { daemonEnvironment } from '../../../src/testing/stackParts.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'

const RESPAWN_MS = 200

/** Restarts a daemon whenever it has ended, as a service manager does. */
interface Supervisor {
  /** Sends SIGKILL. */
  kill(): void
  /** Adds variables to the environment of its next start, once. */
  arm(env: DaemonEnvironment): void
  /** Number of its restarts, and the fail points at which it died. */
  readonly starts: number
  readonly failpoints: Readonly<Record<string, number>>
  /** Arms no further fail points. The daemon continues, and is restarted only if one is armed in it. */
  release(): void
  /** Ends the supervision. The daemon continues. */
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
      // any other restart hides a fault from which the daemon has to recover itself
      if (Object.keys(added).length > 0) kill()
    },
    async end() {
      isOn = false
      wake()
      await supervising
    },
  }
}

/** A daemon of the world. Each has all keys, so that either may lead. */
export interface ChaosDaemon extends Supervisor {
  readonly name: 'a' | 'b'
  readonly api: string
  readonly ops: string
  readonly process: DaemonProcess
  /** Proxy between the daemon and the database. */
  readonly database: TcpProxy
}

/** Puts the world's daemon behind the proxies of `chainsFile`, and starts a second daemon. */
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
  const port = await chooseFreePort()
  const opsPort = await chooseFreePort()
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
