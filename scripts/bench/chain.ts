import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  numberToHex,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import {
  bidEmitterAbi,
  bidEmitterRuntimeBytecode,
} from '../../contracts/evm/artifacts/local/BidEmitter.js'
import { type Anvil, startAnvil, TEST_MNEMONIC } from '../../src/testing/chains/anvil.js'
import { deployHub } from '../../src/testing/contracts/deploy.js'

const BIDS_A_TRANSACTION = 500
const SINGLES_A_BLOCK = 100
const EMIT_GAS = '0x3938700' // 60,000,000: more than the logs of 500 bids take
export const CHAIN_ID = 900_000_901
const MINIMUM_WEI = 10n ** 16n
const CONFIRMATION_BLOCKS = 2
/** Empty blocks after the last bid, so that even a short chain is indexed in ranges instead of block by block. */
const LEAST_BLOCKS = 100
const COUNT_BLOCKS = 20
const EID = 30101
const BLOCK_MS = 1_000

/** A local chain with many registrations, read by the daemon and by the bare programs. */
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
  /** Hashes of the transactions that hold one registration each. */
  singles: Hex[]
  /** Mines a block of `count` further registrations. @returns the number of the last registration */
  mineBids(count: number): Promise<number>
  /**
   * Mines an empty block every second until the returned function is called. Without new blocks the daemon counts its
   * copy of the chain as old, and does not answer whether a name is free.
   */
  keepMining(): () => void
}

/** Name in the n-th registration, as the emitter contract makes it. */
export const nameOf = (n: number): string => `b${String(n).padStart(7, '0')}`
/** Wallet in the n-th registration, as the emitter contract makes it. */
export const walletOf = (n: number): Hex =>
  `0x${keccak256(numberToHex(n, { size: 32 })).slice(-40)}`

/** An anvil with a deployed hub, whose code is replaced by a contract (emitter) that logs any number of bids. */
type Emitter = Awaited<ReturnType<typeof startEmitter>>

async function startEmitter(home: string) {
  const extraArgs = ['--disable-block-gas-limit']
  const anvil = await startAnvil({ chainId: CHAIN_ID, logFile: `${home}/anvil.log`, extraArgs })
  const chain = { ...foundry, id: CHAIN_ID }
  const transport = http(anvil.rpcUrl, { timeout: 60_000 })
  const account = mnemonicToAccount(TEST_MNEMONIC)
  const publicClient = createPublicClient({ chain, transport })
  const walletClient = createWalletClient({ chain, transport, account })
  const testClient = createTestClient({ chain, transport, mode: 'anvil' })

  const deployed = await deployHub({
    walletClient,
    publicClient,
    eid: EID,
    minimumWei: MINIMUM_WEI,
    owner: account.address,
    relayer: account.address,
    pauser: account.address,
  })
  const hub = deployed.app.toLowerCase() as Hex
  const record = await publicClient.readContract({
    address: hub,
    abi: bidEmitterAbi,
    functionName: 'recordHash',
  })
  await testClient.setCode({ address: hub, bytecode: bidEmitterRuntimeBytecode })
  await testClient.setStorageAt({ address: hub, index: 0, value: record })

  return {
    anvil,
    hub,
    startBlock: Number(deployed.block),
    endpoint: deployed.endpoint,
    publicClient,
    testClient,
    /** Sends a transaction that logs registrations. @param start number of the first registration */
    emit(start: number, count: number): Promise<Hex> {
      const args = [BigInt(start), BigInt(count)] as const
      const data = encodeFunctionData({ abi: bidEmitterAbi, functionName: 'emitBids', args })
      const transaction = { from: account.address, to: hub, data, gas: EMIT_GAS } as const
      return publicClient.request({
        method: 'eth_sendTransaction' as never,
        params: [transaction] as never,
      })
    },
  }
}

/** Logs all registrations. @returns the hashes of transactions with a single registration, and the last block */
async function emitAll(
  { emit, testClient, publicClient }: Emitter,
  bulk: number,
  singles: number,
): Promise<{ hashes: Hex[]; lastBlock: number }> {
  await testClient.setAutomine(false)
  for (let start = 0; start < bulk; start += BIDS_A_TRANSACTION) {
    await emit(start, Math.min(BIDS_A_TRANSACTION, bulk - start))
    await testClient.mine({ blocks: 1 })
  }

  const hashes: Hex[] = []
  while (hashes.length < singles) {
    hashes.push(await emit(bulk + hashes.length, 1))
    if (hashes.length % SINGLES_A_BLOCK === 0 || hashes.length === singles)
      await testClient.mine({ blocks: 1 })
  }

  const lastBlock = Number(await publicClient.getBlockNumber({ cacheTime: 0 }))
  await testClient.mine({ blocks: Math.max(CONFIRMATION_BLOCKS, LEAST_BLOCKS - lastBlock) })
  return { hashes, lastBlock }
}

async function countBids(
  { hub, startBlock, publicClient }: Emitter,
  lastBlock: number,
): Promise<number> {
  let count = 0
  for (let from = startBlock; from <= lastBlock; from += COUNT_BLOCKS) {
    const logs = await publicClient.getContractEvents({
      address: hub,
      abi: bidEmitterAbi,
      eventName: 'Bid',
      fromBlock: BigInt(from),
      toBlock: BigInt(Math.min(lastBlock, from + COUNT_BLOCKS - 1)),
    })
    count += logs.length
  }
  return count
}

/**
 * Starts anvil, deploys the real hub, and replaces its code by a contract that logs bids. Logs `bulk` winning bids,
 * each of another wallet for another name: 500 per transaction, one transaction per block. Counts the logs afterwards.
 * @param singles number of further registrations, each in its own transaction
 * @param confirmation confirmation policy in the daemon's chains file
 */
export async function fillChain(
  home: string,
  bulk: number,
  singles = 0,
  confirmation = { blocks: CONFIRMATION_BLOCKS },
): Promise<BenchChain> {
  const emitter = await startEmitter(home)
  const { anvil, hub, startBlock, endpoint, emit, testClient } = emitter
  const { hashes, lastBlock } = await emitAll(emitter, bulk, singles)

  const registrations = bulk + singles
  const logged = await countBids(emitter, lastBlock)
  if (logged !== registrations)
    throw new Error(`filling the chain: ${logged} bids were logged, not ${registrations}`)

  const config = {
    network: 'mainnet',
    label: '1',
    role: 'hub',
    chainId: CHAIN_ID,
    rpcUrls: [anvil.rpcUrl],
    contract: hub,
    startBlock,
    endpoint,
    eid: EID,
    confirmation,
    local: true,
    pollMs: 500,
    wsUrl: anvil.wsUrl,
  }
  let emitted = registrations
  return {
    anvil,
    rpcUrl: anvil.rpcUrl,
    hub,
    startBlock,
    lastBlock,
    registrations,
    chainsFile: { chains: [config] },
    singles: hashes,
    async mineBids(count: number): Promise<number> {
      await emit(emitted, count)
      await testClient.mine({ blocks: 1 })
      emitted += count
      return emitted - 1
    },
    keepMining() {
      const timer = setInterval(() => {
        // ignore a failure: the next block follows in a second
        testClient.mine({ blocks: 1 }).catch(() => {})
      }, BLOCK_MS)
      return () => clearInterval(timer)
    },
  }
}
