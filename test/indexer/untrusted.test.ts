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

const { world } = useSilentNodes()

/** Code of a contract that has no function `recordHash()`. */
const OLDER_CODE = '0x00'
const OLDER = pad('0x0a', { size: 20 })

describe('a chain whose contracts keep no running hash', () => {
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
    const context = { pool, log: pino({ level: 'silent' }) }
    return openEvmChain({ ...world.config, local: true, ...changes }, context)
  }

  const watchOnly = { minimum: [], quotes: false }
  it.each<[string, Partial<ChainConfig>, RegExp]>([
    ['is watched', { watchOnly }, /Chain "1" is watched.*say "trust"/],
    ['has an older hub', { contract: OLDER as Hex }, /hub contract 0x0+0a.*keeps no running hash/],
    [
      'has an older payments contract',
      { communityPayments: OLDER as Hex },
      /payments contract 0x0+0a.*keeps no running hash/,
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
