import { pad, zeroHash } from 'viem'
import { describe, expect, it } from 'vitest'
import { executeOperatorJobAction } from '../../src/relayer/operatorActions.js'
import { die, executeOf, expectOnce } from '../support/kill.js'
import { holdBlocks } from '../support/miner.js'
import { useBridge } from '../support/useBridge.js'
import { setPeer } from './deliveries.js'

const world = useBridge()

describe('a relayer killed', () => {
  // the first pass is the verification's, the second the execution's
  const points = ['sign', 'signed', 'broadcast', 'sent', 'included', 'confirmed'].flatMap(
    (point) => [`relay.${point}:1`, `relay.${point}:2`],
  )
  it.each(['relay.queued:1', ...points])('at %s executes the message once', async (point) => {
    const guid = await world.send(0, [point.replace(/[.:]/g, '-')])
    await holdBlocks(world.hub)
    expect(await die(world, point)).toBe('SIGKILL')
    await expectOnce(world, guid)
  })
})

describe('a relayer killed when something went wrong', () => {
  it('at relay.sent: a node knew the transaction already', async () => {
    const guid = await world.send(1, ['refused'])
    await holdBlocks(world.hub)
    expect(await die(world, 'relay.broadcast', { mines: false })).toBe('SIGKILL')
    expect(await die(world, 'relay.sent', { mines: false })).toBe('SIGKILL')
    await expectOnce(world, guid)
  })

  it('at relay.failed: the hub heard no spoke', async () => {
    await setPeer(world, zeroHash)
    const guid = await world.send(1, ['failed'])
    expect(await die(world, 'relay.failed')).toBe('SIGKILL')
    expect(await executeOf(world, guid)).toMatchObject({
      state: 'queued',
      reason: 'no_peer',
      failures: 1,
    })
    await setPeer(world, pad(world.contracts.spoke))
    await expectOnce(world, guid)
  })

  it('at relay.reorged: the block with the execution was taken back', async () => {
    const guid = await world.send(1, ['reorged'])
    await world.run(await world.restart(), { steps: 1 })
    await holdBlocks(world.hub)
    const before = await world.hub.test.snapshot()
    await world.run(await world.restart())
    await world.hub.test.mine({ blocks: 1 })
    await world.run(await world.restart())
    expect(await executeOf(world, guid)).toMatchObject({ state: 'included' })
    await world.hub.test.revert({ id: before })
    expect(await die(world, 'relay.reorged', { mines: false })).toBe('SIGKILL')
    await expectOnce(world, guid)
  })

  it('at relay.expired: the nonce of a parked delivery was used up', async () => {
    const guid = await world.send(1, ['settled'])
    await world.run(await world.restart(), { steps: 1 })
    await holdBlocks(world.hub)
    await world.run(await world.restart())
    const { id, txs } = await executeOf(world, guid)
    await executeOperatorJobAction(world.pool, 'park', id)
    await world.hub.test.dropTransaction({ hash: txs[0]!.hash })
    await world.hub.test.mine({ blocks: 2 })
    expect(await die(world, 'relay.expired')).toBe('SIGKILL')
    expect(await executeOf(world, guid)).toMatchObject({
      state: 'parked',
      reason: 'operator',
      nonce: null,
    })
    await executeOperatorJobAction(world.pool, 'retry', id)
    await expectOnce(world, guid)
  })

  it('at relay.noop: a nonce that nothing held was used up', async () => {
    const lost = await world.send(1, ['lost'])
    const guid = await world.send(1, ['filled'])
    await world.run(await world.restart(), { steps: 1 })
    await holdBlocks(world.hub)
    await world.run(await world.restart())
    const { id, txs } = await executeOf(world, lost)
    await world.pool.query(`UPDATE jobs SET state = 0, nonce = NULL, txs = '[]' WHERE id = $1`, [
      id,
    ])
    await world.hub.test.dropTransaction({ hash: txs[0]!.hash })
    expect(await die(world, 'relay.noop')).toBe('SIGKILL')
    await expectOnce(world, lost)
    await expectOnce(world, guid)
  })
})
