import os from 'node:os'
import path from 'node:path'
import { locateNativeProgram } from '../processes/platform.js'
import {
  createProcessHandle,
  type ProcessHandle,
  spawnChild,
  type WatchedChild,
} from '../processes/processes.js'
import { programCommand } from '../processes/programs.js'
import type { SurfpoolAnswer, SurfpoolRequest } from './surfpoolChild.js'

const START_DEADLINE_MS = 20_000
const STOP_GRACE_MS = 2_000

interface SurfpoolOptions {
  /** Duration of a slot, ms. Default 400, as on the public Solana clusters. */
  slotMs?: number
  /** File for Surfpool's output. Default: in the system's temporary folder. */
  logFile?: string
}

/** A local Solana cluster of one node, which keeps no state after its end. */
export interface Surfpool extends ProcessHandle {
  rpcUrl: string
  wsUrl: string
}

/**
 * Starts Surfpool, a native module for Node, in a child process. So Surfpool can be killed like a node, and ends with
 * this process.
 * @throws Error with one line that names the cause
 */
export async function startSurfpool(options: SurfpoolOptions = {}): Promise<Surfpool> {
  const module = locateNativeProgram('Surfpool')
  const { command, args } = await programCommand('testing/solana/surfpoolChild')
  const child = await spawnChild({
    command,
    args,
    logFile: options.logFile ?? path.join(os.tmpdir(), `clusterd-surfpool-${process.pid}.log`),
    // with an empty environment, the node ignores the user's settings
    env: {},
    ipc: true,
    exitSignal: 'SIGKILL',
  })
  try {
    const { rpcUrl, wsUrl } = await startSurfnetInChild(child, {
      module,
      slotMs: options.slotMs ?? 400,
    })
    return {
      rpcUrl,
      wsUrl,
      ...createProcessHandle(child, 'SIGTERM', STOP_GRACE_MS),
    }
  } catch (error) {
    await child.end('SIGKILL', 0)
    throw error
  }
}

async function startSurfnetInChild(
  child: WatchedChild,
  request: SurfpoolRequest,
): Promise<{ rpcUrl: string; wsUrl: string }> {
  let timer: NodeJS.Timeout | undefined
  const answer = await new Promise<SurfpoolAnswer>((resolve) => {
    child.process.once('message', (message) => resolve(message as SurfpoolAnswer))
    child.exited.then(() =>
      resolve({ error: child.logTail().trim().split('\n', 1)[0] || 'it ended' }),
    )
    timer = setTimeout(() => resolve({ error: 'no answer' }), START_DEADLINE_MS)
    child.process.send(request)
  })
  clearTimeout(timer)
  if ('error' in answer) throw new Error(`starting Surfpool: ${answer.error}`)
  return answer
}
