import { describe, expect, it } from 'vitest'
import { MAX_NONCE_RAISE } from '../../src/relayer/gaps.js'
import { REPLACE_AFTER_BLOCKS } from '../../src/relayer/machine/index.js'
import { executeOperatorJobAction } from '../../src/relayer/operatorActions.js'
import { outboxProblems } from '../../src/relayer/report.js'
import type { SteppedRelayer } from '../support/bridgeWorld.js'
import { executeOf } from '../support/kill.js'
import { allMined, holdBlocks } from '../support/miner.js'
import { useBridge, useNodeProxy } from '../support/useBridge.js'
import { finishOnce, nextNonce, outboxCommand, useKeyElsewhere } from './deliveries.js'

const world = useBridge()
const bridge = useNodeProxy(world)

/** A relayer whose first node is the proxy. */
const restart = (...more: string[]) => restartOn({}, ...more)
const restartOn = (hub: object, ...more: string[]) =>
  world.restart({ hub: { rpcUrls: [bridge.url, ...more], ...hub } })
const restartWith = (mainnet: object) =>
  world.restart({ file: { ...world.file, deliveries: { mainnet } } })

/** Makes the proxy answer the given transaction counts first. */
function sayCounts(...counts: number[]): void {
  bridge.onCall = async (method) => {
    if (method !== 'eth_getTransactionCount') return undefined
    const count = counts.shift()
    return count === undefined
      ? undefined
      : (answer) => JSON.stringify({ ...JSON.parse(answer), result: `0x${count.toString(16)}` })
  }
}

/** The stored nonce rises once more, after it was read and when fees are requested. */
function raiseAtFees(by: number): void {
  let isRaised = false
  bridge.onCall = async (method) => {
    if (method !== 'eth_feeHistory' || isRaised) return undefined
    isRaised = true
    await world.pool.query('UPDATE relay_signers SET next_nonce = next_nonce + $1', [by])
    return undefined
  }
}

const noops = async () => (await world.jobs()).filter(({ kind }) => kind === 'noop')

const expectOnce = (guid: `0x${string}`, relayer: SteppedRelayer) =>
  finishOnce(world, guid, relayer)
const clusterd = (...args: string[]) => outboxCommand(world)('nonce', ...args)

const alarmsOf = ({ state }: SteppedRelayer) =>
  outboxProblems({ network: 'mainnet', missingKeys: [], relayers: [state] }, Date.now()).map(
    ({ alarm }) => alarm,
  )

