import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, readConfig, readMirrorConfig } from '../../src/config/index.js'
import type { Daemon } from '../../src/daemon/daemon.js'
import type { DaemonChainFamily } from '../../src/daemon/families/family.js'
import { startDaemon } from '../../src/daemon/index.js'
import { createLogger } from '../../src/ops/logger/logger.js'
import { NETWORKS } from '../../src/registry/primitives/network.js'
import { metricLines } from './metrics.js'

/** A daemon in this process, with what its log says. */
export interface TestDaemon {
  api: string
  ops: string
  /** Time from the start until both ports were open. */
  startMs: number
  /** Lines of the log, from level warn on or LOG_LEVEL. */
  warnings(): string[]
  status(): Promise<{
    code: number
    problems: string[]
    warnings: string[]
    [field: string]: unknown
  }>
  metric(name: string): Promise<string[]>
  stop(): Promise<void>
}

/** Starts a daemon on a database and chains, as `clusterd start` does. */
export async function startTestDaemon(
  databaseUrl: string,
  chainsFile: object,
  env: Record<string, string> = {},
  read: (env: Record<string, string>) => Config = readConfig,
  families?: readonly DaemonChainFamily[],
): Promise<TestDaemon> {
  const home = mkdtempSync(join(tmpdir(), 'clusterd-daemon-'))
  const file = join(home, 'chains.json')
  writeFileSync(file, JSON.stringify(chainsFile))
  const ports = {
    PORT: '0',
    OPS_PORT: '0',
    DRAIN_SECONDS: '0',
    TOKEN_KEY: `0x${'5b'.repeat(32)}`,
    LIMITS: 'off',
  }
  const set = { ...ports, DATABASE_URL: databaseUrl, CLUSTERD_CHAINS: file, ...env }
  const config = read(set)
  const lines: string[] = []
  const log = createLogger({
    level: env.LOG_LEVEL ?? 'warn',
    to: { write: (line) => void lines.push(line) },
  })
  const startedMs = performance.now()
  const daemon: Daemon = await startDaemon(config, log, undefined, families)
  const startMs = performance.now() - startedMs
  const ops = `http://127.0.0.1:${daemon.opsPort}`
  return {
    api: `http://127.0.0.1:${daemon.apiPort}`,
    ops,
    startMs,
    warnings: () => lines,
    async status() {
      const response = await fetch(`${ops}/status`)
      return {
        code: response.status,
        ...((await response.json()) as { problems: string[]; warnings: string[] }),
      }
    },
    metric: (name) => metricLines(ops, name),
    async stop() {
      await daemon.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Starts a mirror, as `clusterd mirror` does. @param chainsFile null for none */
export const startTestMirror = (
  databaseUrl: string,
  { url, key, chainsFile = null }: { url: string; key: string; chainsFile?: object | null },
  env: Record<string, string> = {},
): Promise<TestDaemon> =>
  startTestDaemon(databaseUrl, chainsFile ?? {}, env, ({ TOKEN_KEY: _, ...set }) =>
    readMirrorConfig(NETWORKS, {
      ...set,
      ...(chainsFile === null && { CLUSTERD_CHAINS: '/nowhere/chains.json' }),
      MIRROR_URL: url,
      MIRROR_KEY: key,
    }),
  )
