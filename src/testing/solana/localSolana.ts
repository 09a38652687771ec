import { Connection } from '@solana/web3.js'
import type { SolanaAccount } from '../world.js'
import { describeAccount, keypairOf, solanaAccounts, solanaOperator } from './accounts.js'
import { deployRegistrar } from './registrar.js'
import { fundSolana } from './sendSolana.js'
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

/** A local Solana cluster with the registrar deployed and initialized. */
export interface LocalSolana {
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
    return await setUp(options, surfpool)
  } catch (error) {
    await surfpool?.stop()
    throw error
  }
}

async function setUp(options: LocalSolanaOptions, surfpool: Surfpool | undefined): Promise<LocalSolana> {
  const rpcUrl = surfpool?.rpcUrl ?? options.rpcUrl ?? ''
  const wsUrl = surfpool?.wsUrl ?? guessWsUrl(rpcUrl)
  const connection = new Connection(rpcUrl, { wsEndpoint: wsUrl, commitment: 'confirmed' })
  const [deployer, relayAuthority, treasuryAuthority] = [
    solanaOperator('deployer'),
    solanaOperator('relayer'),
    solanaOperator('treasurer'),
  ]
  const accounts = solanaAccounts()
  const funded = [deployer, relayAuthority, treasuryAuthority, ...accounts.map(keypairOf)]
  const [genesisHash] = await Promise.all([
    connection.getGenesisHash(),
    fundSolana(
      connection,
      funded.map(({ publicKey }) => publicKey),
    ),
  ])
  const deployed = await Promise.all(
    Array.from({ length: options.programs ?? 1 }, () => deployRegistrar(connection, deployer)),
  )
  const programs = deployed.map(({ programId, slot }) => ({ programId: programId.toBase58(), startSlot: slot }))
  return {
    rpcUrl,
    wsUrl,
    genesisHash,
    ...programs[0]!,
    programs,
    relayAuthority: describeAccount(relayAuthority),
    treasuryAuthority: describeAccount(treasuryAuthority),
    accounts,
    surfpool,
    stop: async () => surfpool?.stop(),
  }
}

/** By custom a node's WebSocket listens one port above its HTTP. */
function guessWsUrl(rpcUrl: string): string {
  const url = new URL(rpcUrl)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  if (url.port !== '') url.port = String(Number(url.port) + 1)
  return url.href
}
