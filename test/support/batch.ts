import { type Address, encodeFunctionData, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import {
  testBatchAbi,
  testBatchBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestBatch.js'
import {
  createLocalWalletClient,
  localChainClients,
} from '../../src/testing/chains/localClients.js'
import { waitForReceipt } from './receipt.js'

interface At {
  rpcUrl: string
  chainId: number
}

export interface BatchCall {
  to: Address
  data: Hex
  value: bigint
}

/** Deploys a wallet that makes several calls in one transaction. */
export async function deployBatch(at: At, account: PrivateKeyAccount): Promise<Address> {
  const { reader } = localChainClients(at)
  const hash = await createLocalWalletClient(at, account).deployContract({
    abi: testBatchAbi,
    bytecode: testBatchBytecode,
  })
  const { contractAddress } = await waitForReceipt(reader, hash)
  if (!contractAddress) throw new Error('deploying the batch wallet: no address')
  return contractAddress
}

/** The one transaction that makes the calls, with the money that they take. */
export const batchOf = (batch: Address, calls: readonly BatchCall[]) => ({
  to: batch,
  data: encodeFunctionData({ abi: testBatchAbi, functionName: 'run', args: [calls] }),
  value: calls.reduce((sum, { value }) => sum + value, 0n),
})

/** Makes the calls in one transaction; answers its hash. */
export function runBatch(
  at: At,
  account: PrivateKeyAccount,
  batch: Address,
  calls: readonly BatchCall[],
): Promise<Hex> {
  return createLocalWalletClient(at, account).sendTransaction(batchOf(batch, calls))
}
