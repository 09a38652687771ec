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
  toHex,
  type WalletClient,
} from 'viem'

const FUNDS_WEI = parseEther('10000')
const MINE_QUICKLY_MS = 40

/** RPC URL and id of a local chain. */
export interface RpcUrlAndChainId {
  rpcUrl: string
  chainId: number
}

/** Clients of a local chain. */
export interface LocalClients {
  reader: PublicClient
  /** Client for JSON-RPC methods that only test nodes have, such as mining. */
  test: TestClient<'anvil', HttpTransport, Chain>
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

export function localChainClients(at: RpcUrlAndChainId): LocalClients {
  const connection = connectionTo(at)
  const polling = { pollingInterval: MINE_QUICKLY_MS, cacheTime: 0 }
  return {
    reader: createPublicClient({ ...connection, ...polling }),
    test: createTestClient({ ...connection, mode: 'anvil' }),
  }
}

export const createLocalWalletClient = (
  at: RpcUrlAndChainId,
  account: Account,
): WalletClient<HttpTransport, Chain, Account> =>
  createWalletClient({ ...connectionTo(at), account })

/** Gives addresses 10,000 ETH each. */
export async function fundAddresses(
  at: RpcUrlAndChainId,
  addresses: readonly Hex[],
): Promise<void> {
  const { test } = localChainClients(at)
  // the method by Hardhat's name, which anvil supports too
  const setBalance = (address: Hex) =>
    test.request({ method: 'hardhat_setBalance', params: [address, toHex(FUNDS_WEI)] } as never)
  await Promise.all(addresses.map(setBalance))
}

/**
 * Mines blocks in quick succession during `work`, so that the setup of a local world does not wait for the chain's
 * block time.
 */
export async function mineBlocksQuicklyDuring<T>(
  at: RpcUrlAndChainId,
  work: () => Promise<T>,
): Promise<T> {
  const { test } = localChainClients(at)
  let isDone = false
  const mining = (async () => {
    while (!isDone) {
      await new Promise((resolve) => setTimeout(resolve, MINE_QUICKLY_MS))
      if (!isDone) await test.request({ method: 'hardhat_mine', params: ['0x1'] } as never)
    }
  })()
  try {
    return await work()
  } finally {
    isDone = true
    await mining
  }
}
