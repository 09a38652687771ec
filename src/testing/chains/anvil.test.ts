import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createPublicClient, createTestClient, createWalletClient, type Hex, http } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isAlive, sleep, waitFor } from '../processes/processes.js'
import { type Anvil, type AnvilOptions, startAnvil, TEST_MNEMONIC } from './anvil.js'
import { checkedCopyOf, restoreState } from './anvilState.js'
import { receiptOf } from './receipt.js'

const CHAIN_ID = 911_000_777
const KILLS = 4
/** Init code of a contract that emits one empty log per call: `PUSH1 0 PUSH1 0 LOG0 STOP`. */
const EMITTER: Hex = '0x6560006000a0006000526006601af3'
const account = mnemonicToAccount(TEST_MNEMONIC)

let home: string
const running: Anvil[] = []

async function start(options: Partial<AnvilOptions> = {}): Promise<Anvil> {
  const anvil = await startAnvil({ chainId: CHAIN_ID, ...options })
  running.push(anvil)
  return anvil
}

function clientsOf(anvil: Anvil) {
  const transport = http(anvil.rpcUrl, { retryCount: 0, timeout: 60_000 })
  const chain = {
    id: anvil.chainId,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [anvil.rpcUrl] } },
  }
  return {
    reader: createPublicClient({ transport, chain, pollingInterval: 20 }),
    wallet: createWalletClient({ transport, chain, account }),
    test: createTestClient({ transport, chain, mode: 'anvil' }),
  }
}

beforeAll(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-anvil-'))
})

afterEach(async () => {
  for (const anvil of running.splice(0)) await anvil.stop()
})

afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

describe('startAnvil', () => {
  it('mines what its pool has put aside, once somebody waits for it', async () => {
    const { reader, wallet, test } = clientsOf(await start({ blockTimeS: 0.1 }))
    const send = (nonce: number) => wallet.sendTransaction({ to: account.address, value: 1n, gas: 21_000n, nonce })
    // the state of a transaction whose predecessor was mined between its check and its filing
    const hashes = [await send(1), await send(2)]
    await test.setNonce({ address: account.address, nonce: 1 })
    const receipts = await Promise.all(hashes.map((hash) => receiptOf(reader, hash)))
    expect(receipts.map(({ status }) => status)).toEqual(['success', 'success'])
  })

  it('gives parallel callers chains of their own, funded, and leaves no process', async () => {
    const chains = await Promise.all([start(), start(), start({ blockTimeS: 0.2, slotsInAnEpoch: 1 })])
    expect(new Set(chains.map((anvil) => anvil.port)).size).toBe(3)
    for (const anvil of chains) {
      expect(await clientsOf(anvil).reader.getBalance({ address: account.address })).toBe(10_000n * 10n ** 18n)
    }
    const { reader } = clientsOf(chains[2]!)
    expect(await waitFor(async () => (await reader.getBlockNumber({ cacheTime: 0 })) >= 4n, 5_000)).toBe(true)
    const [latest, finalized] = [await reader.getBlock(), await reader.getBlock({ blockTag: 'finalized' })]
    expect(latest.number - finalized.number).toBeLessThanOrEqual(3n)
    for (const anvil of running.splice(0)) await anvil.stop()
    for (const anvil of chains) expect(isAlive(anvil.pid)).toBe(false)
  })

  it('names a taken port, a missing binary, a bad flag', async () => {
    const first = await start()
    await expect(start({ port: first.port })).rejects.toThrow(`starting anvil: port ${first.port} is taken`)
    await expect(start({ anvilPath: '/nowhere/anvil' })).rejects.toThrow('/nowhere/anvil')
    await expect(start({ extraArgs: ['--nonsense'] })).rejects.toThrow('--nonsense')
  })

  it('ends with a launcher that throws or gets SIGTERM', async () => {
    for (const ending of ['setTimeout(() => { throw new Error("on purpose") }, 1)', 'setInterval(() => {}, 1000)']) {
      const file = path.join(home, 'launcher.mts')
      fs.writeFileSync(
        file,
        `import { startAnvil } from ${JSON.stringify(path.resolve('src/testing/chains/anvil.ts'))}
         console.log((await startAnvil({ chainId: 1337 })).pid)
         ${ending}`,
      )
      const launcher = spawn(process.execPath, ['--import', 'tsx', file], { stdio: ['ignore', 'pipe', 'ignore'] })
      const pid = await new Promise<number>((resolve) => launcher.stdout.once('data', (data) => resolve(Number(data))))
      expect(pid).toBeGreaterThan(1)
      if (ending.startsWith('setInterval')) launcher.kill('SIGTERM')
      expect(await waitFor(() => !isAlive(pid), 5_000)).toBe(true)
    }
  })
})

