import { locateNativeProgram } from '../processes/platform.js'
import type { SolanaSetUpOptions, SolanaWithRegistrars } from './setUpSolana.js'
import { type Surfpool, startSurfpool } from './surfpool.js'

export interface LocalSolanaOptions extends SolanaSetUpOptions {
  /** Duration of a slot, ms; default 400. */
  slotMs?: number
  logFile?: string
  /** Receives the reason why Solana was not started. */
  log?: (line: string) => void
  /** Called with Surfpool as soon as its process runs. */
  onSpawn?: (surfpool: Surfpool) => void
}

/** A local Solana cluster with the registrar (the program that takes payments) deployed and initialized. */
export interface LocalSolana extends SolanaWithRegistrars {
  /** Undefined where the option `rpcUrl` named a running chain. */
  surfpool: Surfpool | undefined
  /** Ends Surfpool if `startLocalSolana` has started it. */
  stop(): Promise<void>
}

/**
 * Starts Surfpool, a local Solana cluster, unless `rpcUrl` names a running chain. Then deploys the registrars, each
 * under a fresh key, and gives SOL to the accounts of authorities and payers.
 * @returns null, after one line to `log`, where Surfpool's package is not installed and no chain is given
 * @throws Error when Surfpool does not start or the given chain has no faucet
 */
export async function startLocalSolana(
  options: LocalSolanaOptions = {},
): Promise<LocalSolana | null> {
  try {
    if (options.rpcUrl === undefined) locateNativeProgram('Surfpool')
  } catch (error) {
    options.log?.(`Solana is off: ${(error as Error).message}`)
    return null
  }
  const surfpool = options.rpcUrl === undefined ? await startSurfpool(options) : undefined
  if (surfpool) options.onSpawn?.(surfpool)
  try {
    // Solana's libraries are loaded only if Solana runs
    const { setUpSolana } = await import('./setUpSolana.js')
    return {
      ...(await setUpSolana(options, surfpool)),
      surfpool,
      stop: async () => surfpool?.stop(),
    }
  } catch (error) {
    await surfpool?.stop()
    throw error
  }
}
