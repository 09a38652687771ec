import { createPublicClient, createTestClient, createWalletClient, encodeFunctionData, type Hex, http } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { bidEmitterAbi, bidEmitterRuntimeBytecode } from '../../src/chains/evm/contracts/index.js'
import { BID_TOPIC } from '../../src/chains/evm/harvest.js'
import { type Anvil, startAnvil, TEST_MNEMONIC } from '../../src/testing/anvil.js'
import { deployHub } from '../../src/testing/deploy.js'

const BIDS_A_TRANSACTION = 500
const EMIT_GAS = '0x3938700' // 60,000,000: more than 500 bids take
const CHAIN_ID = 900_000_901
const MINIMUM_WEI = 10n ** 16n
const CONFIRMATION_BLOCKS = 2
/** Empty blocks behind the last bid: it is confirmed, and even a short chain is a gap that is taken in ranges. */
const TRAILING_BLOCKS = 100
const COUNT_BLOCKS = 20
const EID = 30101

/** A chain full of registrations: what both the daemon and the bare loops read. */
export interface BenchChain {
  anvil: Anvil
  rpcUrl: string
  hub: Hex
  startBlock: number
  /** The last block with a bid. */
  lastBlock: number
  registrations: number
  /** The content of the daemon's chains file. */
  chainsFile: object
  /** Transaction hashes, one for each `BIDS_A_TRANSACTION` registrations. */
  hashes: Hex[]
}

/**
 * Starts anvil, deploys the real hub, puts the emitter's code at its address and lets it log `registrations` winning bids,
 * each with a wallet and a name of its own: 500 a transaction, one transaction a block. Counts the logs afterwards.
 */
export async function fillChain(home: string, registrations: number): Promise<BenchChain> {
  const anvil = await startAnvil({
    chainId: CHAIN_ID,
    logFile: `${home}/anvil.log`,
    extraArgs: ['--disable-block-gas-limit'],
  })
  const { rpcUrl } = anvil
  const chain = { ...foundry, id: CHAIN_ID }
  const transport = http(rpcUrl, { timeout: 60_000 })
  const account = mnemonicToAccount(TEST_MNEMONIC)
  const publicClient = createPublicClient({ chain, transport })
  const walletClient = createWalletClient({ chain, transport, account })
  const testClient = createTestClient({ chain, transport, mode: 'anvil' })
  const roles = { owner: account.address, relayer: account.address, pauser: account.address }
  const deployed = await deployHub({ walletClient, publicClient, eid: EID, minimumWei: MINIMUM_WEI, ...roles })
  const hub = deployed.hub.toLowerCase() as Hex
  await testClient.setCode({ address: hub, bytecode: bidEmitterRuntimeBytecode })

  const hashes: Hex[] = []
  await testClient.setAutomine(false)
  for (let start = 0; start < registrations; start += BIDS_A_TRANSACTION) {
    const count = Math.min(BIDS_A_TRANSACTION, registrations - start)
    const data = encodeFunctionData({
      abi: bidEmitterAbi,
      functionName: 'emitBids',
      args: [BigInt(start), BigInt(count)],
    })
    const transaction = { from: account.address, to: hub, data, gas: EMIT_GAS } as const
    hashes.push(await publicClient.request({ method: 'eth_sendTransaction' as never, params: [transaction] as never }))
    await testClient.mine({ blocks: 1 })
  }
  const lastBlock = Number(await publicClient.getBlockNumber({ cacheTime: 0 }))
  await testClient.mine({ blocks: TRAILING_BLOCKS })
  const startBlock = Number(deployed.block)
  const logged = await countBids(rpcUrl, hub, startBlock, lastBlock)
  if (logged !== registrations) throw new Error(`filling the chain: ${logged} bids were logged, not ${registrations}`)
  const config = {
    ...{ network: 'mainnet', label: '1', role: 'hub', chainId: CHAIN_ID, rpcUrls: [rpcUrl], contract: hub, startBlock },
    ...{
      endpoint: deployed.endpoint,
      eid: EID,
      confirmation: { blocks: CONFIRMATION_BLOCKS },
      local: true,
      pollMs: 500,
    },
  }
  return { anvil, rpcUrl, hub, startBlock, lastBlock, registrations, chainsFile: { chains: [config] }, hashes }
}

async function countBids(rpcUrl: string, hub: Hex, from: number, to: number): Promise<number> {
  let count = 0
  for (let block = from; block <= to; block += COUNT_BLOCKS) {
    count += (await rawLogs(rpcUrl, hub, block, Math.min(to, block + COUNT_BLOCKS - 1))).length
  }
  return count
}

/** A log as the node's JSON has it. */
export interface JsonLog {
  data: string
  blockNumber: string
  logIndex: string
  transactionHash: string
}

/** One bare `eth_getLogs` over fetch: the parsed JSON, nothing else. */
export async function rawLogs(rpcUrl: string, hub: Hex, from: number, to: number): Promise<JsonLog[]> {
  const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` }
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getLogs',
      params: [{ address: hub, topics: [BID_TOPIC], ...range }],
    }),
  })
  const { result, error } = (await response.json()) as { result?: JsonLog[]; error?: { message: string } }
  if (!result) throw new Error(`getting logs of blocks ${from}-${to}: ${error?.message ?? response.status}`)
  return result
}
