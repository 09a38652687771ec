import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { createPool } from '../../src/db/pg/pool.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import {
  createLocalWalletClient,
  localChainClients,
} from '../../src/testing/chains/localClients.js'
import { createDatabase, startStack, until } from '../../src/testing/index.js'
import { mineBlocksQuicklyDuring } from '../support/miner.js'
import { waitForReceipt } from '../support/receipt.js'
import { useWorld } from '../support/useWorld.js'

const BATCHES = 40
const NAMES_A_BATCH = 15
const MINIMUM_WEI = 10n ** 16n

const stack = useWorld(() =>
  startStack({ networks: ['mainnet'], chains: ['1'], seeds: false, blockMs: 200 }),
)
let baseline: { live: string; entries: number }

beforeAll(async () => {
  await stack.daemon.kill('SIGTERM')
  const { hub } = stack.networks.mainnet
  await mineBlocksQuicklyDuring(hub, sendBatches)
  baseline = await indexed('baseline', {})
})

/** Registrations spread over a gap of more blocks than the indexer follows one by one. */
async function sendBatches(): Promise<void> {
  const { hub } = stack.networks.mainnet
  const { reader, test } = localChainClients(hub)
  const accounts = stack.accounts.evm.map(({ privateKey }) => privateKeyToAccount(privateKey))
  for (let batch = 0; batch < BATCHES; batch++) {
    const names = Array.from({ length: NAMES_A_BATCH }, (_, i) =>
      toHex(nameToWord(`kill-${batch}-${i}`)),
    )
    const hash = await createLocalWalletClient(
      hub,
      accounts[batch % accounts.length]!,
    ).writeContract({
      address: hub.contracts.hub,
      abi: hubAbi,
      functionName: 'placeBids',
      args: [names.map(() => MINIMUM_WEI), names],
      value: MINIMUM_WEI * BigInt(NAMES_A_BATCH),
      gas: 6_000_000n,
    })
    await waitForReceipt(reader, hash)
    await test.mine({ blocks: 2 })
  }
}

/**
 * Indexes the chain from nothing into a database of its own; `kills` are fail points at which the daemon dies on the
 * way.
 */
async function indexed(
  name: string,
  { kills = [] }: { kills?: readonly string[] },
): Promise<{ live: string; entries: number; counts: number[] }> {
  const databaseUrl = await createDatabase(stack.databaseUrl, `kill_${name}`)
  const pool = createPool({ url: databaseUrl, max: 3, applicationName: 'test' })
  const counts: number[] = []
  try {
    for (const CLUSTERD_FAILPOINT of kills) {
      await stack.daemon.spawn({ DATABASE_URL: databaseUrl, CLUSTERD_FAILPOINT })
      expect((await stack.daemon.exited()).signal).toBe('SIGKILL')
      counts.push((await pool.query('SELECT 1 FROM journal')).rowCount!)
    }
    await stack.daemon.spawn({ DATABASE_URL: databaseUrl })
    await stack.daemon.waitUntilReady()
    const { live, rebuilt, entries } = await replayJournal(pool, 'mainnet')
    expect(rebuilt).toBe(live)
    await stack.daemon.kill('SIGTERM')
    return { live, entries, counts }
  } finally {
    await pool.end()
  }
}

describe('a daemon that is killed in mid-backfill', () => {
  it('has something to backfill', () =>
    expect(baseline.entries).toBeGreaterThanOrEqual(BATCHES * NAMES_A_BATCH))

  it.each(['backfill.before_transaction', 'backfill.before_commit', 'backfill.after_commit'])(
    'goes on after SIGKILL at %s, to the same state hash',
    async (point) => {
      const { live, counts } = await indexed(point.replaceAll('.', '_'), { kills: [`${point}:3`] })
      // work was under way: some of it had been committed, not all
      expect(counts[0]).toBeGreaterThan(0)
      expect(counts[0]).toBeLessThan(baseline.entries)
      expect(live).toBe(baseline.live)
    },
  )
})

/** Bids for a name. @returns the transaction, in a block */
async function bid(name: string): Promise<Hex> {
  const { hub } = stack.networks.mainnet
  const wallet = createLocalWalletClient(
    hub,
    privateKeyToAccount(stack.accounts.evm[0]!.privateKey),
  )
  const tx = await wallet.writeContract({
    address: hub.contracts.hub,
    abi: hubAbi,
    functionName: 'placeBids',
    value: MINIMUM_WEI,
    args: [[MINIMUM_WEI], [toHex(nameToWord(name))]],
  })
  await waitForReceipt(localChainClients(hub).reader, tx)
  return tx
}

describe('a daemon that is killed while it follows the chain', () => {
  it.each(['follow.before_transaction', 'follow.before_commit', 'follow.after_commit'])(
    'loses nothing after SIGKILL at %s',
    async (point) => {
      await stack.daemon.spawn({ CLUSTERD_FAILPOINT: `${point}:4` })
      // blocks without anything of ours do not pass every point
      const sent: Hex[] = []
      while (stack.daemon.isRunning())
        sent.push(await bid(`${point.replaceAll(/[._]/g, '-')}-${sent.length}`))
      expect((await stack.daemon.exited()).signal).toBe('SIGKILL')
      await stack.daemon.spawn({})
      await stack.daemon.waitUntilReady()
      for (const tx of sent) await until.status(stack, tx, 'finalized')
    },
  )

  it('has the owners that the contract has, and the state that its journal gives', async () => {
    const pool = createPool({ url: stack.databaseUrl, max: 2, applicationName: 'test' })
    try {
      const { hub } = stack.networks.mainnet
      const { reader } = localChainClients(hub)
      const { rows } = await pool.query<{ name: string; actor: Buffer }>(
        'SELECT n.name, j.actor FROM names n JOIN journal j USING (network, seq) WHERE n.outcome = 1',
      )
      expect(rows.length).toBeGreaterThan(BATCHES * NAMES_A_BATCH)
      const at = { address: hub.contracts.hub, abi: hubAbi, functionName: 'ownerOf' } as const
      const owners = rows.map(({ name }) =>
        reader.readContract({ ...at, args: [toHex(nameToWord(name))] }),
      )
      expect(await Promise.all(owners)).toEqual(
        rows.map(({ actor }) => `0x${'0'.repeat(24)}${actor.toString('hex', 1)}`),
      )
      const { live, rebuilt } = await replayJournal(pool, 'mainnet')
      expect(rebuilt).toBe(live)
    } finally {
      await pool.end()
    }
  })
})
