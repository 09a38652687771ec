import { parseChainsFile, type SolanaConfig } from '../../src/config/index.js'

/** The key under which the tests' quotes are signed. */
export const QUOTE_KEY = Buffer.alloc(32, 7)

/** The section of a chains file. */
export function clusterConfig(
  { programId, startSlot }: { programId: string; startSlot: number },
  rpcUrls: string[],
  feeds: { solUsd: string; ethUsd: string },
): SolanaConfig {
  const chain = {
    network: 'mainnet',
    label: '1',
    role: 'hub',
    chainId: 1,
    rpcUrls: ['http://x'],
    contract: ZERO,
    local: true,
  }
  const solana = { mainnet: { rpcUrls, programId, startSlot, commitment: 'confirmed', feeds } }
  return parseChainsFile({ chains: [chain], solana }, 'test').solana.mainnet!
}

const ZERO = `0x${'00'.repeat(20)}`