describe('a count of the chain', () => {
  it.each([
    ['wrong once', [60]],
    ['absurd once', [0xffffffffff]],
    ['too low once', [0]],
    ['wrong every other time', [60, 0, 61, 0, 62]],
  ])(
    'that is %s costs nothing, and what waits is sent at the right nonce',
    async (what, counts) => {
      const relayer = await restart()
      await world.finish(relayer)
      const guid = await world.send(0, [what.replaceAll(' ', '-')])
      const nonce = await world.nonce()
      sayCounts(...counts)
      // an absurd one is a fault of the only node
      await relayer.step().catch(() => {})
      world.aheadMs = 3_000
      await expectOnce(guid, relayer)
      expect((await executeOf(world, guid)).nonce).toBe(nonce + 1)
      expect(await noops()).toEqual([])
    },
  )

  it.each([
    ['wrong', '0x3c'],
    ['absurd', `0x${'f'.repeat(64)}`],
  ])('for which one of two nodes gives %s is not accepted, however often', async (what, result) => {
    const relayer = await restart(world.hub.anvil.rpcUrl)
    await world.finish(relayer)
    const guid = await world.send(0, [`outvoted-${what}`])
    const nonce = await world.nonce()
    // every first look is a lie; what is signed meanwhile asks at a block's number
    bridge.onCall = async (method) =>
      method === 'eth_getTransactionCount'
        ? (answer) => JSON.stringify({ ...JSON.parse(answer), result })
        : undefined
    for (let i = 0; i < 3; i++) {
      await relayer.step()
      await world.hub.test.mine({ blocks: 1 })
    }
    bridge.onCall = async () => undefined
    expect(await nextNonce(world)).toBeLessThanOrEqual(nonce + 2)
    await expectOnce(guid, relayer)
    expect(await noops()).toEqual([])
  })

  it('is followed when somebody else has used the key', async () => {
    const relayer = await restart()
    await allMined(world.hub)
    await useKeyElsewhere(world, await world.nonce())
    await useKeyElsewhere(world, await world.nonce())
    await expectOnce(await world.send(0, ['followed']), relayer)
  })

  it('far above the stored nonce waits for an operator', async () => {
    const relayer = await restart()
    const nonce = (await world.nonce()) + MAX_NONCE_RAISE + 1
    await world.hub.test.setNonce({ address: world.relayer, nonce })
    const guid = await world.send(0, ['far'])
    for (let i = 0; i < 3; i++) {
      await world.run(relayer)
      await world.hub.test.mine({ blocks: 1 })
    }
    expect(relayer.state.nonceClaimed).toBe(nonce)
    expect(alarmsOf(relayer)).toEqual(['ClusterdNonceClaimed'])
    expect(await world.executions(guid)).toBe(0)
    const listed = JSON.parse((await clusterd('--json')).stdout)
    expect(listed).toMatchObject([
      { network: 'mainnet', chain: '1', claimed: nonce, next: nonce - MAX_NONCE_RAISE - 1 },
    ])
    expect(await clusterd('10', String(nonce))).toMatchObject({ code: 1 })
    expect(await clusterd('1', String(nonce))).toMatchObject({ code: 0 })
    await expectOnce(guid, relayer)
    expect(relayer.state.nonceClaimed).toBeNull()
  })
})

