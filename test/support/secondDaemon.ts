import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Stack } from '../../src/testing/index.js'
import {
  type DaemonProcess,
  startDaemonProcess,
} from '../../src/testing/processes/daemonProcess.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { LOCAL_SECRET_KEYS } from '../../src/testing/stackParts.js'

export interface SecondDaemon {
  /** Base URL of its API. */
  api: string
  daemon: DaemonProcess
  /** How often it has begun to lead the indexing. */
  leads(): number
}

/** Starts a daemon with all roles beside the stack's own, on the same database and chains. The caller kills it. */
export async function startSecondDaemon(stack: Stack<'mainnet'>): Promise<SecondDaemon> {
  const port = await chooseFreePort()
  const opsPort = await chooseFreePort()
  const logFile = join(stack.home, 'logs', 'second.log')
  const daemon = await startDaemonProcess({
    opsUrl: `http://127.0.0.1:${opsPort}`,
    logFile,
    env: {
      ...LOCAL_SECRET_KEYS,
      PORT: String(port),
      OPS_PORT: String(opsPort),
      LOG_FORMAT: 'json',
      LIMITS: 'off',
      DATABASE_URL: stack.databaseUrl,
      CLUSTERD_CHAINS: join(stack.home, 'chains.json'),
    },
    onEnd: () => {},
  })
  return {
    api: `http://127.0.0.1:${port}`,
    daemon,
    leads: () => readFileSync(logFile, 'utf8').split('leading the indexing').length - 1,
  }
}
