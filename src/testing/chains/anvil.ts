import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { missingPart, nativePackage } from '../processes/platform.js'
import { freePort } from '../processes/ports.js'
import {
  type Child,
  handleOf,
  type ProcessHandle,
  spawnChild,
  waitFor,
} from '../processes/processes.js'
import { restoreState } from './anvilState.js'

const HOST = '127.0.0.1'
const READY_DEADLINE_MS = 20_000
const STOP_GRACE_MS = 10_000
const PORT_TRIES = 5
/** Writing is for a power cut: at its end anvil writes its state too, also where its launcher was killed. */
const STATE_INTERVAL_S = 60
/**
 * Blocks whose state a lasting chain keeps, as many as geth does: no reorg is deeper. Of all blocks anvil takes 150 KiB
 * each, so gigabytes in a day.
 */
const STATES_KEPT = 128

/** Well-known mnemonic of local Ethereum nodes; its keys are public. */
export const TEST_MNEMONIC = 'test test test test test test test test test test test junk'

export interface AnvilOptions {
  chainId: number
  /** Default: a free one. */
  port?: number
  /** Seconds between blocks, fractions allowed, 0: none; absent: one block per transaction, at once (automine). */
  blockTimeS?: number
  /** File that keeps the chain over restarts, a minute old after a kill; absent: the chain ends with the process. */
  statePath?: string
  /** Half the distance of `finalized` from the latest block; anvil's default is 32. */
  slotsInAnEpoch?: number
  extraArgs?: readonly string[]
  /** File for anvil's output (errors only); default: beside the state file, else in the system's temporary folder. */
  logFile?: string
  /** Binary to run in place of the npm package's. */
  anvilPath?: string
}

/** A running anvil. `stop` leaves the newest block in the state file, if there is one. */
export interface Anvil extends ProcessHandle {
  rpcUrl: string
  wsUrl: string
  port: number
  chainId: number
}

/**
 * Starts anvil on loopback and waits until it listens. A restart on the same `statePath` continues with its blocks,
 * receipts and logs (past state is not kept: `eth_call` works at blocks mined since the start, the newest 128 of them).
 * @throws Error with one line that names the cause
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const command = options.anvilPath ?? locateAnvil()
  if (options.statePath !== undefined) {
    fs.mkdirSync(path.dirname(options.statePath), { recursive: true })
    restoreState(options.statePath)
  }
  const { chainId } = options
  const { child, port } = await launch(command, options)
  const rpcUrl = `http://${HOST}:${port}`
  const end = async (signal: NodeJS.Signals) => {
    await child.end(signal, STOP_GRACE_MS)
    removeTemporaryLog(options, child.logFile)
  }
  return {
    rpcUrl,
    wsUrl: `ws://${HOST}:${port}`,
    port,
    chainId,
    ...handleOf(child, 'SIGINT', end), // SIGINT makes anvil write its state
  }
}

/** The package's `.bin` wrapper would leave an orphan when killed. */
function locateAnvil(): string {
  const platform = process.platform
  const arch = process.arch
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `${nativePackage('anvil', platform, arch)}/package.json`,
    )
    return path.join(path.dirname(manifest), 'bin', platform === 'win32' ? 'anvil.exe' : 'anvil')
  } catch {
    throw new Error(`starting anvil: ${missingPart('anvil', platform, arch)}`)
  }
}

async function launch(
  command: string,
  options: AnvilOptions,
): Promise<{ child: Child; port: number }> {
  for (let tries = 1; ; tries++) {
    const port = options.port ?? (await freePort())
    const logFile = options.logFile ?? defaultLogFile(options, port)
    // anvil writes this file after binding its port: another process's answer there is never taken for its own
    const boundFile = `${logFile}.${process.pid}.${port}.bound`
    const child = await spawnChild({
      command,
      args: argsOf(options, port, boundFile),
      logFile,
      exitSignal: 'SIGINT',
    })
    try {
      await waitUntilBound(child, options.chainId, boundFile)
      return { child, port }
    } catch (error) {
      await child.end('SIGKILL', 0)
      const taken = child.logTail().includes('Address already in use')
      removeTemporaryLog(options, logFile)
      if (taken && options.port === undefined && tries < PORT_TRIES) continue
      throw taken ? new Error(`starting anvil: port ${port} is taken`) : error
    } finally {
      fs.rmSync(boundFile, { force: true })
    }
  }
}

function defaultLogFile(options: AnvilOptions, port: number): string {
  if (options.statePath !== undefined) return `${options.statePath}.log`
  return path.join(os.tmpdir(), `clusterd-anvil-${process.pid}-${port}.log`)
}

function removeTemporaryLog(options: AnvilOptions, logFile: string): void {
  if (options.logFile === undefined && options.statePath === undefined)
    fs.rmSync(logFile, { force: true })
}

function argsOf(options: AnvilOptions, port: number, boundFile: string): string[] {
  const state = options.statePath
  return [
    ...['--host', HOST, '--port', String(port), '--chain-id', String(options.chainId), '--quiet'],
    ...['--config-out', boundFile],
    // in either case none in the user's home folder
    ...(state === undefined
      ? ['--max-persisted-states', '0']
      : ['--prune-history', String(STATES_KEPT)]),
    ...['--accounts', '10', '--mnemonic', TEST_MNEMONIC],
    ...(options.blockTimeS === 0 ? ['--no-mining'] : []),
    ...(options.blockTimeS ? ['--block-time', String(options.blockTimeS)] : []),
    ...(options.slotsInAnEpoch === undefined
      ? []
      : ['--slots-in-an-epoch', String(options.slotsInAnEpoch)]),
    ...(state === undefined
      ? []
      : ['--state', state, '--state-interval', String(STATE_INTERVAL_S)]),
    ...(options.extraArgs ?? []),
  ]
}

async function waitUntilBound(child: Child, chainId: number, boundFile: string): Promise<void> {
  const isBound = await waitFor(
    () => child.hasExited() || fs.existsSync(boundFile),
    READY_DEADLINE_MS,
  )
  if (isBound && !child.hasExited()) return
  const said = child.logTail().trim().split('\n', 1)[0]
  throw new Error(`starting anvil for chain ${chainId}: ${said || 'no answer'}`)
}
