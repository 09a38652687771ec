import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, keccak256 } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import type { ChainConfig } from '../../../config/index.js'
import { addPriceMargin } from '../../margins.js'
import { RefusedByNodesError, RpcError } from '../../rpc/errors.js'
import { type EvmRpc, type RpcCall, toRpcQuantity } from '../../rpc/evm.js'
import { contractErrorOfRevert } from '../bridge/calls.js'
import { capGasFees, doubledGasFees, type GasFees, maxTransactionCostWei } from '../gasFees.js'
import { createGasPriceCap, readGasFees } from '../gasPrice.js'
import { hasTransactionSucceeded, readTransactionReceipt } from '../logs.js'
import { broadcastTransaction } from '../signer.js'
import { findFirstBlockWhere } from '../transactions.js'

export interface DeploymentChain
  extends Pick<ChainConfig, 'label' | 'chainId' | 'local' | 'maxGasPriceWei'> {
  rpc: EvmRpc
}

/** Longest wait until a transaction is included in a block, and until nodes agree about the next nonce, ms. */
const MAX_INCLUSION_WAIT_MS = 10 * 60_000
const MAX_POLL_MS = 500

/**
 * Simulates, signs (EIP-1559) and sends a call with the account's next nonce, and waits until the transaction is mined.
 * Before that, waits for a pending transaction of an earlier run, so that nothing is sent twice. The price of gas is capped
 * as the relayer's (`createGasPriceCap`).
 * @throws Error with one sentence; ChainUnavailableError, RpcError
 */
export async function sendDeploymentCall(
  chain: DeploymentChain,
  account: LocalAccount,
  call: { to: Hex; data: Hex; value: bigint },
): Promise<{ hash: Hex; block: number }> {
  const { rpc, chainId, label } = chain
  const { address: from } = account
  const nonce = await waitForNextNonce(chain, from)
  const capWei = await createGasPriceCap(rpc, chain)()
  const { gas, fees } = await rpc.onOneNode(async (ask) => {
    const tx = { from, to: call.to, data: call.data, value: toRpcQuantity(call.value) }
    const [estimated, balance] = await Promise.all([
      readGasFees(ask),
      ask<Hex>('eth_getBalance', [from, 'latest']),
    ])
    // capped, because a single node estimates the fees, and the transaction may cost all of them
    const fees = capGasFees(estimated, capWei)
    if (!fees)
      throw new Error(
        `Gas on chain "${label}" costs more than ${capWei} wei, the most that is paid: run the command later, or raise the chain's \`maxGasPriceWei\`.`,
      )
    const gas = addPriceMargin(
      BigInt(await explainRefusal(ask<Hex>('eth_estimateGas', [tx]))),
      'gas',
    )
    const costWei = maxTransactionCostWei(gas, fees, call.value)
    if (BigInt(balance) < costWei)
      throw new Error(
        `On chain "${label}" ${from} has ${BigInt(balance)} wei, and this may take ${costWei}: send it some.`,
      )
    return { gas, fees }
  })
  const tx = { type: 'eip1559', chainId, nonce, gas, ...call } as const
  const hash = await signAndSend(chain, { fees, capWei }, (offered) =>
    account.signTransaction({ ...tx, ...offered }),
  )
  const receipt = await pollUntilFound(() => readTransactionReceipt(rpc.call, hash))
  if (!receipt)
    throw new Error(
      `Chain "${label}" has not included ${hash} within 10 minutes: run the command again, it waits.`,
    )
  if (!hasTransactionSucceeded(receipt))
    throw new Error(`The transaction ${hash} reverted on chain "${label}".`)
  return { hash, block: Number(receipt.blockNumber) }
}

/**
 * Signs and sends a transaction. Each time the nodes refuse it, signs and sends it again with doubled fees.
 * @returns the hash, once a node has the transaction
 * @throws Error with one sentence
 */
async function signAndSend(
  { rpc, label }: DeploymentChain,
  { fees: first, capWei }: { fees: GasFees; capWei: bigint },
  sign: (fees: GasFees) => Promise<Hex>,
): Promise<Hex> {
  for (let fees = first; ; ) {
    const raw = await sign(fees)
    try {
      await broadcastTransaction(rpc, raw)
      return keccak256(raw)
    } catch (error) {
      if (!(error instanceof RefusedByNodesError)) throw error
      const next = doubledGasFees(fees, first, capWei)
      if (next === null)
        throw new Error(`Chain "${label}" does not take the transaction (${error.message}).`, {
          cause: error,
        })
      fees = next
    }
  }
}

/**
 * Waits until no transaction of the account is pending, and as many nodes as have to agree report the same nonce. A
 * single node may report a nonce that is too high. A transaction with that nonce would wait, and execute later beside
 * the transaction of a second run.
 * @returns the account's next nonce
 * @throws Error with one sentence
 */
export async function waitForNextNonce(
  { rpc, label }: DeploymentChain,
  address: Hex,
): Promise<number> {
  const count = (ask: RpcCall, block: string) =>
    ask<Hex>('eth_getTransactionCount', [address, block]).then(Number)
  const settledNonce = async () => {
    const answers = await rpc.answersOfAll(
      (ask) => Promise.all([count(ask, 'latest'), count(ask, 'pending')]),
      rpc.needed,
    )
    const agreed = answers.agreement(rpc.needed, (a, b) => a[0] === b[0] && a[1] === b[1])
    if (!agreed) return null
    const [mined, pending] = agreed.answer
    return pending <= mined ? mined : null
  }
  const nonce = await pollUntilFound(settledNonce)
  if (nonce !== null) return nonce
  throw new Error(
    `A transaction of ${address} waits on chain "${label}", or its nodes differ about the account's nonce: speed it up or wait, then run again.`,
  )
}

/** Repeats `ask` until it returns something. Null after `MAX_INCLUSION_WAIT_MS`. */
async function pollUntilFound<T>(ask: () => Promise<T | null>): Promise<T | null> {
  const end = performance.now() + MAX_INCLUSION_WAIT_MS
  for (let pauseMs = 50; ; pauseMs = Math.min(MAX_POLL_MS, 2 * pauseMs)) {
    const result = await ask()
    if (result !== null || performance.now() > end) return result
    await sleep(pauseMs)
  }
}

/** Replaces the error of a refused call by an Error with one sentence. */
async function explainRefusal<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    if (!(error instanceof RpcError) || error.fault !== 'refused') throw error
    throw new Error(`The chain refuses it: ${contractErrorOfRevert(error) ?? error.message}.`, {
      cause: error,
    })
  }
}

/**
 * Number of the block that deployed a contract, searched backwards from the newest block.
 * @returns null where a node does not return an older block's code, as after pruning
 */
export async function findDeploymentBlock(
  { rpc }: DeploymentChain,
  address: Hex,
): Promise<number | null> {
  return rpc.onOneNode(async (ask) => {
    const hasCode = async (block: number) =>
      (await ask<Hex>('eth_getCode', [address, toRpcQuantity(block)])) !== '0x'
    const head = Number(await ask<Hex>('eth_blockNumber', []))
    return findFirstBlockWhere(head, hasCode).catch(() => null)
  })
}
