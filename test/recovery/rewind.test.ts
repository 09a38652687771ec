import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type pg from 'pg'
import { type Hex, keccak256 } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { type RewindOptions, rewindChain } from '../../src/cli/journal/rewind.js'
import type { StatusWord } from '../../src/client/types.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import type { RewindReport } from '../../src/db/journal/rewind/report.js'
import { createPool } from '../../src/db/pg/pool.js'
import { CONFIRMATION_BLOCKS } from '../../src/testing/chains/localChain.js'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { type EventItem, startStack, until } from '../../src/testing/index.js'
import { readDaemonReadiness } from '../../src/testing/processes/daemonProcess.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { printed } from '../support/cli.js'
import { type Miner, replaceNewestBlocks, startMiner } from '../support/miner.js'
import { waitForReceipt } from '../support/receipt.js'
import { useWorld } from '../support/useWorld.js'
import {
  ask,
  callOf,
  freshName,
  freshWallet,
  hubOf,
  nameWord,
  quoteOn,
  readOwner,
  registerOn,
} from '../support/world.js'

const BLOCK_MS = 200
const DEADLINE_MS = 30_000

const stack = useWorld(() => startStack({ chains: ['1', '8453'], seeds: false, blockMs: BLOCK_MS }))
let pool: pg.Pool
let miner: Miner
beforeAll(async () => {
  pool = createPool({ url: stack.databaseUrl, max: 3, applicationName: 'test' })
  await stack.anvils['1'].pause()
  miner = startMiner(hubOf('mainnet', stack), BLOCK_MS)
})
afterAll(async () => {
  miner?.stop()
  await pool?.end()
})

interface Page {
  items: EventItem[]
  nextPage?: string
  resume: string
}

const feed = async (query = '') => ask<Page>('GET', `/v1/events${query}`, undefined, stack)
const owned = async (name: string) =>
  (await ask('GET', `/v1/clusters/name/${name}`, undefined, stack)).status === 200
const stateOf = async () => {
  const { live, rebuilt, generation } = await replayJournal(pool, 'mainnet')
  return { live, rebuilt, generation }
}

/** True if the daemon holds a log of the hub's block that is not in the journal yet. */
const isUnconfirmedFact = async (block: bigint) =>
  (
    await pool.query(
      `SELECT 1 FROM facts JOIN chains USING (network, chain) WHERE label = '1' AND block = $1`,
      [block],
    )
  ).rowCount === 1

async function register(label: string, name: string, wanted: StatusWord): Promise<Hex> {
  const account = await freshWallet('mainnet', stack)
  const tx = await registerOn(label, account, [{ name }], stack)
  await until.status(stack, tx, wanted)
  return tx
}

/** Runs `clusterd journal rewind` as an operator does, as a process of its own. */
async function rewindByHand(...args: string[]): Promise<RewindReport & { applied: boolean }> {
  const { command, args: entry } = await programCommand('cli')
  const env = { ...process.env, DATABASE_URL: stack.databaseUrl, CLUSTERD_HOME: stack.home }
  const { stdout } = await promisify(execFile)(
    command,
    [...entry, 'journal', 'rewind', ...args, '--json'],
    { env },
  )
  return JSON.parse(stdout)
}

/** Runs the command in this process, which starts sooner. */
async function rewind(options: RewindOptions): Promise<RewindReport & { applied: boolean }> {
  const env = { DATABASE_URL: stack.databaseUrl, CLUSTERD_HOME: stack.home }
  return JSON.parse(await printed(env, () => rewindChain({ ...options, json: true })))
}

describe('a reorg of the hub above its confirmed blocks', () => {
  it('shows as pending alone: nothing terminal, no event, no look-up until the bid is confirmed', async () => {
    const { reader, test, rpcUrl, chainId } = hubOf('mainnet', stack)
    const account = await freshWallet('mainnet', stack)
    const name = freshName('shaken')
    const quote = await quoteOn('1', account.address, [{ name }], stack)
    const wallet = createLocalWalletClient({ rpcUrl, chainId }, account)
    const raw = await wallet.signTransaction(await wallet.prepareTransactionRequest(callOf(quote)))
    const tx = keccak256(raw)
    const seen: { status: string; isOwned: boolean; isInFeed: boolean }[] = []
    let isOver = false
    const watch = async () => {
      while (!isOver) {
        // the status last: what is visible before it has to be final
        const isOwned = await owned(name)
        const isInFeed = JSON.stringify((await feed()).body).includes(name)
        const { body } = await ask<{ status: string }>(
          'GET',
          `/v1/names/register/tx/${tx}`,
          undefined,
          stack,
        )
        seen.push({ status: body.status, isOwned, isInFeed })
        await sleep(20)
      }
    }
    const watching = watch()
    try {
      for (const depth of [1, CONFIRMATION_BLOCKS, 1]) {
        await miner.paused(async () => {
          await wallet.sendRawTransaction({ serializedTransaction: raw })
          await test.mine({ blocks: depth })
          const { blockNumber } = await waitForReceipt(reader, tx)
          expect(await waitForCondition(() => isUnconfirmedFact(blockNumber), DEADLINE_MS)).toBe(
            true,
          )
          await until.status(stack, tx, 'pending')
          await replaceNewestBlocks({ test }, depth)
          await expect(reader.getTransactionReceipt({ hash: tx })).rejects.toThrow(
            'could not be found',
          )
        })
      }
      await wallet.sendRawTransaction({ serializedTransaction: raw })
      await until.status(stack, tx, 'finalized')
    } finally {
      isOver = true
      await watching
    }
    const early = seen.filter(({ status }) => status !== 'finalized')
    expect(early.length).toBeGreaterThan(0)
    for (const [i, one] of early.entries()) {
      expect(['not_found', 'pending'], `answer ${i}`).toContain(one.status)
      expect(one, `answer ${i}`).toMatchObject({ isOwned: false, isInFeed: false })
    }
    expect((await readDaemonReadiness(stack.ops)).problems).toEqual([])
    expect(await owned(name)).toBe(true)
  })
})

