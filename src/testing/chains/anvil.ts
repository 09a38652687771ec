import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { locateNativeProgram } from '../processes/platform.js'
import { chooseFreePort } from '../processes/ports.js'
import type { ProcessHandle } from '../processes/processes.js'
import { startServerProgram } from '../processes/server.js'
import { repairAnvilStateFile } from './anvilState.js'
import { advanceClockToLead, hostUnixSeconds } from './clock.js'
import { localChainClients } from './localClients.js'

const ANVIL_HOST = '127.0.0.1'
/**
 * Interval at which anvil writes its state file, seconds. It bounds what a power cut or a SIGKILL of anvil loses. At
 * any other end anvil writes the file too, even if its launcher was killed.
 */
const STATE_INTERVAL_S = 60
/**
 * Number of newest blocks whose state anvil retains for a chain with a state file. Geth retains as many. A reorg cannot
 * be deeper. The state of a block takes 150 KiB, so the states of a day would take gigabytes.
 */
const KEPT_STATE_BLOCKS = 128

/** Well-known mnemonic of local Ethereum nodes. Its keys are public. */
export const TEST_MNEMONIC = 'test test test test test test test test test test test junk'

export interface AnvilOptions {
  chainId: number
  /** Port to listen on. Default: a free one. */
  port?: number
  /** Seconds between blocks, fractions allowed. 0: no mining. Absent: one block per transaction, at once (automine). */
  blockTimeS?: number
  /**
   * File that keeps the chain over restarts. After a SIGKILL its content is up to a minute old. Absent: the chain ends
   * with the process.
   */
  statePath?: string
  /** Half the distance, in blocks, of the `finalized` block from the latest one. Anvil's default is 32. */
  slotsInAnEpoch?: number
  /** Seconds that the clock of a new chain is behind this host's. Default: 0. */
  behindS?: number
  extraArgs?: readonly string[]
  /**
   * File for anvil's output (errors only). Default: beside the state file, or else in the system's temporary folder.
   */
  logFile?: string
  /** Binary to run instead of the npm package's. */
  anvilPath?: string
}

/** A running anvil. `stop` writes the chain up to the newest block to the state file, if there is one. */
export interface Anvil extends ProcessHandle {
  rpcUrl: string
  wsUrl: string
  port: number
  chainId: number
}

/**
 * Starts anvil on loopback and waits until it listens. A restart with the same `statePath` continues with the
 * chain's blocks, receipts and logs. State of earlier blocks is not kept: `eth_call` works at blocks mined since the
 * start, the newest 128 of them.
 * @throws Error with one line that names the cause
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { chainId, statePath, behindS = 0 } = options
  const command = options.anvilPath ?? locateAnvil()
  if (statePath !== undefined) {
    fs.mkdirSync(path.dirname(statePath), { recursive: true })
    repairAnvilStateFile(statePath)
  }
  const port = options.port ?? (await chooseFreePort())
  const temporaryFile = path.join(os.tmpdir(), `clusterd-anvil-${process.pid}-${port}`)
  const boundFile = `${temporaryFile}.bound`
  const ownLogFile = statePath === undefined ? `${temporaryFile}.log` : `${statePath}.log`
  const logFile = options.logFile ?? ownLogFile
  const server = await startServerProgram({
    name: 'anvil',
    port,
    command,
    args: anvilArguments(options, port, boundFile),
    logFile,
    // anvil writes this file after it has bound its port, so another process that answers on that port is not mistaken
    // for anvil
    isReady: () => fs.existsSync(boundFile),
  })
  fs.rmSync(boundFile)
  if (logFile.startsWith(temporaryFile))
    server.exited.then(() => fs.rmSync(logFile, { force: true }))
  const rpcUrl = `http://${ANVIL_HOST}:${port}`
  try {
    await advanceClockToLead(localChainClients({ rpcUrl, chainId }), -behindS)
  } catch (error) {
    await server.stop()
    throw error
  }
  return { ...server, rpcUrl, wsUrl: `ws://${ANVIL_HOST}:${port}`, port, chainId }
}

/** Path of anvil's own binary. If the package's `.bin` wrapper were started and killed, anvil would run on. */
function locateAnvil(): string {
  const manifest = locateNativeProgram('anvil', '/package.json')
  const binary = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  return path.join(path.dirname(manifest), 'bin', binary)
}

function anvilArguments(options: AnvilOptions, port: number, boundFile: string): string[] {
  const { chainId, blockTimeS, statePath, slotsInAnEpoch, behindS, extraArgs = [] } = options
  const args: Record<string, string | number | undefined> = {
    host: ANVIL_HOST,
    port,
    'chain-id': chainId,
    'config-out': boundFile,
    accounts: 10,
    mnemonic: TEST_MNEMONIC,
    'block-time': blockTimeS || undefined,
    timestamp: behindS ? hostUnixSeconds() - behindS : undefined,
    'slots-in-an-epoch': slotsInAnEpoch,
    state: statePath,
  }
  if (statePath === undefined) {
    // otherwise anvil would write states to the user's home folder
    args['max-persisted-states'] = 0
  } else {
    args['state-interval'] = STATE_INTERVAL_S
    args['prune-history'] = KEPT_STATE_BLOCKS
  }
  const given = Object.entries(args).filter(([, value]) => value !== undefined)
  return [
    '--quiet',
    ...(blockTimeS === 0 ? ['--no-mining'] : []),
    ...given.flatMap(([name, value]) => [`--${name}`, String(value)]),
    ...extraArgs,
  ]
}
