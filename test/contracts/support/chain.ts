import {
  type Abi,
  type AbiStateMutability,
  type Address,
  BaseError,
  type ContractFunctionArgs,
  type ContractFunctionName,
  createPublicClient,
  createTestClient,
  createWalletClient,
  decodeErrorResult,
  defineChain,
  encodeFunctionData,
  type Hex,
  http,
  isHex,
  type TransactionReceipt,
} from 'viem'
import { beforeEach, expect } from 'vitest'
import { startAnvil } from '../../../src/testing/chains/anvil.js'
import { waitForReceipt } from '../../support/receipt.js'

/** Enough for any call of these tests, a message of 100 names included. */
const CALL_GAS = 12_000_000n

export type Chain = Awaited<ReturnType<typeof startChain>>
/** The first accounts of a chain. */
export type Accounts = [Address, Address, Address, Address, Address, Address]

/** Restores, before each further test, the chain's state from before the first test of the file. */
export function freshEach(chain: () => Pick<Chain, 'testClient'>): void {
  let fresh: Hex | undefined
  beforeEach(async () => {
    if (fresh) await chain().testClient.revert({ id: fresh })
    fresh = await chain().testClient.snapshot()
  })
}

/** An anvil that mines each transaction at once, with clients that use its ten unlocked accounts. */
export async function startChain(
  chainId = 31_337,
  options: { extraArgs?: readonly string[] } = {},
) {
  const anvil = await startAnvil({ chainId, ...options })
  const chain = defineChain({
    id: chainId,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [anvil.rpcUrl] } },
  })
  const transport = http(undefined, { retryCount: 0, timeout: 30_000 })
  const publicClient = createPublicClient({ chain, transport, pollingInterval: 10, cacheTime: 0 })
  const testClient = createTestClient({ chain, mode: 'anvil', transport })
  const unlocked = createWalletClient({ chain, transport })
  const accounts = await unlocked.getAddresses()

  /** Sends a transaction, reverted or not, and gives its receipt. */
  async function send(tx: {
    from: Address
    to?: Address
    data?: Hex
    value?: bigint
    gas?: bigint
  }) {
    const { from: account, gas = CALL_GAS, ...rest } = tx
    const hash = await unlocked.sendTransaction({ account, chain: null, gas, ...rest })
    return waitForReceipt(publicClient, hash)
  }

  /** Sends a transaction, and fails the test if it reverted. */
  async function succeed(tx: Parameters<typeof send>[0]): Promise<TransactionReceipt> {
    const receipt = await send(tx)
    expect(receipt.status, `transaction ${receipt.transactionHash}`).toBe('success')
    return receipt
  }

  /** Name of the error with which a transaction reverts; undefined if it succeeds. */
  async function revertOf(tx: Parameters<typeof send>[0], abi: Abi): Promise<string | undefined> {
    const { from: account, gas = CALL_GAS, ...rest } = tx
    try {
      await publicClient.call({ account, gas, ...rest })
      return undefined
    } catch (error) {
      const data = error instanceof BaseError && revertData(error)
      if (!data) throw error
      return decodeErrorResult({ abi, data }).errorName
    }
  }

  async function deploy(data: Hex, from: Address = accounts[0]!): Promise<Address> {
    return (await succeed({ from, data })).contractAddress!
  }

  /** Runs work on the chain, and restores the chain's state afterwards. */
  async function takenBack<T>(work: () => Promise<T>): Promise<T> {
    const id = await testClient.snapshot()
    try {
      return await work()
    } finally {
      await testClient.revert({ id })
    }
  }

  /** Status of a transaction in a block of this time. The chain's state is restored afterwards. */
  const statusAt = (timestamp: bigint, tx: Parameters<typeof send>[0]) =>
    takenBack(async () => {
      await testClient.setNextBlockTimestamp({ timestamp })
      return (await send(tx)).status
    })

  /** Lets a contract's address send transactions, with money for them. */
  async function impersonate(address: Address) {
    await testClient.impersonateAccount({ address })
    await testClient.setBalance({ address, value: 10n ** 24n })
  }

  return {
    chain,
    rpcUrl: anvil.rpcUrl,
    accounts,
    publicClient,
    testClient,
    unlocked,
    deployer: createWalletClient({ account: accounts[0]!, chain, transport }),
    send,
    takenBack,
    statusAt,
    succeed,
    revertOf,
    deploy,
    impersonate,
    balance: (address: Address) => publicClient.getBalance({ address }),
    stop: anvil.stop,
  }
}

/** Calldata of a contract's functions; the arguments select the overload. */
export const callsOf =
  <const abi extends Abi>(abi: abi) =>
  <const name extends ContractFunctionName<abi>>(
    functionName: name,
    args: ContractFunctionArgs<abi, AbiStateMutability, name> & readonly unknown[],
  ): Hex => {
    const call: { abi: Abi; functionName: string; args: readonly unknown[] } = {
      abi,
      functionName,
      args,
    }
    return encodeFunctionData(call)
  }

function revertData(error: BaseError): Hex | undefined {
  const found = error.walk(
    (cause) => typeof cause === 'object' && cause !== null && 'data' in cause && isHex(cause.data),
  )
  return found && 'data' in found && isHex(found.data) ? found.data : undefined
}
