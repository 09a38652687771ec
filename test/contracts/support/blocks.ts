import { type Address, type Hex, type TransactionReceipt, toHex } from 'viem'
import type { Chain } from './chain.js'

/** Arguments of an anvil that takes many calls a block, in the order in which they came. */
export const MANY_CALLS = [
  '--order',
  'fifo',
  '--gas-limit',
  '30000000000',
  '--base-fee',
  '0',
] as const

export interface Call {
  from: Address
  to: Address
  data: Hex
  value?: bigint
}

interface Receipt extends Pick<TransactionReceipt, 'status' | 'logs' | 'transactionHash'> {
  /** Data of the error of a call that reverted. */
  output: Hex | undefined
}

/** Puts calls into blocks, many at once: a call costs a fraction of what it costs in a block of its own. */
export function createBlocks({
  rpcUrl,
  publicClient,
  testClient,
}: Pick<Chain, 'rpcUrl' | 'publicClient' | 'testClient'>) {
  const nonces = new Map<Address, number>()
  let ids = 0

  async function batch<T>(
    questions: readonly (readonly [method: string, params: readonly unknown[]])[],
  ): Promise<T[]> {
    const body = questions.map(([method, params]) => ({
      jsonrpc: '2.0',
      id: ids++,
      method,
      params,
    }))
    if (questions.length === 0) return []
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answers = (await response.json()) as {
      id: number
      result?: T
      error?: { message: string }
    }[]
    return answers
      .sort((a, b) => a.id - b.id)
      .map(({ result, error }, i) => {
        if (error || result === undefined)
          throw new Error(`the chain refused ${JSON.stringify(questions[i])}: ${error?.message}`)
        return result
      })
  }

  async function nonceOf(address: Address): Promise<number> {
    const nonce = nonces.get(address) ?? (await publicClient.getTransactionCount({ address }))
    nonces.set(address, nonce + 1)
    return nonce
  }

  return {
    /**
     * Mines one block of these calls, the given time after the last one.
     * @returns each call with its receipt, in the order in which they were mined, and the block's time
     */
    async mine<T extends Call>(
      calls: readonly T[],
      afterS: bigint,
    ): Promise<{ mined: [T, Receipt][]; nowS: bigint }> {
      const { timestamp } = await publicClient.getBlock()
      await testClient.setAutomine(false)
      const transactions: object[] = []
      for (const { from, to, data, value = 0n } of calls) {
        const nonce = toHex(await nonceOf(from))
        transactions.push({
          from,
          to,
          data,
          value: toHex(value),
          nonce,
          gas: toHex(3_000_000),
          gasPrice: '0x0',
        })
      }
      const hashes = await batch<Hex>(
        transactions.map((tx) => ['eth_sendTransaction', [tx]] as const),
      )
      await testClient.setNextBlockTimestamp({ timestamp: timestamp + afterS })
      await testClient.mine({ blocks: 1 })
      await testClient.setAutomine(true)
      const [receipts] = await batch<RawReceipt[]>([['eth_getBlockReceipts', ['latest']]])
      const callOf = new Map(hashes.map((hash, i) => [hash, calls[i]!]))
      if (receipts!.length !== calls.length)
        throw new Error(`${receipts!.length} of ${calls.length} calls were mined`)
      const failed = receipts!
        .filter(({ status }) => status !== '0x1')
        .map(({ transactionHash }) => transactionHash)
      const errors = await batch<Hex>(
        failed.map((hash) => ['ots_getTransactionError', [hash]] as const),
      )
      const outputs = new Map(failed.map((hash, i) => [hash, errors[i]!]))
      const mined = receipts!.map(({ status, ...rest }): [T, Receipt] => [
        callOf.get(rest.transactionHash)!,
        {
          ...rest,
          status: status === '0x1' ? 'success' : 'reverted',
          output: outputs.get(rest.transactionHash),
        },
      ])
      return { mined, nowS: timestamp + afterS }
    },
  }
}

type RawReceipt = Omit<Receipt, 'status' | 'output'> & { status: Hex }
