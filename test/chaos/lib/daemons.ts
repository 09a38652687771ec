import path from 'node:path'
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
import { createSupervisor, type Supervisor } from './supervisor.js'

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
export async function openDaemons(stack: Stack<'mainnet'>, chainsFile: string): Promise<ChaosDaemon[]> {
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
  const [port, opsPort] = [await freePort(), await freePort()]
  const at = { api: `http://127.0.0.1:${port}`, ops: `http://127.0.0.1:${opsPort}` }
  const { databaseUrl, home, solana } = stack
  const complete = daemonEnvironment(home, {
    ...{ databaseUrl, port, opsPort, env: {} },
    solanaKey: solana?.relayAuthority.secretKey,
  })
  const daemon = await startDaemonProcess({
    opsUrl: at.ops,
    logFile: path.join(home, 'logs', 'daemon-b.log'),
    env: { ...complete, ...env },
    onSpawn: () => {},
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
    ...{ name, api, ops, process, database },
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
