import { pino } from 'pino'
import { type Hex, pad } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import type { ChainConfig } from '../../src/config/index.js'
import { openEvmChain } from '../../src/daemon/families/evm.js'
import { migrate } from '../../src/db/pg/migrate.js'
import { createPool } from '../../src/db/pg/pool.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { useSilentNodes } from './silentNodes.js'

/** What needs more trust than one node provides, and the settings that accept less. */

const { world, node, open, drive, journalled, onChain, confirmed, made } = useSilentNodes()

/** Code of a contract that has no function `recordHash()`. */
const OLDER_CODE = '0x00'
const OLDER = pad('0x0a', { size: 20 })

it('while only one node answers, bids are indexed, and a bid that the hub has to refund waits', async () => {
  let isAway = false
  const second = await node(async () => (isAway ? 'lost' : undefined))
  const lone = await open({ rpcUrls: [world.anvil.rpcUrl, second], singleNodeAfter: 1 })
  await drive(lone, 40)
  isAway = true
  const name = `single-${made()}`
  await world.bid(0, [name])
  await world.test.mine({ blocks: 3 })
  await drive(lone, 8)
  expect(lone.indexer.state).toMatchObject({ trust: 'trusted', trustNodes: 1 })
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))

  const before = await confirmed()
  // the later of two bids for a name is credited to its bidder
  await world.bid(1, [name])
  await world.test.mine({ blocks: 3 })
  const errors = await drive(lone, 8)
  expect(errors.at(-1)).toMatchObject({ name: 'NodesSilentError' })
  expect(lone.indexer.state.lastError).toContain('wait for a second node')
  expect(await journalled(lone)).toEqual(await onChain(before))

  isAway = false
  await expect.poll(() => drive(lone, 3), { timeout: 10_000 }).toEqual([])
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  expect(lone.indexer.state).toMatchObject({ trust: 'proved', trustNodes: 2 })
})

describe('a chain whose contracts keep no record', () => {
  let databases = 0
  const ends: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
  })

  /** As `clusterd start` opens the hub's chain, over an empty database. */
  async function start(changes: Partial<ChainConfig>) {
    const url = await createDatabase(world.postgres.url, `untrusted_${databases++}`)
    await migrate(url)
    const pool = createPool({ url, max: 2, applicationName: 'test' })
    ends.push(() => pool.end())
    await world.test.setCode({ address: OLDER, bytecode: OLDER_CODE })
    const metrics = { rpc: { watch() {} } } as unknown as Parameters<
      typeof openEvmChain
    >[1]['metrics']
    const context = { pool, log: pino({ level: 'silent' }), metrics }
    return openEvmChain({ ...world.config, local: true, ...changes }, context)
  }

  const watchOnly = { minimum: [], quotes: false }
  it.each<[string, Partial<ChainConfig>, RegExp]>([
    ['is watched', { watchOnly }, /Chain "1" is watched.*say "trust"/],
    ['has an older hub', { contract: OLDER as Hex }, /hub contract 0x0+0a.*keeps no record/],
    [
      'has an older payments contract',
      { communityPayments: OLDER as Hex },
      /payments contract 0x0+0a.*keeps no record/,
    ],
  ])(
    'is refused where it %s and names no trust, and opened where it does',
    async (_, changes, sentence) => {
      await expect(start(changes)).rejects.toMatchObject({
        name: 'ConfigError',
        message: expect.stringMatching(sentence),
      })
      await expect(start({ ...changes, trust: 'trusted' })).resolves.toHaveProperty('label', '1')
    },
  )
})
