import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import { runWorkers } from '../../src/ops/worker.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { REPLACE_AFTER_BLOCKS } from '../../src/relayer/machine/index.js'
import { executeOperatorJobAction } from '../../src/relayer/operatorActions.js'
import { openChains, type SteppedRelayer, targetOf } from '../support/bridgeWorld.js'
import { executeOf } from '../support/kill.js'
import { allMined, holdBlocks } from '../support/miner.js'
import { useBridge, useNodeProxy } from '../support/useBridge.js'
import { finishOnce, useKeyElsewhere } from './deliveries.js'

const world = useBridge()
const bridge = useNodeProxy(world)
const second = useNodeProxy(world)

/** Selector of the call by which the relayer learns whether a packet was executed. */
const ASKS_NONCE = toFunctionSelector('lazyInboundNonce(address,uint32,bytes32)')
/** A refusal that no price and no waiting seems to mend. */
const refuseForGood = (answer: string): string =>
  JSON.stringify({
    ...JSON.parse(answer),
    result: undefined,
    error: { code: -32_000, message: 'intrinsic gas too low' },
  })
const sayDone = (answer: string): string =>
  JSON.stringify({ ...JSON.parse(answer), result: toHex(Buffer.alloc(32, 1)) })

/** The greatest number of 256 bits. */
const MOST = `0x${'f'.repeat(64)}`
/** A base fee that the signer's balance pays, and the cap of a job does not, wei. */
const DEAR = `0x${(10n ** 15n).toString(16)}`
let made = 0

const mine = (blocks: number) => world.hub.test.mine({ blocks })

/** A message that is verified, and whose execution is sent and in no block yet. */
async function sendAndHold(name: string, relayer: SteppedRelayer) {
  const guid = await world.send(0, [name])
  await relayer.step()
  await holdBlocks(world.hub)
  await world.run(relayer)
  const held = await executeOf(world, guid)
  expect(held).toMatchObject({ state: 'sent' })
  expect(held.txs).toHaveLength(1)
  return { guid, nonce: held.nonce!, first: held.txs[0]! }
}

const expectOnce = (guid: `0x${string}`, relayer: SteppedRelayer) =>
  finishOnce(world, guid, relayer)

