import { describe, expect, it } from 'vitest'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { outboxProblems } from '../../src/relayer/report.js'
import { createBridgeControls } from '../../src/testing/bridge.js'
import type { SteppedRelayer } from '../support/bridgeWorld.js'
import { executeOf } from '../support/kill.js'
import { mineAt } from '../support/miner.js'
import { insertPayment } from '../support/payments.js'
import { useBridge } from '../support/useBridge.js'
import { deliveriesOf, outboxCommand, storeUnconfirmedReceipt } from './deliveries.js'

/** What gets stuck in operation: each shows as its alarm, and ends delivered or parked after what that says to do. */

const GWEI = 10n ** 9n
const HOUR_MS = 3_600_000
const world = useBridge()
const { asVerifier } = deliveriesOf(() => world)

const alarmsOf = ({ state }: SteppedRelayer) =>
  outboxProblems(
    { network: 'mainnet', missingKeys: [], relayers: [state] },
    Date.now() + world.aheadMs,
  ).map(({ alarm }) => alarm)

/** Advances the clock, so that the relayer checks everything again. */
async function later(relayer: SteppedRelayer, ms: number): Promise<void> {
  world.aheadMs += ms
  await world.run(relayer)
}

/** Lets every job end, and the indexer see it. */
async function settle(relayer: SteppedRelayer): Promise<void> {
  await world.finish(relayer)
  await world.hub.test.mine({ blocks: 2 })
  await world.index()
  await later(relayer, 10_000)
}

const clusterd = async (...args: string[]): Promise<string> =>
  (await outboxCommand(world)(...args)).stdout

const asOwner = (functionName: 'pause' | 'unpause') =>
  world.hub
    .walletClient(9)
    .writeContract({ address: world.contracts.hub, abi: hubAbi, functionName })
const setBaseFee = (gwei: bigint) => mineAt(world.hub, gwei * GWEI)

describe('a message that one node shows as received in an unconfirmed block', () => {
  it('counts as stuck, and is delivered', async () => {
    const relayer = await world.restart({
      hub: { local: false, messageLib: undefined },
      file: { deliveries: { mainnet: { executeStranded: false } } },
    })
    const guid = await world.send(0, ['hidden'])
    await storeUnconfirmedReceipt(world, guid)
    await later(relayer, 24 * HOUR_MS)
    expect(relayer.state.stuck).toEqual([guid])
    expect(alarmsOf(relayer)).toEqual(['ClusterdPacketsStuck'])
    const local = await world.restart()
    await settle(local)
    expect([await world.executions(guid), alarmsOf(local)]).toEqual([1, []])
  })
})

describe('what is stuck', () => {
  it('a drained relayer: it runs dry, and goes on once it is funded', async () => {
    const relayer = await world.restart()
    await world.hub.test.setBalance({ address: world.relayer, value: 0n })
    const guid = await world.send(0, ['drained'])
    await later(relayer, 10_000)
    expect(alarmsOf(relayer)).toEqual(['ClusterdRelayerRunsDry'])
    await world.hub.test.setBalance({ address: world.relayer, value: 10n ** 22n })
    await later(relayer, 10_000)
    await settle(relayer)
    expect([await world.executions(guid), alarmsOf(relayer)]).toEqual([1, []])
  })

  it('a paused hub: a job waits, and goes on once it is unpaused', async () => {
    const relayer = await world.restart()
    await asOwner('pause')
    const id = toHex(await insertPayment(world.pool, { name: 'paused' }))
    await world.run(relayer)
    expect(alarmsOf(relayer)).toEqual([])
    await later(relayer, HOUR_MS + 10_000)
    expect(alarmsOf(relayer)).toEqual(['ClusterdJobsWait'])
    await asOwner('unpause')
    const job = (await world.jobs()).find(({ payment }) => payment && toHex(payment.id) === id)!
    expect(await clusterd('show', job.id)).toMatch(/^reason +enforced_pause$/m)
    await clusterd('retry', job.id)
    await settle(relayer)
    expect([await world.executions(id), alarmsOf(relayer)]).toEqual([1, []])
  })

  it('a spike of fees: a job waits, is set aside, and taken up again when they have fallen', async () => {
    await setBaseFee(1n)
    await world.hub.test.mine({ blocks: 6 })
    const relayer = await world.restart({ hub: { maxGasPriceWei: (5n * GWEI).toString() } })
    await setBaseFee(400n)
    const guid = await world.send(0, ['dear'])
    await world.run(relayer)
    await later(relayer, HOUR_MS + 10_000)
    expect(alarmsOf(relayer)).toContain('ClusterdJobsWait')
    const open = (await world.jobs()).filter(
      ({ message }) => message && toHex(message.guid) === guid,
    )
    expect(open.map(({ reason }) => reason)).toContain('gas_price_above_cap')
    for (const { id } of open) await clusterd('park', id)
    await later(relayer, 10_000)
    // the packet itself has not arrived for an hour either: its parked jobs say what to do
    expect(new Set(alarmsOf(relayer))).toEqual(new Set(['ClusterdJobsParked']))
    await setBaseFee(1n)
    await world.hub.test.mine({ blocks: 6 })
    for (const { id } of open) await clusterd('resume', id)
    await settle(relayer)
    expect([await world.executions(guid), alarmsOf(relayer)]).toEqual([1, []])
  })

  it('packets that the bridge left: they are stuck, and executed where the operator allows it', async () => {
    const publicHub = (executeStranded: boolean) => ({
      hub: { local: false, messageLib: undefined },
      file: { deliveries: { mainnet: { strandedAfterMs: 600_000, executeStranded } } },
    })
    const relayer = await world.restart(publicHub(false))
    const guid = await world.send(0, ['left'])
    await asVerifier(guid)
    await later(relayer, 700_000)
    expect(alarmsOf(relayer)).toContain('ClusterdPacketsStuck')
    const allowed = await world.restart(publicHub(true))
    await settle(allowed)
    expect([
      await world.executions(guid),
      (await executeOf(world, guid)).state,
      alarmsOf(allowed),
    ]).toEqual([...[1, 'confirmed'], []])
  })

  it('what a test holds back: it stays so over a restart and new funds, and goes on once it is released', async () => {
    const bridge = createBridgeControls(world.postgres.url)
    await bridge.hold()
    const guid = await world.send(0, ['held'])
    await world.run(await world.restart())
    const restarted = await world.restart()
    await world.run(restarted)
    await world.hub.test.setBalance({ address: world.relayer, value: 2n * 10n ** 22n })
    for (let i = 0; i < 3; i++) {
      await world.hub.test.mine({ blocks: 1 })
      await later(restarted, 10_000)
    }
    expect(await world.executions(guid)).toBe(0)
    await bridge.release()
    await settle(restarted)
    expect(await world.executions(guid)).toBe(1)
  })
})
