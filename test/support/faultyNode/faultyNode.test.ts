import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { startAnvil } from '../../../src/testing/chains/anvil.js'
import { createUpstreamCaller } from '../../../src/testing/faultProxy/upstream.js'
import { waitForCondition } from '../../../src/testing/processes/processes.js'
import { useWorld } from '../useWorld.js'
import { type FaultyNode, startFaultyNode } from './faultyNode.js'
import { LIE_METHODS } from './lies.js'

const ACCOUNT = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
/** Emits LOG0 with a word of zeros: PUSH1 32, PUSH1 0, LOG0. */
const EMITTER = '0x00000000000000000000000000000000000e3171'
const EMITTER_CODE = '0x60206000a0'
const QUIET_MS = 200
const PARAMS: Record<string, unknown[]> = {
  eth_getTransactionCount: [ACCOUNT, 'latest'],
  eth_getBlockByNumber: ['latest', false],
  eth_feeHistory: ['0x2', 'latest', []],
  eth_getCode: [ACCOUNT, 'latest'],
  eth_getBalance: [ACCOUNT, 'latest'],
}

interface Block {
  number: string
  hash: string
  parentHash: string
  logsBloom: string
}

const anvil = useWorld(() => startAnvil({ chainId: 31_337 }))
let proxy: FaultyNode

beforeEach(async () => {
  proxy = await startFaultyNode({ seed: 1, target: anvil })
  return () => proxy.stop()
})

const ask = async (method: string, params = PARAMS[method] ?? []) =>
  (await createUpstreamCaller(proxy.rpcUrl)(method, params)).result

describe('a lie', () => {
  it.each(LIE_METHODS)('%s is answered wrongly once', async (method) => {
    const truth = await ask(method)
    proxy.lieOnce(method)
    expect(await ask(method)).not.toEqual(truth)
    expect(await ask(method)).toEqual(truth)
    expect(proxy.counts().lie).toBe(1)
  })

  it('does not change blocks by number, and waits for a call about the head', async () => {
    const block = await ask('eth_getBlockByNumber', ['0x0', false])
    proxy.lieOnce('eth_getBlockByNumber')
    expect(await ask('eth_getBlockByNumber', ['0x0', false])).toEqual(block)
    expect(await ask('eth_getBlockByNumber')).not.toEqual(block)
  })

  it('is cancelled where no call came', async () => {
    const truth = await ask('eth_getBalance')
    proxy.lieOnce('eth_getBalance')
    proxy.restore()
    expect(await ask('eth_getBalance')).toEqual(truth)
  })
})

describe('silence', () => {
  it('leaves calls without an answer until it ends', async () => {
    proxy.silence()
    const answer = ask('eth_chainId')
    expect(await Promise.race([answer, sleep(QUIET_MS, 'none')])).toBe('none')
    proxy.restore()
    expect(await answer).toBe('0x7a69')
  })

  it('a hanging call gets no answer, and the next one does', async () => {
    proxy.set({ hang: 1 })
    const hanging = ask('eth_chainId').catch(() => 'ended')
    expect(await Promise.race([hanging, sleep(QUIET_MS, 'none')])).toBe('none')
    proxy.set({})
    expect(await ask('eth_chainId')).toBe('0x7a69')
    await proxy.stop()
    expect(await hanging).toBe('ended')
  })
})

describe('finality', () => {
  it('stays where it is until it is restored', async () => {
    const finalized = async () =>
      ((await ask('eth_getBlockByNumber', ['finalized', false])) as { number: string }).number
    await createUpstreamCaller(anvil.rpcUrl)('anvil_mine', ['0x50'])
    await proxy.stallFinality()
    const before = await finalized()
    await createUpstreamCaller(anvil.rpcUrl)('anvil_mine', ['0x5'])
    expect(await finalized()).toBe(before)
    expect(((await ask('eth_getBlockByNumber')) as { number: string }).number).toBe(
      `0x${(0x55).toString(16)}`,
    )
    proxy.restore()
    expect(await finalized()).not.toBe(before)
  })
})

describe('another fork', () => {
  it('is a consistent branch from below the head, with other bidders', async () => {
    const direct = async (method: string, params: unknown[]) =>
      (await createUpstreamCaller(anvil.rpcUrl)(method, params)).result
    proxy.set({ other_fork: 1 })
    await direct('anvil_setCode', [EMITTER, EMITTER_CODE])
    await direct('eth_sendTransaction', [{ from: ACCOUNT, to: EMITTER }])
    const isMined = async () => {
      const { logsBloom } = (await direct('eth_getBlockByNumber', ['latest', false])) as Block
      return BigInt(logsBloom) > 0n
    }
    expect(await waitForCondition(isMined, 10_000)).toBe(true)

    const real = (await direct('eth_getBlockByNumber', ['latest', false])) as Block
    let block = (await ask('eth_getBlockByNumber')) as Block
    expect(block).toMatchObject({ number: real.number })
    expect(block.hash).not.toBe(real.hash)
    const byHash = async (hash: string) => (await ask('eth_getBlockByHash', [hash, false])) as Block
    expect(await byHash(block.hash)).toEqual(block)
    const logs = await ask('eth_getLogs', [{ address: EMITTER, blockHash: block.hash }])
    expect(logs).toMatchObject([{ blockHash: block.hash, data: expect.stringContaining('f0f0') }])
    let length = 1
    for (; ; length++) {
      const parent = await byHash(block.parentHash)
      if ((await direct('eth_getBlockByHash', [parent.hash, false])) !== null) break
      block = parent
    }
    expect(length).toBeLessThanOrEqual(2)
    expect(proxy.counts().other_fork).toBe(1)

    const deeper = ['0x3', false]
    expect(await ask('eth_getBlockByNumber', deeper)).toEqual(
      await direct('eth_getBlockByNumber', deeper),
    )
  })
})
