import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPublicClient, createTestClient, createWalletClient, http } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterEach, describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/support/folder.js'
import { isProcessAlive, waitForCondition } from '../processes/processes.js'
import { type Anvil, type AnvilOptions, startAnvil, TEST_MNEMONIC } from './anvil.js'
import { repairAnvilStateFile } from './anvilState.js'

const CHAIN_ID = 911_000_777
const account = mnemonicToAccount(TEST_MNEMONIC)

const home = useFolder()
const startedAnvils: Anvil[] = []

async function startTestAnvil(options: Partial<AnvilOptions> = {}): Promise<Anvil> {
  const anvil = await startAnvil({ chainId: CHAIN_ID, ...options })
  startedAnvils.push(anvil)
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

afterEach(async () => {
  for (const anvil of startedAnvils.splice(0)) await anvil.stop()
})

describe('startAnvil', () => {
  it('gives parallel callers chains of their own, funded, and leaves no process', async () => {
    const chains = await Promise.all([
      startTestAnvil(),
      startTestAnvil(),
      startTestAnvil({ blockTimeS: 0.2, slotsInAnEpoch: 1 }),
    ])
    expect(new Set(chains.map((anvil) => anvil.port)).size).toBe(3)
    for (const anvil of chains) {
      const { reader } = clientsOf(anvil)
      const balance = await reader.getBalance({ address: account.address })
      expect(balance, anvil.rpcUrl).toBe(10_000n * 10n ** 18n)
    }
    const { reader } = clientsOf(chains[2]!)
    expect(
      await waitForCondition(
        async () => (await reader.getBlockNumber({ cacheTime: 0 })) >= 4n,
        5_000,
      ),
    ).toBe(true)
    const latest = await reader.getBlock()
    const finalized = await reader.getBlock({ blockTag: 'finalized' })
    expect(latest.number - finalized.number).toBeLessThanOrEqual(3n)
    for (const anvil of startedAnvils.splice(0)) await anvil.stop()
    for (const anvil of chains) expect(isProcessAlive(anvil.pid), anvil.rpcUrl).toBe(false)
  })

  it('reports a taken port, a missing binary, a bad flag', async () => {
    const first = await startTestAnvil()
    await expect(startTestAnvil({ port: first.port })).rejects.toThrow(
      `starting anvil: port ${first.port} is taken`,
    )
    await expect(startTestAnvil({ anvilPath: '/nowhere/anvil' })).rejects.toThrow('/nowhere/anvil')
    await expect(startTestAnvil({ extraArgs: ['--nonsense'] })).rejects.toThrow('--nonsense')
  })
})

describe('the kept state', { timeout: 180_000 }, () => {
  it('survives an orderly stop with its newest block', async () => {
    const statePath = path.join(home, 'orderly.json')
    const first = await startTestAnvil({ statePath })
    const { wallet, reader } = clientsOf(first)
    const hash = await wallet.sendTransaction({ to: account.address, value: 1n })
    const receipt = await reader.waitForTransactionReceipt({ hash })
    await first.stop()
    const second = await startTestAnvil({ statePath, port: first.port })
    expect(await clientsOf(second).reader.getTransactionReceipt({ hash })).toEqual(receipt)
  })

  it('has one genesis, however often it is started', async () => {
    const statePath = path.join(home, 'often.json')
    const seen = new Set<string>()
    for (let i = 0; i < 5; i++) {
      const anvil = await startTestAnvil({ statePath, blockTimeS: 0.2 })
      const { reader } = clientsOf(anvil)
      expect(
        await waitForCondition(
          async () => (await reader.getBlockNumber({ cacheTime: 0 })) > 0n,
          5_000,
        ),
      ).toBe(true)
      seen.add((await reader.getBlock({ blockNumber: 0n })).hash)
      await sleep(1_000) // a genesis block of another second is another block
      await anvil.stop()
    }
    expect(seen.size).toBe(1)
  })

  describe('is refused', () => {
    const state = (block: number) =>
      JSON.stringify({ accounts: {}, blocks: [{ header: { number: `0x${block.toString(16)}` } }] })

    it('not when it is missing or complete', () => {
      const statePath = path.join(home, 'chosen.json')
      repairAnvilStateFile(statePath)
      fs.writeFileSync(statePath, state(7))
      repairAnvilStateFile(statePath)
      expect(fs.readFileSync(statePath, 'utf8')).toBe(state(7))
    })

    it.each([
      ['cut short', state(9).slice(0, -3)],
      ['cut inside a key', '{"best'],
    ])('when it is %s', (_, broken) => {
      const statePath = path.join(home, 'broken.json')
      fs.writeFileSync(statePath, broken)
      expect(() => repairAnvilStateFile(statePath)).toThrow('is no state of a chain; delete it')
    })
  })
})
