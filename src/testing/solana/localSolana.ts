import type { SolanaAccount } from '../world.js'
import { locateSurfpool, type Surfpool, startSurfpool } from './surfpool.js'

export interface LocalSolanaOptions {
  /** Milliseconds a slot takes, default 400. */
  slotMs?: number
  /** How many registrars to deploy, each under a key of its own; default 1. */
  programs?: number
  /** A local cluster with a faucet that runs already, to use instead of Surfpool. */
  rpcUrl?: string
  logFile?: string
  /** Gets the line that says why there is no Solana. */
  log?: (line: string) => void
  /** Called as soon as there is a process to end. */
  onSpawn?: (surfpool: Surfpool) => void
}

/** A cluster as it was set up. */
export interface SolanaSetUp {
  rpcUrl: string
  wsUrl: string
  /** In base58. */
  genesisHash: string
  /** Of the first registrar. */
  programId: string
  startSlot: number
  /** All registrars, `programId` and `startSlot` among them. */
  programs: readonly { programId: string; startSlot: number }[]
  /** Signs `settle` and `refund`; has SOL for fees. */
  relayAuthority: SolanaAccount
  /** Signs `withdraw`; has SOL for fees. */
  treasuryAuthority: SolanaAccount
  /** Payers with 100 SOL each. */
  accounts: SolanaAccount[]
}

/** A local Solana cluster with the registrar deployed and initialized. */
export interface LocalSolana extends SolanaSetUp {
  /** Undefined for a cluster that ran already. */
  surfpool: Surfpool | undefined
  /** Ends what was started here. */
  stop(): Promise<void>
}

const NO_SURFPOOL =
  'Solana is off: Surfpool has no npm package for this platform; set SOLANA_RPC_URL to a local cluster with a faucet.'

/**
 * Starts a local Solana: Surfpool with the registrar under a fresh key, authorities and payers with SOL. Null, and one line
 * to `log`, where Surfpool's package isn't installed and no cluster is given.
 * @throws when Surfpool doesn't start or the cluster given has no faucet
 */
export async function startLocalSolana(options: LocalSolanaOptions = {}): Promise<LocalSolana | null> {
  if (options.rpcUrl === undefined && locateSurfpool() === undefined) {
    options.log?.(NO_SURFPOOL)
    return null
  }
  const surfpool = options.rpcUrl === undefined ? await startSurfpool(options) : undefined
  if (surfpool) options.onSpawn?.(surfpool)
  try {
    // Solana's libraries are loaded where there is a Solana only
    const { setUpSolana } = await import('./setUpSolana.js')
    return { ...(await setUpSolana(options, surfpool)), surfpool, stop: async () => surfpool?.stop() }
  } catch (error) {
    await surfpool?.stop()
    throw error
  }
}
