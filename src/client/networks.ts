import type { Schemas } from './types.js'

/** A chain in viem's form (`Chain`), which wagmi also accepts. No wallet library is imported. */
export type ViemChain = ReturnType<typeof viemChainOf>

/** A chain that names can be registered from. `chain` is null on a chain without an EIP-155 id. */
export type RegistrationNetwork = Schemas['Network'] & { chain: ViemChain | null }

export const withViemChain = (network: Schemas['Network']): RegistrationNetwork => ({
  ...network,
  chain: network.chainId === null ? null : viemChainOf(network, network.chainId),
})

const viemChainOf = (network: Schemas['Network'], id: number) => ({
  id,
  name: network.name,
  nativeCurrency: { name: network.gasToken.symbol, ...network.gasToken },
  rpcUrls: { default: { http: network.rpcUrls } },
  ...(network.explorer && {
    blockExplorers: { default: { name: network.explorer, url: network.explorer } },
  }),
  contracts: { [network.role]: { address: network.contract as `0x${string}` } },
  testnet: network.isTestnet,
})
