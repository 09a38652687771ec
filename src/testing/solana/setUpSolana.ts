import { Connection, type PublicKey } from '@solana/web3.js'
import { waitForCondition } from '../processes/processes.js'
import {
  keypairOfAccount,
  solanaAccountOf,
  solanaAccounts,
  solanaOperatorKeypair,
} from './accounts.js'
import { deployRegistrar } from './registrar.js'
import type { Surfpool } from './surfpool.js'

const FUNDS_LAMPORTS = 100_000_000_000
const FUNDED_DEADLINE_MS = 30_000

export interface SolanaSetUpOptions {
  /** Number of registrars to deploy, each under its own key. Default 1. */
  programs?: number
  /** RPC URL of a running local chain with a faucet, to use instead of Surfpool. */
  rpcUrl?: string
}

export type SolanaWithRegistrars = Awaited<ReturnType<typeof setUpSolana>>

/**
 * Deploys and initializes registrars on a running local cluster, and gives SOL to authorities and payers.
 * @param surfpool undefined for the chain at `options.rpcUrl`
 * @throws Error where the chain has no faucet
 */
export async function setUpSolana(
  options: SolanaSetUpOptions,
  surfpool: Pick<Surfpool, 'rpcUrl' | 'wsUrl'> | undefined,
) {
  const rpcUrl = surfpool?.rpcUrl ?? options.rpcUrl ?? ''
  const wsUrl = surfpool?.wsUrl ?? guessWsUrl(rpcUrl)
  const connection = new Connection(rpcUrl, { wsEndpoint: wsUrl, commitment: 'confirmed' })
  const deployer = solanaOperatorKeypair('deployer')
  const relayAuthority = solanaOperatorKeypair('relayer')
  const treasuryAuthority = solanaOperatorKeypair('treasurer')
  const accounts = solanaAccounts()
  const funded = [deployer, relayAuthority, treasuryAuthority, ...accounts.map(keypairOfAccount)]
  const addresses = funded.map(({ publicKey }) => publicKey)
  const [genesisHash] = await Promise.all([
    connection.getGenesisHash(),
    fundSolanaAddresses(connection, addresses),
  ])
  const deployed = await Promise.all(
    Array.from({ length: options.programs ?? 1 }, () =>
      deployRegistrar(connection, deployer, surfpool !== undefined),
    ),
  )
  const programs = deployed.map(({ programId, slot }) => ({
    programId: programId.toBase58(),
    startSlot: slot,
  }))
  return {
    rpcUrl,
    wsUrl,
    /** Result of `getGenesisHash`, base58. It identifies the cluster. */
    genesisHash,
    /** `programId` and `startSlot` of the first registrar. */
    ...programs[0]!,
    /** All registrars, the first included. */
    programs,
    /** Signer of `settle` and `refund`, with SOL for fees. */
    relayAuthority: solanaAccountOf(relayAuthority),
    /** Signer of `withdraw`, with SOL for fees. */
    treasuryAuthority: solanaAccountOf(treasuryAuthority),
    /** Payers with 100 SOL each. */
    accounts,
  }
}

/** Gives addresses 100 SOL each. @throws Error where the chain has no faucet */
export async function fundSolanaAddresses(
  connection: Connection,
  addresses: readonly PublicKey[],
): Promise<void> {
  await Promise.all(addresses.map((address) => connection.requestAirdrop(address, FUNDS_LAMPORTS)))
  const areFunded = async () =>
    (await connection.getMultipleAccountsInfo([...addresses])).every((account) => account !== null)
  if (!(await waitForCondition(areFunded, FUNDED_DEADLINE_MS)))
    throw new Error(`${connection.rpcEndpoint} has not given SOL to ${addresses.join(', ')}`)
}

/** WebSocket URL of a Solana node, by convention one port above the port for HTTP. */
function guessWsUrl(rpcUrl: string): string {
  const url = new URL(rpcUrl)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  if (url.port !== '') url.port = String(Number(url.port) + 1)
  return url.href
}
