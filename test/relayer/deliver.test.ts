import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeEach, describe, expect, it } from 'vitest'
import { encodePacket, packetGuid } from '../../src/chains/evm/bridge/packet.js'
import { encodeLzReceiveOption } from '../../src/chains/evm/bridge/packetOptions.js'
import { writeMessages } from '../../src/db/bridge/messages.js'
import { findMessagesOfTransaction } from '../../src/db/bridge/packets.js'
import { LostLeadershipError } from '../../src/db/journal/head.js'
import { takeLeadershipIfFree } from '../../src/db/leaders/lead.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { executeOperatorJobAction } from '../../src/relayer/operatorActions.js'
import { MINIMUM_WEI, RELAYER_KEY, STRANGER } from '../support/bridgeWorld.js'
import { holdBlocks } from '../support/miner.js'
import { waitForReceipt } from '../support/receipt.js'
import { useBridge } from '../support/useBridge.js'
import { deliveriesOf, outboxCommand } from './deliveries.js'

const world = useBridge()
beforeEach(() => world.index())

const { about, deliveryOf, packetOf, deafen, listen, executeAs } = deliveriesOf(() => world)

describe('a delivery', () => {
  it('is verified, executed and confirmed, each once', async () => {
    const relayer = await world.restart()
    expect(await relayer.step()).toBe('idle')
    const guid = await world.send(0, ['first', 'second'])
    const nonce = await world.nonce()
    // the chain mines a moment after it took a transaction: how often a step waits for that is left open
    const outcomes = (await world.finish(relayer)).filter((outcome) => !outcome.endsWith('waiting'))
    const of = (kind: string) => outcomes.filter((outcome) => outcome.startsWith(kind))
    const steps = ['signed', 'sent', 'included', 'confirmed']
    expect(of('verify')).toEqual(steps.map((step) => `verify ${step}`))
    expect(of('execute')).toEqual(steps.map((step) => `execute ${step}`))
    expect(outcomes.indexOf('execute signed')).toBeGreaterThan(outcomes.indexOf('verify included'))
    expect(await world.executions(guid)).toBe(1)
    expect(await about(guid)).toEqual(['verify confirmed', 'execute confirmed'])
    expect(await world.nonce()).toBe(nonce + 2)
    expect(await deliveryOf(guid)).toMatchObject({
      valueWei: 2n * MINIMUM_WEI,
      reason: null,
      failures: 0,
    })
    await world.index()
    expect(await relayer.step()).toBe('idle')
    expect(relayer.state).toMatchObject({ stuck: [], nonceGaps: 0 })
  })

  it('waits where our own code fails on it, which is reported, and the others go on', async () => {
    let failsOn: Hex | null = null
    const payer = privateKeyToAccount(RELAYER_KEY)
    const account: typeof payer = {
      ...payer,
      signTransaction: async (tx, options) => {
        const isExecution = tx.to?.toLowerCase() === world.contracts.hubEndpoint.toLowerCase()
        if (isExecution && failsOn && tx.data?.includes(failsOn.slice(2)))
          throw new TypeError('a mistake')
        return payer.signTransaction(tx, options)
      },
    }
    const reported: { error: unknown; about: object }[] = []
    const relayer = await world.restart({
      account,
      onInternalError: (error, about) => void reported.push({ error, about }),
    })
    failsOn = await world.send(0, ['failing'])
    const failing = failsOn
    const other = await world.send(0, ['other'])
    for (let rounds = 0; rounds < 5; rounds++) {
      await world.run(relayer)
      await world.hub.test.mine({ blocks: 1 })
      world.aheadMs += 10_000
    }
    expect(await world.executions(other)).toBe(1)
    expect(await world.executions(failing)).toBe(0)
    expect(await deliveryOf(failing)).toMatchObject({ state: 'queued', txs: [] })
    expect((await deliveryOf(failing)).reason).not.toBe('unreachable')
    expect(reported.at(-1)).toEqual({
      error: new TypeError('a mistake'),
      about: { job: (await deliveryOf(failing)).id, kind: 'execute', nonce: null },
    })

    failsOn = null
    await world.finish(relayer)
    expect(await world.executions(failing)).toBe(1)
  })

  it('whose row can not be read is set aside and reported, and the others go on', async () => {
    const reported: { error: unknown; about: object }[] = []
    const relayer = await world.restart({
      onInternalError: (error, about) => void reported.push({ error, about }),
    })
    const broken = await world.send(0, ['broken'])
    const other = await world.send(0, ['other'])
    await world.index()
    await relayer.step()
    const { id, txs } = await deliveryOf(broken)
    expect(txs).toEqual([])
    await world.pool.query(`UPDATE jobs SET txs = '[{"gas": "none"}]' WHERE id = $1`, [id])
    for (let rounds = 0; rounds < 5; rounds++) {
      await world.run(relayer)
      await world.hub.test.mine({ blocks: 1 })
    }
    expect(await world.executions(other)).toBe(1)
    expect(await world.executions(broken)).toBe(0)
    expect(reported.at(-1)).toEqual({ error: expect.any(SyntaxError), about: { job: id } })
    const { stderr, stdout } = await outboxCommand(world)('list', '--all', '--json')
    expect(stderr).toMatch(new RegExp(`^Job ${id} can not be read \\(Cannot convert none`))
    expect(JSON.parse(stdout).length).toBeGreaterThan(0)

    await world.pool.query(`UPDATE jobs SET txs = '[]' WHERE id = $1`, [id])
    await world.finish(relayer)
    expect(await world.executions(broken)).toBe(1)
  })

  it('gives the receiver the gas that the options ask for', async () => {
    const relayer = await world.restart()
    const guid = await world.send(0, ['gas-a', 'gas-b', 'gas-c'])
    await world.run(relayer)
    const [tx] = (await deliveryOf(guid)).txs
    const trace = await world.hub.public.request<{
      Method: 'debug_traceTransaction'
      Parameters: [Hex, object]
      ReturnType: { calls: { to: Hex; gas: Hex }[] }
    }>({ method: 'debug_traceTransaction', params: [tx!.hash, { tracer: 'callTracer' }] })
    const receive = trace.calls.find(
      ({ to }) => to.toLowerCase() === world.contracts.hub.toLowerCase(),
    )
    expect(BigInt(receive!.gas)).toBeGreaterThanOrEqual(250_000n + 3n * 40_000n)
    await world.finish(relayer)
  })

  it('fails while the hub hears no spoke, says so in the status, and goes through later', async () => {
    const relayer = await world.restart()
    await deafen()
    const guid = await world.send(1, ['patient'])
    await world.run(relayer)
    expect(await about(guid)).toEqual(['verify included', 'execute queued no_peer'])
    const [message] = await findMessagesOfTransaction(
      world.pool,
      'mainnet',
      (await deliveryOf(guid)).message!.txHash,
    )
    expect(message).toMatchObject({
      job: { kind: 'execute', reason: 'no_peer', isParked: false },
      received: null,
    })
    await listen()
    expect((await world.run(relayer)).filter((outcome) => outcome.startsWith('execute'))).toEqual(
      [],
    )
    world.aheadMs = 10_000
    await world.finish(relayer)
    expect(await world.executions(guid)).toBe(1)
    expect(
      (
        await findMessagesOfTransaction(
          world.pool,
          'mainnet',
          (
            await deliveryOf(guid)
          ).message!.txHash,
        )
      )[0]!.job,
    ).toBeNull()
  })

  it('ends when a stranger has executed the packet, and takes no nonce for it', async () => {
    const relayer = await world.restart()
    await deafen()
    const guid = await world.send(1, ['overtaken'])
    await world.run(relayer)
    const nonce = await world.nonce()
    await listen()
    // another value than the message asks for is refused by the hub, and nothing is lost
    const wrong = await executeAs(STRANGER, guid, MINIMUM_WEI / 2n)
    expect((await waitForReceipt(world.hub.public, wrong)).status).toBe('reverted')
    await executeAs(STRANGER, guid, MINIMUM_WEI)
    world.aheadMs = 10_000
    await world.finish(relayer)
    expect(await about(guid)).toEqual(['verify confirmed', 'execute confirmed'])
    expect(await world.executions(guid)).toBe(1)
    expect(await world.nonce()).toBe(nonce)
  })

  it('ends when a stranger overtakes it in the block', async () => {
    const relayer = await world.restart()
    const guid = await world.send(1, ['raced'])
    await relayer.step()
    await holdBlocks(world.hub)
    expect(await world.run(relayer)).toEqual(expect.arrayContaining(['execute sent']))
    await executeAs(STRANGER, guid, MINIMUM_WEI, 10n ** 12n)
    await world.hub.test.mine({ blocks: 1 })
    await world.finish(relayer)
    expect(await about(guid)).toEqual(['verify confirmed', 'execute confirmed'])
    expect(await world.executions(guid)).toBe(1)
    expect((await deliveryOf(guid)).spentWei).toBeGreaterThan(0n)
  })
})

