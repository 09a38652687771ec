import {
  type Abi,
  type Account,
  type Address,
  type Chain,
  type EncodeDeployDataParameters,
  encodeDeployData,
  getContractAddress,
  type Hex,
  type PublicClient,
  type TransactionReceipt,
  type Transport,
  type WalletClient,
} from 'viem'
import { waitForReceipt } from './receipt.js'

/** Clients of a funded account on a local chain. */
export interface DeployerClients {
  readonly walletClient: WalletClient<Transport, Chain | undefined, Account>
  readonly publicClient: PublicClient
  /** Mines a block. Absent where the chain's node mines. */
  readonly mine?: () => Promise<unknown>
}

/** A transaction to send. Without `to` it creates a contract. */
export interface DeploymentTransaction {
  readonly label: string
  readonly to?: Address
  readonly data: Hex
}

/** Transaction that creates a contract. `label` names the transaction in the error if it reverts. */
export const contractCreationTransaction = <const A extends Abi>(
  label: string,
  code: EncodeDeployDataParameters<A>,
): DeploymentTransaction => ({ label, data: encodeDeployData(code as EncodeDeployDataParameters) })

/**
 * Gas limit of a contract creation, with a margin. It is fixed, since gas can't be estimated for a transaction that
 * relies on an unmined one.
 */
const CREATION_GAS = 6_000_000n
/** Gas limit of a call, with a margin. */
const CALL_GAS = 200_000n

/**
 * Sends transactions of one account with consecutive nonces, then waits for all of them. So a whole deployment takes a
 * block or two instead of a block per transaction. A later transaction may rely on an earlier one.
 * @returns the receipts, in the order of the transactions
 * @throws Error that names the transaction that reverted; errors of `waitForReceipt`
 */
export async function sendTransactionsInOrder(
  client: DeployerClients,
  steps: readonly DeploymentTransaction[],
): Promise<TransactionReceipt[]> {
  const { walletClient, publicClient, mine } = client
  const firstNonce = await nextNonce(client)
  const hashes: Hex[] = []
  for (const [index, { to, data }] of steps.entries()) {
    const nonce = firstNonce + index
    const gas = to ? CALL_GAS : CREATION_GAS
    hashes.push(
      await walletClient.sendTransaction({
        chain: walletClient.chain ?? null,
        to,
        data,
        gas,
        nonce,
      }),
    )
  }
  // call `mine` only after all transactions have arrived: anvil never mines one that arrives while its predecessor's
  // block is being mined
  const receipts: TransactionReceipt[] = []
  for (const [index, hash] of hashes.entries()) {
    const receipt = await waitForReceipt(publicClient, hash, mine)
    if (receipt.status !== 'success')
      throw new Error(`${steps[index]!.label}: transaction ${hash} reverted`)
    receipts.push(receipt)
  }
  return receipts
}

/** Creates a contract, and waits until it is mined. @returns its address */
export async function deployContract(
  client: DeployerClients,
  contract: DeploymentTransaction,
): Promise<Address> {
  const [receipt] = await sendTransactionsInOrder(client, [contract])
  return receipt!.contractAddress!
}

/** Address of the next contract that the account creates. */
export async function nextContractAddress(client: DeployerClients): Promise<Address> {
  return getContractAddress({
    from: client.walletClient.account.address,
    nonce: BigInt(await nextNonce(client)),
  })
}

/** The account's next nonce, unmined transactions included. */
function nextNonce({ walletClient, publicClient }: DeployerClients): Promise<number> {
  return publicClient.getTransactionCount({
    address: walletClient.account.address,
    blockTag: 'pending',
  })
}
