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
  type Transport,
  toHex,
  type WalletClient,
} from 'viem'

const FUNDS_WEI = parseEther('10000')
const MINE_QUICKLY_MS = 40

/** Clients of a local chain. */
export interface LocalClients {
  reader: PublicClient
  /** Client with anvil's own methods. */
  test: TestClient<'anvil', HttpTransport, Chain>
}

function viemChain(rpcUrl: string, chainId: number): Chain {
  return {
    id: chainId,
    name: `local ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  }
}

export function localClients(at: { rpcUrl: string }, chainId: number): LocalClients {
  const chain = viemChain(at.rpcUrl, chainId)
  const transport = http(at.rpcUrl)
  const reader: PublicClient = createPublicClient({
    chain,
    transport,
    pollingInterval: MINE_QUICKLY_MS,
    cacheTime: 0,
  })
  return { reader, test: createTestClient({ chain, transport, mode: 'anvil' }) }
}

export function walletOf(
  at: { rpcUrl: string },
  chainId: number,
  account: Account,
): WalletClient<Transport, Chain, Account> {
  return createWalletClient({
    account,
    chain: viemChain(at.rpcUrl, chainId),
    transport: http(at.rpcUrl),
  })
}

/** Gives addresses 10,000 ETH each. */
export async function fund(
  at: { rpcUrl: string },
  chainId: number,
  addresses: readonly Hex[],
): Promise<void> {
  const { test } = localClients(at, chainId)
  // by Hardhat's name, which anvil knows too
  const setBalance = (address: Hex) =>
    test.request({ method: 'hardhat_setBalance', params: [address, toHex(FUNDS_WEI)] } as never)
  await Promise.all(addresses.map(setBalance))
}

/** Mines in quick succession, so the setup of a world doesn't wait for its clock. */
export async function mineQuickly<T>(
  at: { rpcUrl: string },
  chainId: number,
  work: () => Promise<T>,
): Promise<T> {
  const { test } = localClients(at, chainId)
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