describe('the kept state', { timeout: 180_000 }, () => {
  it('survives an orderly stop with its newest block', async () => {
    const statePath = path.join(home, 'orderly.json')
    const first = await start({ statePath })
    const { wallet, reader } = clientsOf(first)
    const hash = await wallet.sendTransaction({ to: account.address, value: 1n })
    const receipt = await receiptOf(reader, hash)
    await first.stop()
    const second = await start({ statePath, port: first.port })
    expect(await clientsOf(second).reader.getTransactionReceipt({ hash })).toEqual(receipt)
  })

  it('has one genesis, however often it is started', async () => {
    const statePath = path.join(home, 'often.json')
    const seen = new Set<string>()
    for (let i = 0; i < 5; i++) {
      const anvil = await start({ statePath, blockTimeS: 0.2 })
      const { reader } = clientsOf(anvil)
      expect(await waitFor(async () => (await reader.getBlockNumber({ cacheTime: 0 })) > 0n, 5_000)).toBe(true)
      seen.add((await reader.getBlock({ blockNumber: 0n })).hash)
      await sleep(1_000) // a genesis block of another second is another block
      await anvil.stop()
    }
    expect(seen.size).toBe(1)
  })

  it('is never lost when anvil is killed at random instants while it mines, and serves its history', async () => {
    const statePath = path.join(home, 'killed.json')
    let anvil = await start({ statePath, blockTimeS: 0.1 })
    // a long chain makes a large file, and so a long write to interrupt
    await clientsOf(anvil).test.mine({ blocks: 3_000 })
    const deployed = await clientsOf(anvil).wallet.sendTransaction({ data: EMITTER })
    const { contractAddress } = await receiptOf(clientsOf(anvil).reader, deployed)
    const logged = await clientsOf(anvil).wallet.sendTransaction({ to: contractAddress! })
    const receipt = await receiptOf(clientsOf(anvil).reader, logged)
    const block = await clientsOf(anvil).reader.getBlock({ blockHash: receipt.blockHash })
    await waitFor(() => (restoredBlock(statePath) ?? 0n) >= receipt.blockNumber, 10_000)

    let torn = 0
    for (let round = 0; round < KILLS; round++) {
      const { wallet, reader } = clientsOf(anvil)
      const before = await reader.getBlockNumber({ cacheTime: 0 })
      await wallet.sendTransaction({ to: contractAddress! })
      await killWhileWriting(anvil, statePath, round)
      running.splice(running.indexOf(anvil), 1)
      // the last round truncates the file as a kill during a write would
      if (round === KILLS - 1 && torn === 0) fs.truncateSync(statePath, fs.statSync(statePath).size >> 1)
      if (!parses(statePath)) torn++

      anvil = await start({ statePath, blockTimeS: 0.1, port: anvil.port })
      const again = clientsOf(anvil).reader
      expect(await again.getBlockNumber({ cacheTime: 0 })).toBeGreaterThanOrEqual(before - 60n)
      expect(await again.getTransactionReceipt({ hash: logged })).toEqual(receipt)
      expect(await again.getBlock({ blockHash: receipt.blockHash })).toEqual(block)
      const logs = await again.getLogs({ address: contractAddress!, fromBlock: 0n, toBlock: receipt.blockNumber })
      expect(logs).toEqual(receipt.logs)
    }
    expect(torn, 'no file was torn: this test proves nothing').toBeGreaterThan(0)
  })

  it('takes the newer of file and copy that parses, and says so when none does', async () => {
    const statePath = path.join(home, 'chosen.json')
    const copy = checkedCopyOf(statePath)
    const state = (block: number) =>
      JSON.stringify({
        best_block_number: block,
        accounts: {},
        blocks: [{ header: { number: `0x${block.toString(16)}` } }],
      })
    expect(restoreState(statePath)).toBeUndefined()
    fs.writeFileSync(statePath, state(7))
    fs.writeFileSync(copy, state(5))
    expect(restoreState(statePath)).toBe(7)
    fs.writeFileSync(statePath, state(4))
    expect(restoreState(statePath)).toBe(5)
    fs.writeFileSync(statePath, state(9).slice(0, -3))
    expect(restoreState(statePath)).toBe(5)
    expect(fs.readFileSync(statePath, 'utf8')).toBe(state(5))
    fs.writeFileSync(copy, '{')
    fs.writeFileSync(statePath, '{"best')
    expect(() => restoreState(statePath)).toThrow("can't be parsed; delete them")
  })
})

/** Block of the checked copy. */
function restoredBlock(statePath: string): bigint | undefined {
  try {
    const copy = JSON.parse(fs.readFileSync(checkedCopyOf(statePath), 'utf8')) as { best_block_number: number }
    return BigInt(copy.best_block_number)
  } catch {
    return undefined
  }
}

/** Kills anvil: every other round during a write of the file (its size has just changed), else at a random instant. */
async function killWhileWriting(anvil: Anvil, statePath: string, round: number): Promise<void> {
  if (round % 2 === 0) {
    const size = fs.statSync(statePath).size
    await waitFor(() => fs.statSync(statePath).size < size, 5_000, 0)
  } else {
    await sleep(Math.random() * 1_500)
  }
  await anvil.kill()
}

function parses(file: string): boolean {
  try {
    JSON.parse(fs.readFileSync(file, 'utf8'))
    return true
  } catch {
    return false
  }
}