describe('an execution', () => {
  it('outbids a spike of the base fee after REPLACE_AFTER_BLOCKS blocks without it', async () => {
    const relayer = await world.restart()
    const { guid, nonce, first } = await sendAndHold('spike', relayer)
    await world.hub.test.setNextBlockBaseFeePerGas({ baseFeePerGas: first.maxFeePerGas * 20n })
    await mine(REPLACE_AFTER_BLOCKS - 1)
    expect((await world.run(relayer)).sort()).toEqual(['execute waiting', 'verify waiting'])
    await mine(1)
    expect(await world.run(relayer)).toEqual(
      expect.arrayContaining(['execute replaced', 'execute sent']),
    )
    const { txs, nonce: kept } = await executeOf(world, guid)
    expect(kept).toBe(nonce)
    expect(txs).toHaveLength(2)
    expect(txs[1]!.maxFeePerGas).toBeGreaterThan(first.maxFeePerGas * 10n)
    expect(txs[1]!.maxPriorityFeePerGas * 10n).toBeGreaterThanOrEqual(
      first.maxPriorityFeePerGas * 11n,
    )
    await expectOnce(guid, relayer)
  })

  it('arrives by the other node where the first takes it and passes it on to nobody', async () => {
    const relayer = await world.restart({ hub: { rpcUrls: [bridge.url, world.hub.anvil.rpcUrl] } })
    const swallowed = (body: string) => ({
      body: body.replace('eth_sendRawTransaction', 'web3_sha3'),
    })
    bridge.onCall = async (method, body) =>
      method === 'eth_sendRawTransaction' ? swallowed(body) : undefined
    await expectOnce(await world.send(0, ['passed-on']), relayer)
    bridge.onCall = async () => undefined
  })

  it('counts when the answer to its broadcast was lost', async () => {
    const relayer = await world.restart({ hub: { rpcUrls: [bridge.url] } })
    const guid = await world.send(0, ['answerless'])
    bridge.onCall = async (method) => (method === 'eth_sendRawTransaction' ? 'lost' : undefined)
    await world.run(relayer)
    await new Promise((resolve) => setTimeout(resolve, 400))
    world.aheadMs = 10_000
    await world.run(relayer)
    bridge.onCall = async () => undefined
    await expectOnce(guid, relayer)
    expect((await executeOf(world, guid)).txs).toHaveLength(1)
  })

  it('whose nonce somebody else used is parked, never sent at the next nonce, and goes on when the operator says so', async () => {
    const relayer = await world.restart({ hub: { rpcUrls: [bridge.url] } })
    const guid = await world.send(0, ['nonce-taken'])
    await relayer.step()
    await allMined(world.hub)
    const nonce = await world.nonce()
    let isTaken = false
    bridge.onCall = async (method) => {
      if (method !== 'eth_sendRawTransaction' || isTaken) return undefined
      isTaken = true
      await useKeyElsewhere(world, nonce)
      return undefined
    }
    expect(await world.run(relayer)).toEqual(
      expect.arrayContaining(['execute signed', 'execute refused']),
    )
    expect(await executeOf(world, guid)).toMatchObject({ reason: 'refused', nonce })
    world.aheadMs = 10_000
    await world.finish(relayer)
    expect(await executeOf(world, guid)).toMatchObject({
      state: 'parked',
      reason: 'nonce_taken',
      nonce: null,
    })
    expect(await world.executions(guid)).toBe(0)
    await executeOperatorJobAction(world.pool, 'resume', (await executeOf(world, guid)).id)
    world.aheadMs = 20_000
    await expectOnce(guid, relayer)
  })

  it('does not end on one node’s word while the other of two is silent', async () => {
    const relayer = await world.restart({ hub: { rpcUrls: [bridge.url, second.url] } })
    const guid = await world.send(0, ['one-word'])
    second.onCall = async () => 'lost'
    bridge.onCall = async (_, body) => (body.includes(ASKS_NONCE) ? sayDone : undefined)
    for (let i = 0; i < 4; i++, world.aheadMs += 60_000) await world.run(relayer)
    expect((await executeOf(world, guid)).state).not.toBe('confirmed')
    expect(await world.executions(guid)).toBe(0)
    bridge.onCall = async () => undefined
    second.onCall = async () => undefined
    await expectOnce(guid, relayer)
  })

  it.each([
    ['the gas estimate', 'eth_estimateGas'],
    ['the transaction', 'eth_sendRawTransaction'],
  ])('is not parked because one of two nodes refuses %s for good', async (_, refused) => {
    const relayer = await world.restart({ hub: { rpcUrls: [bridge.url, second.url] } })
    const guid = await world.send(0, [`refused-${refused.slice(4, 12).toLowerCase()}`])
    bridge.onCall = async (method) => (method === refused ? refuseForGood : undefined)
    // the other node may be busy at the same moment
    second.onCall = async (method) => (method === refused ? 'lost' : undefined)
    await world.run(relayer)
    const states = (await world.jobs()).map(({ state, release }) => [state, release])
    expect(states.flat()).not.toContain('parked')
    // and its answer counts when it has one
    second.onCall = async () => undefined
    world.aheadMs += 60_000
    await expectOnce(guid, relayer)
  })

  it.each<[what: string, method: string, answer: object]>([
    ['reverts its estimate', 'eth_estimateGas', { error: { code: 3, message: 'reverted' } }],
    ['reverts its call', 'eth_call', { error: { code: 3, message: 'reverted' } }],
    ['refuses its fees', 'eth_feeHistory', { error: { code: 3, message: 'reverted' } }],
    ['refuses its balance', 'eth_getBalance', { error: { code: 3, message: 'reverted' } }],
    [
      'expects a base fee above the cap',
      'eth_feeHistory',
      { result: { baseFeePerGas: [DEAR, DEAR], reward: [['0x1']] } },
    ],
    ['estimates too much gas', 'eth_estimateGas', { result: MOST }],
    ['has no balance of the signer', 'eth_getBalance', { result: '0x0' }],
    ['suggests a tip that nobody pays', 'eth_maxPriorityFeePerGas', { result: MOST }],
  ])('arrives by the other node where the first of two always %s', async (_, wrong, answer) => {
    const relayer = await world.restart({ hub: { rpcUrls: [bridge.url, second.url] } })
    const guid = await world.send(0, [`first-${wrong.slice(4, 12).toLowerCase()}-${made++}`])
    const lie = (text: string) =>
      JSON.stringify({ ...JSON.parse(text), result: undefined, ...answer })
    // of the calls only those that simulate a transaction have a sender
    bridge.onCall = async (method, body) =>
      method === wrong && (method !== 'eth_call' || body.includes('"from"')) ? lie : undefined
    second.onCall = async () => undefined
    await expectOnce(guid, relayer)
    bridge.onCall = async () => undefined
  })

  it('waits, and is not parked, while the chains file does not have what messages need', async () => {
    const { path } = targetOf(await openChains(world.pool, world.file), '1')
    const incomplete = { ...path!, lane: { ...path!.lane, spokes: [] } }
    const guids = [await world.send(0, ['queued-before'])]
    bridge.onCall = async (method) => (method === 'eth_estimateGas' ? refuseForGood : undefined)
    await world.run(await world.restart({ hub: { rpcUrls: [bridge.url] } }))
    bridge.onCall = async () => undefined
    guids.push(await world.send(0, ['without-an-eid']))
    world.aheadMs = 60_000
    await world.run(await world.restart({ path: incomplete }))
    const jobs = (await world.jobs()).filter(({ subject }) =>
      guids.includes(toHex(subject ?? Buffer.alloc(0))),
    )
    expect(jobs.map(({ state }) => state)).toEqual(['queued', 'queued'])
    world.aheadMs = 120_000
    for (const guid of guids) await expectOnce(guid, await world.restart())
  })

  it('holds no nonce while both nodes refuse its gas estimate in words, and goes on automatically', async () => {
    const relayer = await world.restart({ hub: { rpcUrls: [bridge.url, second.url] } })
    const guid = await world.send(0, ['refused-by-two'])
    for (const node of [bridge, second])
      node.onCall = async (method) => (method === 'eth_estimateGas' ? refuseForGood : undefined)
    for (let i = 0; i < 4; i++, world.aheadMs += 60_000) await world.run(relayer)
    const open = (await world.jobs()).filter(({ state }) => state !== 'confirmed')
    for (const job of open) expect(job).toMatchObject({ state: 'queued', nonce: null })
    for (const node of [bridge, second]) node.onCall = async () => undefined
    world.aheadMs += 3_600_000
    await expectOnce(guid, relayer)
  })

  it('is not replaced because the first of three nodes reports ever newer blocks', async () => {
    const urls = [bridge.url, second.url, world.hub.anvil.rpcUrl]
    const relayer = await world.restart({ hub: { rpcUrls: urls } })
    const { guid } = await sendAndHold('newer-blocks', relayer)
    let lead = 0
    const newer = (answer: string) => {
      const { result, ...rest } = JSON.parse(answer)
      lead += REPLACE_AFTER_BLOCKS
      const number = `0x${(Number(result.number) + lead).toString(16)}`
      return JSON.stringify({ ...rest, result: { ...result, number } })
    }
    bridge.onCall = async (_, body) =>
      body.includes('"latest",false')
        ? newer
        : // what is asked as of an invented block
          { body: body.replace(/,"0x[0-9a-f]{1,8}"\]/, ',"latest"]') }
    await world.run(relayer)
    expect(lead).toBeGreaterThan(0)
    bridge.onCall = async () => undefined
    expect((await executeOf(world, guid)).txs).toHaveLength(1)
    await expectOnce(guid, relayer)
  })

  it('that one of two nodes reports as done is checked by the other', async () => {
    const relayer = await world.restart({ hub: { rpcUrls: [bridge.url, world.hub.anvil.rpcUrl] } })
    const guid = await world.send(0, ['lied-about'])
    let lies = 0
    const lie = (answer: string) => {
      lies += 1
      return sayDone(answer)
    }
    bridge.onCall = async (_, body) => (body.includes(ASKS_NONCE) ? lie : undefined)
    await relayer.step()
    expect(lies).toBeGreaterThan(0)
    bridge.onCall = async () => undefined
    expect((await executeOf(world, guid)).state).not.toBe('confirmed')
    await expectOnce(guid, relayer)
  })
})

