import type { SolanaAccount } from '../world.js'
import { locateSurfpool, type Surfpool, startSurfpool } from './surfpool.js'

export interface LocalSolanaOptions {
  /** Duration of a slot, milliseconds; default 400. */
  slotMs?: number
  /** Number of registrars to deploy, each under its own key; default 1. */
  programs?: number
  /** Running local cluster with a faucet, to use instead of Surfpool. */
  rpcUrl?: string
  logFile?: string
  /** Receives the reason why there is no Solana. */
  log?: (line: string) => void
  /** Called as soon as a process runs. */
  onSpawn?: (surfpool: Surfpool) => void
}

/** A set-up cluster. */
export interface SolanaSetUp {
  rpcUrl: string
  wsUrl: string
  /** In base58. */
  genesisHash: string
  /** Program of the first registrar. */
  programId: string
  startSlot: number
  /** All registrars, the first included. */
  programs: readonly { programId: string; startSlot: number }[]
  /** Signer of `settle` and `refund`; has SOL for fees. */
  relayAuthority: SolanaAccount
  /** Signer of `withdraw`; has SOL for fees. */
  treasuryAuthority: SolanaAccount
  /** Payers with 100 SOL each. */
  accounts: SolanaAccount[]
}

/** A local Solana cluster with the registrar deployed and initialized. */
export interface LocalSolana extends SolanaSetUp {
  /** Undefined for a cluster that was given. */
  surfpool: Surfpool | undefined
  /** Ends what this start created. */
  stop(): Promise<void>
}

const NO_SURFPOOL =
  'Solana is off: Surfpool has no npm package for this platform; set SOLANA_RPC_URL to a local cluster with a faucet.'

/**
 * Starts a local Solana: Surfpool with the registrar under a fresh key, authorities and payers with SOL.
 * @returns null, after one line to `log`, where Surfpool's package isn't installed and no cluster is given
 * @throws Error when Surfpool doesn't start or the given cluster has no faucet
 */
export async function startLocalSolana(options: LocalSolanaOptions = {}): Promise<LocalSolana | null> {
  if (options.rpcUrl === undefined && locateSurfpool() === undefined) {
    options.log?.(NO_SURFPOOL)
    return null
  }
  const surfpool = options.rpcUrl === undefined ? await startSurfpool(options) : undefined
  if (surfpool) options.onSpawn?.(surfpool)
  try {
    // Solana's libraries are loaded only where a Solana runs
    const { setUpSolana } = await import('./setUpSolana.js')
    return { ...(await setUpSolana(options, surfpool)), surfpool, stop: async () => surfpool?.stop() }
  } catch (error) {
    await surfpool?.stop()
    throw error
  }
}