describe('a reorg of the hub below its confirmation policy', () => {
  const kept = freshName('kept')
  const lost = freshName('lost')
  const bridged = freshName('bridged')
  const late = freshName('late')
  let firstLost = 0
  let oldToken = ''
  let oldFeed: Page
  let lostTx: Hex
  let bridgedTx: Hex
  let report: RewindReport & { applied: boolean }

  it('halts the chain: status says so, nothing more is published, all else goes on', async () => {
    const { reader } = hubOf('mainnet', stack)
    await register('1', kept, 'finalized')
    oldToken = (await feed()).body.resume
    firstLost = Number(await reader.getBlockNumber()) + 1
    ;[lostTx, bridgedTx] = await Promise.all([
      register('1', lost, 'finalized'),
      register('8453', bridged, 'finalized'),
    ])
    oldFeed = (await feed()).body
    await miner.paused(async () =>
      replaceNewestBlocks(
        hubOf('mainnet', stack),
        Number(await reader.getBlockNumber({ cacheTime: 0 })) - firstLost + 1,
      ),
    )
    expect(await readOwner(nameWord(lost), 'mainnet', stack)).toMatch(/^0x0+$/)

    const isHalted = async () =>
      (await readDaemonReadiness(stack.ops)).problems.some((problem) => problem.includes('halted'))
    expect(await waitForCondition(isHalted, DEADLINE_MS)).toBe(true)
    expect((await fetch(`${stack.ops}/ready`)).status).toBe(200)
    const metrics = await (await fetch(`${stack.ops}/metrics`)).text()
    expect(metrics).toContain(
      'clusterd_alarm{alarm="ClusterdChainHalted",network="mainnet",chain="1",subject=""} 1',
    )

    await registerOn('1', await freshWallet('mainnet', stack), [{ name: late }], stack)
    const spokeBlock = async () =>
      (
        await pool.query<{ next_block: number }>(
          `SELECT next_block FROM chains WHERE label = '8453'`,
        )
      ).rows[0]!.next_block
    const before = await spokeBlock()
    expect(await waitForCondition(async () => (await spokeBlock()) > before + 5, DEADLINE_MS)).toBe(
      true,
    )
    expect((await feed()).body.items).toEqual(oldFeed.items)
    expect(await owned(lost)).toBe(true)
    expect(await owned(late)).toBe(false)
    expect(
      (await ask('GET', `/v1/names/register/tx/${lostTx}`, undefined, stack)).body,
    ).toMatchObject({
      status: 'finalized',
    })
  })

  it('is said once in the log, not at every look', () => {
    const said = stack.daemon.logs().match(/halted: a confirmed block was replaced/g)
    expect(said).toHaveLength(1)
  })

  it('can be previewed: a run without --yes shows the changes and makes none', async () => {
    const before = await stateOf()
    report = await rewind({ mainnet: true, chain: '1' })
    expect(report).toMatchObject({
      applied: false,
      label: '1',
      block: firstLost,
      generation: { from: 1, to: 2 },
    })
    expect(report.entries.before - report.entries.after).toBe(2)
    expect(report.events.before - report.events.after).toBe(6)
    const gone = report.names.first.flatMap(({ name, to }) => (to === null ? [name] : []))
    expect(gone.sort()).toEqual([bridged, lost].sort())
    expect(report).toMatchObject({ names: { count: 2 }, withoutEffect: { count: 0 } })
    expect(await stateOf()).toEqual(before)
    expect((await pool.query('SELECT 1 FROM journal WHERE generation > 1')).rowCount).toBe(0)
    const { rows } = await pool.query(`SELECT 1 FROM pg_namespace WHERE nspname LIKE 'rewind%'`)
    expect(rows).toEqual([])
  })

  it('refuses a block that would halt the chain again, and options that don’t fit', async () => {
    const chain = '1'
    await expect(rewind({ chain, block: firstLost + 1, yes: true })).rejects.toThrow(
      `block ${firstLost} of chain "1" has been replaced too: choose ${firstLost} or earlier.`,
    )
    await expect(rewind({ chain, block: 99_999_999 })).rejects.toThrow(
      'is in the journal up to block',
    )
    await expect(rewind({ chain, yes: true })).rejects.toThrow('--yes needs --block')
    await expect(rewind({ chain: '10', block: 5 })).rejects.toThrow('has no chain "10"')
    await expect(rewind({ chain, testnet: true, block: 5 })).rejects.toThrow('belongs to mainnet')
    expect((await stateOf()).generation).toBe(1)
  })

  it('ends by `--yes`: the running daemon goes on from there, and delivers again what vanished', async () => {
    const indexesBefore = await indexesOf()
    const asked = ['fromTimestamp=0', `resume=${oldFeed.resume}`]
    const followed = await Promise.all(
      asked.map((from) => fetch(`${stack.api}/v1/events/stream?${from}`)),
    )
    const applied = await rewindByHand('--chain', '1', '--block', String(firstLost), '--yes')
    expect(applied).toEqual({ ...report, applied: true })
    await until.ready(stack, { deadlineMs: DEADLINE_MS })
    expect(await owned(kept)).toBe(true)
    expect(await owned(lost)).toBe(false)
    expect(await waitForCondition(() => owned(late), DEADLINE_MS)).toBe(true)
    await until.status(stack, bridgedTx, 'finalized')
    expect(await owned(bridged)).toBe(true)
    expect(await indexesOf()).toEqual(indexesBefore)
    const isDelivered = async () =>
      (await pool.query('SELECT state FROM jobs')).rows.every(({ state }) => state === 4)
    expect(await waitForCondition(isDelivered, DEADLINE_MS)).toBe(true)
    // streams end with the generation, and show none of the next
    const texts = await Promise.all(followed.map((response) => response.text()))
    for (const { id } of oldFeed.items) expect(texts[0]).toContain(`"id":"${id}"`)
    for (const [i, text] of texts.entries()) {
      expect(text, asked[i]).not.toContain('"m-2-')
      expect(text, asked[i]).toMatch(
        /\nevent: feed_restarted\ndata: \{"status":409,"error":"feed_restarted".*\}\n\n$/,
      )
    }
    // a dropped transaction may still be mined: its status is not terminal
    const { body } = await ask<{ status: string }>(
      'GET',
      `/v1/names/register/tx/${lostTx}`,
      undefined,
      stack,
    )
    expect(['not_found', 'pending']).toContain(body.status)
  })

  it('leaves the state that the journal gives, and the owners that the contract has', async () => {
    const { live, rebuilt, generation } = await stateOf()
    expect(generation).toBe(2)
    expect(rebuilt).toBe(live)
    const { reader, contracts } = hubOf('mainnet', stack)
    const { rows } = await pool.query<{ name: string; actor: Buffer }>(
      `SELECT n.name, j.actor FROM names n JOIN journal_heads h USING (network)
       JOIN journal j ON j.network = n.network AND j.generation = h.generation AND j.seq = n.seq WHERE n.outcome = 1`,
    )
    const logs = await reader.getContractEvents({
      address: contracts.hub,
      abi: hubAbi,
      eventName: 'Bid',
      fromBlock: 0n,
    })
    const names = rows.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining([kept, late, bridged]))
    expect(names).not.toContain(lost)
    expect(logs).toHaveLength(rows.length)
    for (const { name, actor } of rows) {
      const owner = `0x${'0'.repeat(24)}${actor.toString('hex', 1)}`
      expect(await readOwner(nameWord(name), 'mainnet', stack), name).toBe(owner)
    }
  })

  it('starts the feed anew: ids of the new generation, old tokens refused', async () => {
    const { body } = await feed()
    expect(body.items.map(({ id }) => id)).toEqual(body.items.map((_, i) => `m-2-${i + 1}`))
    expect(body.items.slice(0, 3).map(({ id: _, ...item }) => item)).toEqual(
      oldFeed.items.slice(0, 3).map(({ id: _, ...item }) => item),
    )
    for (const [name, token] of Object.entries({ page: oldToken, end: oldFeed.resume }))
      expect(await feed(`?nextPage=${token}`), name).toMatchObject({
        status: 409,
        body: { error: 'feed_restarted' },
      })
    expect((await feed(`?nextPage=${body.resume}`)).status).toBe(200)
  })

  it('goes on after a restart of the daemon too', async () => {
    await stack.daemon.restart()
    await register('1', freshName('after'), 'finalized')
    await register('8453', freshName('after'), 'finalized')
    const { live, rebuilt, generation } = await stateOf()
    expect({ rebuilt, generation }).toEqual({ rebuilt: live, generation: 2 })
  })
})

/** Each of a network's tables has the indexes that the migrations gave it, whatever they are called. */
async function indexesOf(): Promise<unknown[]> {
  const { rows } = await pool.query(
    `SELECT c.relname, count(*) AS n, count(p.inhparent) AS attached FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid
     LEFT JOIN pg_inherits p ON p.inhrelid = i.indexrelid
     WHERE c.relname ~ '^(names|clusters|wallets|journal)_(mainnet|testnet)$' GROUP BY 1 ORDER BY 1`,
  )
  return rows
}