describe('an operator', () => {
  it('parks what holds a nonce, which a cancel uses up', async () => {
    const relayer = await world.restart()
    const guid = await world.send(2, ['cancelled'])
    await relayer.step()
    await holdBlocks(world.hub)
    await world.run(relayer)
    const { id, state } = await deliveryOf(guid)
    expect(state).toBe('sent')
    const nonce = await world.nonce()
    await executeOperatorJobAction(world.pool, 'park', id)
    await world.hub.test.dropTransaction({ hash: (await deliveryOf(guid)).txs[0]!.hash })
    // the delivery's transaction was dropped before any block, so that the cancel is mined
    await world.hub.test.mine({ blocks: 2 })
    await world.finish(relayer)
    expect(await about(guid)).toEqual(['verify confirmed', 'execute parked operator'])
    expect(await world.nonce()).toBe(nonce + 1)
    await executeOperatorJobAction(world.pool, 'resume', id)
    await world.finish(relayer)
    expect(await world.executions(guid)).toBe(1)
    expect(await world.nonce()).toBe(nonce + 2)
  })
})

describe('what is never paid for', () => {
  /** Parked for a reason, nothing signed, and the same again when an operator insists. */
  async function expectRefused(guid: Hex, reason: string): Promise<void> {
    const relayer = await world.restart()
    await world.finish(relayer)
    expect((await about(guid)).at(-1)).toBe(`execute parked ${reason}`)
    const nonce = await world.nonce()
    await executeOperatorJobAction(world.pool, 'retry', (await deliveryOf(guid)).id)
    await world.run(relayer)
    expect((await about(guid)).at(-1)).toBe(`execute parked ${reason}`)
    expect(await world.nonce()).toBe(nonce)
    expect((await deliveryOf(guid)).txs).toEqual([])
    // later packets are not delayed
    const next = await world.send(3, [`behind-${reason}`])
    await world.finish(relayer)
    expect(await world.executions(next)).toBe(1)
    expect(await world.executions(guid)).toBe(0)
  }
  const setOptions = (guid: Hex, options: Hex) =>
    world.pool.query('UPDATE messages SET options = $2 WHERE guid = $1', [
      fromHex(guid),
      fromHex(options),
    ])

  it('is a value that the message does not ask for', async () => {
    const guid = await world.send(3, ['greedy'])
    await setOptions(guid, encodeLzReceiveOption({ gas: 300_000n, value: 2n * MINIMUM_WEI }))
    await expectRefused(guid, 'value_mismatch')
  })

  it('is what can not be understood', async () => {
    const guid = await world.send(3, ['odd'])
    await setOptions(guid, '0x0003010011010000')
    await expectRefused(guid, 'bad_options')
    // all of them are verified, though
    expect(await about(guid)).toEqual(['verify confirmed', 'execute parked bad_options'])
  })

  it('is a packet that is not from our spoke', async () => {
    const real = await packetOf(await world.send(3, ['real']))
    const path = { ...real, sender: `0x${'66'.repeat(32)}` as Hex }
    const guid = packetGuid(path)
    const packet = fromHex(encodePacket({ ...path, guid }))
    const options = fromHex(encodeLzReceiveOption({ gas: 300_000n, value: MINIMUM_WEI }))
    const { rows } = await world.pool.query('SELECT * FROM messages WHERE guid = $1', [
      fromHex(real.guid),
    ])
    const { chain, block_hash: blockHash, tx_hash: txHash, sent_ms: sentMs, block } = rows[0]
    const message = {
      guid: fromHex(guid),
      from: Buffer.alloc(32),
      txHash,
      block,
      blockHash,
      logIndex: 900,
    }
    await inTransaction(world.pool, (client) =>
      writeMessages(client, { network: 'mainnet', chain }, { isConfirmed: true, block: 0 }, [
        { ...message, sentMs, packet, options },
      ]),
    )
    await expectRefused(guid, 'foreign_packet')
    expect(await about(guid)).toHaveLength(1)
  })
})

describe('a deposed relayer', () => {
  it('writes nothing', async () => {
    const old = await world.restart()
    const guid = await world.send(5, ['deposed'])
    await holdBlocks(world.hub)
    await old.step()
    const before = await world.jobs()
    // another process leads from here on, though the old one has not noticed
    await world.restart()
    await world.hub.test.mine({ blocks: 3 })
    await expect(old.step()).rejects.toThrow(LostLeadershipError)
    expect(await world.jobs()).toEqual(before)
    expect(await world.executions(guid)).toBe(0)
    expect(await takeLeadershipIfFree(world.pool, 'mainnet', 'relay')).toBeNull()
  })
})
