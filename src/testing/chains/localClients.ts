import {
  type Account,
  type Chain,
  createPublicClient,
  createTestClient,
  createWalletClient,
  type Hex,
  type HttpTransport,
  http,
  type PublicClient,
  parseEther,
  type TestClient,
  type WalletClient,
} from 'viem'

const FUNDS_WEI = parseEther('10000')
const POLL_MS = 40

/** RPC URL and id of a local chain. */
export interface RpcUrlAndChainId {
  rpcUrl: string
  chainId: number
}

/** viem's clients of a local chain. */
export interface LocalClients {
  reader: PublicClient
  /**
   * Client for JSON-RPC methods that only test nodes have, such as mining. The client uses Hardhat's names of the
   * methods, which anvil knows too.
   */
  test: TestClient<'anvil' | 'hardhat', HttpTransport, Chain>
}

function connectionTo({ rpcUrl, chainId }: RpcUrlAndChainId) {
  const chain: Chain = {
    id: chainId,
    name: `local ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  }
  return { chain, transport: http(rpcUrl) }
}

/** Creates clients of a local chain. They poll every 40 ms and do not cache block numbers. */
export function localChainClients(at: RpcUrlAndChainId): LocalClients {
  const connection = connectionTo(at)
  const polling = { pollingInterval: POLL_MS, cacheTime: 0 }
  return {
    reader: createPublicClient({ ...connection, ...polling }),
    test: createTestClient({ ...connection, mode: 'hardhat' }),
  }
}

export const createLocalWalletClient = (
  at: RpcUrlAndChainId,
  account: Account,
): WalletClient<HttpTransport, Chain, Account> =>
  createWalletClient({ ...connectionTo(at), account })

/** Sets the balance of each address to 10,000 ETH. */
export async function fundAddresses(
  at: RpcUrlAndChainId,
  addresses: readonly Hex[],
): Promise<void> {
  const { test } = localChainClients(at)
  await Promise.all(addresses.map((address) => test.setBalance({ address, value: FUNDS_WEI })))
}