describe('nonces', () => {
  it('of a quiet public chain are compared once a minute, with three calls', async () => {
    const relayer = await restartOn({ local: false, messageLib: undefined })
    await world.run(relayer)
    let calls = 0
    bridge.onCall = async () => {
      calls += 1
      return undefined
    }
    const before = world.aheadMs
    for (let i = 0; i < 5 * 12; i++) {
      world.aheadMs += 5_000
      await relayer.step()
    }
    world.aheadMs = before
    expect(calls).toBe(5 * 3)
  })

  it('that nothing holds are given again', async () => {
    const relayer = await restart()
    await world.pool.query('UPDATE relay_signers SET next_nonce = next_nonce + 58')
    const nonce = await world.nonce()
    const guid = await world.send(0, ['given-again'])
    await expectOnce(guid, relayer)
    expect((await executeOf(world, guid)).nonce).toBe(nonce + 1)
    expect(await noops()).toEqual([])
  })

  it('below one that is held are used up by a transfer of nothing', async () => {
    const relayer = await restart()
    const guid = await world.send(0, ['gapped'])
    raiseAtFees(2)
    await world.run(relayer)
    expect(relayer.state.nonceGaps).toBe(2)
    expect(alarmsOf(relayer)).toEqual(['ClusterdNonceGap'])
    expect(await world.executions(guid)).toBe(0)
    world.aheadMs = 3_000
    const signs: string[] = []
    bridge.onCall = async (method) => {
      if (method === 'eth_estimateGas') signs.push('prepared')
      return undefined
    }
    await relayer.step(() => signs.push('alive'))
    expect(signs.slice(0, 4)).toEqual(['prepared', 'alive', 'prepared', 'alive'])
    await expectOnce(guid, relayer)
    expect(await noops()).toMatchObject([{ state: 'confirmed' }, { state: 'confirmed' }])
  })

  it('below one that is held wait where using them up would cost more than a day may', async () => {
    const relayer = await restart()
    const guid = await world.send(0, ['gapped-and-capped'])
    raiseAtFees(1)
    await world.run(relayer)
    const before = (await noops()).length
    const capped = await restartWith({ dailyCapWei: '1' })
    for (const aheadMs of [0, 3_000]) {
      world.aheadMs += aheadMs
      await capped.step()
    }
    expect([capped.state.nonceGaps, (await noops()).length]).toEqual([1, before])
    const rich = await restart()
    await rich.step()
    world.aheadMs += 3_000
    await expectOnce(guid, rich)
  })

  it('below one that is held are used up on a public chain, too', async () => {
    const relayer = await restart()
    const guid = await world.send(0, ['gapped-in-public'])
    await relayer.step()
    await world.hub.test.mine({ blocks: 2 })
    raiseAtFees(1)
    await world.run(relayer)
    expect(await executeOf(world, guid)).toMatchObject({ state: 'sent' })
    const inPublic = await restartOn(
      { local: false, messageLib: undefined },
      world.hub.anvil.rpcUrl,
    )
    await world.run(inPublic)
    expect(inPublic.state.nonceGaps).toBe(1)
    world.aheadMs = 700_000
    await expectOnce(guid, inPublic)
    expect((await noops()).at(-1)).toMatchObject({ state: 'confirmed' })
  })

  it('of what can go no more are used up by a cancel before it is parked', async () => {
    const relayer = await restart()
    const before = (await noops()).length
    await holdBlocks(world.hub)
    const guid = await world.send(0, ['unverifiable'])
    await world.run(relayer)
    const verification = async () =>
      (await world.jobs()).filter(({ kind }) => kind === 'verify').at(-1)
    const { nonce, txs } = (await verification())!
    expect(await verification()).toMatchObject({ state: 'sent', nonce: await world.nonce() })
    const without = await restartOn({ messageLib: undefined })
    expect(await world.run(without)).toContain('verify failed')
    expect(await verification()).toMatchObject({
      state: 'sent',
      release: 'queue',
      nonce,
      reason: 'foreign_packet',
    })
    await world.hub.test.dropTransaction({ hash: txs[0]!.hash })
    await world.hub.test.mine({ blocks: REPLACE_AFTER_BLOCKS })
    expect(await world.run(without)).toContain('verify cancelled')
    await world.hub.test.setAutomine(true)
    await world.hub.test.mine({ blocks: 3 })
    await world.run(without)
    expect(await verification()).toMatchObject({
      state: 'parked',
      nonce: null,
      reason: 'foreign_packet',
    })
    expect(await world.nonce()).toBe(nonce! + 1)
    expect(without.state.nonceGaps).toBe(0)
    expect(await noops()).toHaveLength(before)
    await executeOperatorJobAction(world.pool, 'resume', (await verification())!.id)
    world.aheadMs = 10_000
    await expectOnce(guid, await restart())
  })

  it('of confirmed transactions that a local chain has lost are used again by the same bytes', async () => {
    const relayer = await restart()
    const guid = await world.send(0, ['lost'])
    const before = await world.hub.test.snapshot()
    await world.finish(relayer)
    const { txs } = await executeOf(world, guid)
    await world.hub.test.revert({ id: before })
    expect(await world.executions(guid)).toBe(0)
    await relayer.step()
    world.aheadMs = 3_000
    await expectOnce(guid, relayer)
    expect((await executeOf(world, guid)).txs.map(({ hash }) => hash)).toEqual(
      txs.map(({ hash }) => hash),
    )
  })

  it('that a process moves while an operator sets them stay as they are, and the command says so', async () => {
    const client = await world.pool.connect()
    await client.query('BEGIN')
    await client.query('UPDATE relay_signers SET next_nonce = next_nonce + 1')
    const answer = clusterd('1', '9000')
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    // by another session: a transaction sees one state of pg_stat_activity
    await expect
      .poll(async () => (await world.pool.query(waiting)).rowCount, { timeout: 20_000 })
      .toBe(1)
    await client.query('COMMIT')
    client.release()
    const { code, stderr } = await answer
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('any more: run the command again.'),
    })
    await world.pool.query('UPDATE relay_signers SET next_nonce = next_nonce - 1')
  })
})