describe('a step that takes longer than its time limit', () => {
  /** Runs steps as the daemon does, until all jobs are sent. @returns duration of the longest step, ms */
  async function runUntilSent(relayer: SteppedRelayer, stepMs: number): Promise<number> {
    const sent = new AbortController()
    let longestMs = 0
    const worker = {
      name: 'the relayer',
      fields: {},
      pollMs: 10,
      async step(_: AbortSignal, alive: () => void) {
        const startedMs = performance.now()
        const outcome = await relayer.step(alive)
        longestMs = Math.max(longestMs, performance.now() - startedMs)
        const jobs = await world.jobs()
        if (jobs.every(({ state }) => state !== 'queued' && state !== 'signed')) sent.abort()
        return outcome
      },
    }
    const limits = { stepMs, endMs: stepMs, lostMs: stepMs }
    await runWorkers([worker], { log: pino({ level: 'silent' }), signal: sent.signal, limits })
    return longestMs
  }

  it('ends with its work done, where each transaction waits for a slow node', async () => {
    const relayer = await world.restart({ hub: { rpcUrls: [bridge.url] } })
    const guids: `0x${string}`[] = []
    for (const name of ['slow-a', 'slow-b', 'slow-c', 'slow-d'])
      guids.push(await world.send(0, [name]))
    bridge.onCall = async (method) => {
      if (method === 'eth_sendRawTransaction') await sleep(1_000)
      return undefined
    }
    const stepMs = 3_000
    expect(await runUntilSent(relayer, stepMs)).toBeGreaterThan(stepMs)
    bridge.onCall = async () => undefined
    for (const guid of guids) await expectOnce(guid, relayer)
  })
})
