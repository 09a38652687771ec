import { hubAbi } from 'clusterd/contracts'
import type { Stack } from 'clusterd/testing'
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  type Hex,
  http,
  parseEther,
  stringToHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { compile } from './compile.js'

const { abi, bytecode } = compile('NameGate')

/** A name as contracts know it: its characters, left-aligned in 32 bytes. */
const word = (name: string): Hex => stringToHex(name, { size: 32 })

const chainOf = ({ chainId, rpcUrl }: { chainId: number; rpcUrl: string }) =>
  defineChain({
    id: chainId,
    name: 'local',
    rpcUrls: { default: { http: [rpcUrl] } },
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  })

/** A NameGate beside the hub of a world, and what the tests do with both. */
export async function deployGate({ networks, accounts }: Stack<'mainnet'>) {
  const { hub, spokes } = networks.mainnet
  const chain = chainOf(hub)
  const reader = createPublicClient({ chain, transport: http(), pollingInterval: 50, cacheTime: 0 })
  const walletOf = (index: number, on = chain) =>
    createWalletClient({
      chain: on,
      transport: http(),
      account: privateKeyToAccount(accounts.evm[index]!.privateKey),
    })
  const deployer = walletOf(0)
  const nonce = await reader.getTransactionCount({
    address: deployer.account.address,
    blockTag: 'pending',
  })
  const created = await deployer.deployContract({ abi, bytecode, args: [hub.contracts.hub], nonce })
  const { contractAddress } = await reader.waitForTransactionReceipt({ hash: created })
  const gate = contractAddress!

  return {
    reader,
    /** Bids for a name on the hub, as a wallet. */
    bid: (index: number, name: string) =>
      walletOf(index).sendTransaction({
        to: hub.contracts.hub,
        value: parseEther('0.01'),
        gas: 200_000n,
        data: encodeFunctionData({ abi: hubAbi, functionName: 'placeBid', args: [word(name)] }),
      }),
    /** Has the gate bid for a name. */
    bidByGate: (index: number, name: string) =>
      walletOf(index).writeContract({
        address: gate,
        abi,
        functionName: 'bid',
        args: [word(name)],
        value: parseEther('0.01'),
        gas: 300_000n,
      }),
    /** Sends a transaction on the first spoke. */
    sendOnSpoke: (index: number, call: { to: Hex; data: Hex; value: bigint }) =>
      walletOf(index, chainOf(spokes[0]!)).sendTransaction(call),
    takeRefund: (index: number, to: Hex) =>
      walletOf(index).writeContract({
        address: gate,
        abi,
        functionName: 'takeRefund',
        args: [to],
        gas: 200_000n,
      }),
    /** Whether the gate opens for a wallet. */
    opensFor: (index: number, name: string): Promise<boolean> =>
      reader
        .simulateContract({
          address: gate,
          abi,
          functionName: 'enter',
          args: [word(name)],
          account: accounts.evm[index]!.address,
        })
        .then(
          () => true,
          () => false,
        ),
    /** Holder of a name on the hub, as a word. */
    holderOf: (name: string) =>
      reader.readContract({
        address: hub.contracts.hub,
        abi: hubAbi,
        functionName: 'ownerOf',
        args: [word(name)],
      }),
  }
}
