import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Context } from '../../src/api/http/context.js'
import { createRequestContexts, evmChainsOfNetwork } from '../../src/api/http/context.js'
import type { TxStatus } from '../../src/api/status/decide.js'
import { evmTxStatus } from '../../src/api/status/evm.js'
import type { ChainPort } from '../../src/chains/chain.js'
import { createEvmChain, createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { findUnconfirmedTx } from '../../src/db/transactions/bids.js'
import { findTrackedTx } from '../../src/db/transactions/transactions.js'
import type { ChainIndexer } from '../../src/indexer/evm/chainIndexer.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { isTerminalStatus } from '../../src/registry/status.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import type { HubWorld } from '../support/hubWorld.js'
import { holdBlocks } from '../support/miner.js'
import { BASE_GAS_PRICE_WEI, type HubChain, openHubChain } from './hubChain.js'
import { CONFIRMATION_BLOCKS, expectedOf, type KnownTx } from './statusExpected.js'

/**
 * Status against a small model of its own: the expected status follows from the chain's plain facts (where each
 * transaction is, in which order bids came) and from what was asked before, by none of the project's rules.
 */

const SENDERS = 3
const NAMES = 4

interface Tracked extends KnownTx {
  /** The first terminal answer. */
  terminal: TxStatus | null
}

/** State that fast-check keeps beside the real system. */
interface Model {
  txs: Tracked[]
}

interface Real {
  chain: HubChain
  world: HubWorld
  context: () => Promise<Context>
  /** Another process, which caches answers of chains for a while, as it does for anonymous requests. */
  elsewhere: Context
  indexer: ChainIndexer
  /** The first block of this run. */
  base: number
  names: readonly string[]
  /** The journal and the tail are as the chain is now. */
  isIndexed: boolean
  counts: Map<string, number>
}

type Command = fc.AsyncCommand<Model, Real>

const command = (
  name: string,
  check: (m: Model) => boolean,
  run: (m: Model, r: Real) => Promise<void>,
): Command => ({
  check,
  run: async (model, real) => {
    const kind = name.replace(/\(.*/, '')
    real.counts.set(kind, (real.counts.get(kind) ?? 0) + 1)
    await run(model, real)
  },
  toString: () => name,
})

const pick = <T>(items: readonly T[], at: number): T => items[at % items.length]!
const hasTxs = ({ txs }: Model): boolean => txs.length > 0

const send = (sender: number, names: readonly number[], isPoor: boolean): Command =>
  command(
    `send(${sender}, ${names}, ${isPoor})`,
    () => true,
    async (model, real) => {
      // after what it has sent already
      const held = await Promise.all(
        model.txs
          .filter((tx) => tx.sender === sender)
          .map(async (tx) => ((await real.chain.place(tx)).at === 'mempool' ? tx.nonce + 1 : 0)),
      )
      const nonce = Math.max(await real.chain.nextNonce(sender), ...held)
      const tx = await real.chain.sign({
        sender,
        nonce,
        names: [...new Set(names)].map((i) => pick(real.names, i)),
        isPoor,
        gasPriceWei: BASE_GAS_PRICE_WEI,
      })
      await real.chain.send(tx)
      if (!model.txs.some(({ hash }) => hash === tx.hash))
        model.txs.push({ ...tx, isRemembered: false, terminal: null })
    },
  )

/** A replacement with the same nonce at a higher price: the same registration, another one, or none. */
const replace = (at: number, names: readonly number[] | 'same' | null): Command =>
  command(`replace(${at}, ${names})`, hasTxs, async (model, real) => {
    const old = pick(model.txs, at)
    const highest = model.txs.filter(
      ({ sender, nonce }) => sender === old.sender && nonce === old.nonce,
    )
    const gasPriceWei =
      (highest.reduce((max, tx) => (tx.gasPriceWei > max ? tx.gasPriceWei : max), 0n) * 3n) / 2n
    const asked = names === 'same' ? old.names : (names?.map((i) => pick(real.names, i)) ?? null)
    const tx = await real.chain.sign({
      ...old,
      names: asked && [...new Set(asked)],
      isPoor: false,
      gasPriceWei,
    })
    await real.chain.send(tx)
    model.txs.push({ ...tx, isRemembered: false, terminal: null })
  })

const onChain = (
  name: string,
  check: (m: Model) => boolean,
  run: (m: Model, r: Real) => Promise<void>,
): Command =>
  command(name, check, async (model, real) => {
    await run(model, real)
    real.isIndexed = false
  })

const drop = (at: number) =>
  command(`drop(${at})`, hasTxs, ({ txs }, { chain }) => chain.drop(pick(txs, at)))
const duplicate = (at: number) =>
  command(`duplicate(${at})`, hasTxs, ({ txs }, { chain }) => chain.send(pick(txs, at)))
const mine = (blocks: number) =>
  onChain(
    `mine(${blocks})`,
    () => true,
    (_, { chain }) => chain.mine(blocks),
  )

/** Reorgs no confirmed block; some mined transactions return, as from other nodes' mempools. */
const reorg = (depth: number, comesBack: boolean): Command =>
  onChain(
    `reorg(${depth}, ${comesBack})`,
    () => true,
    async ({ txs }, { chain, base }) => {
      const head = await chain.head()
      const possible = Math.min(depth, head - base)
      if (possible < 1) return
      const mined = await Promise.all(txs.map(async (tx) => ({ tx, place: await chain.place(tx) })))
      await chain.reorg(possible)
      if (!comesBack) return
      for (const { tx, place } of mined)
        if (place.at === 'mined' && place.block > head - possible) await chain.send(tx)
    },
  )

const index = (): Command =>
  command(
    'index',
    () => true,
    (_, real) => catchUp(real),
  )
const restart = (): Command =>
  command(
    'restart',
    () => true,
    async (_, real) => {
      real.indexer = await real.world.restart()
      real.isIndexed = false
    },
  )
const step = (): Command =>
  command(
    'step',
    () => true,
    async (_, { indexer }) => void (await indexer.step()),
  )
const poll = (at: number): Command =>
  command(`poll(${at})`, hasTxs, ({ txs }, real) => check(txs, pick(txs, at), real))

/** Asks another process, which may answer what was true a moment ago: for ever it says what is true now. */
const pollElsewhere = (at: number): Command =>
  command(`pollElsewhere(${at})`, hasTxs, async ({ txs }, real) => {
    const tx = pick(txs, at)
    const answer = await evmTxStatus(real.elsewhere, tx.hash)
    const about = `${tx.hash} elsewhere: ${JSON.stringify(answer)}`
    if (!isTerminalStatus(answer.status)) {
      // what is remembered is in the tables, for all processes
      if (tx.isRemembered) assert.equal(tx.terminal, null, about)
      if (answer.status === 'pending' && !(await isLeftover(tx, real)))
        await isRemembered(tx, real, about)
      return
    }
    const { status, outcomes } = await expectedOf(txs, tx, real)
    assert.equal(answer.status, tx.terminal?.status ?? status, about)
    const names = answer.names?.map(({ outcome }) => outcome)
    if (outcomes && !tx.terminal) assert.deepEqual(names, outcomes, about)
    tx.terminal ??= answer
  })

/** A reorg took the transaction from the chain and the indexer has not seen it yet: nobody can tell its nonce. */
async function isLeftover(tx: Tracked, { chain, world, elsewhere }: Real): Promise<boolean> {
  if ((await chain.place(tx)).at !== 'nowhere') return false
  return (
    (await findUnconfirmedTx(
      world.pool,
      'mainnet',
      evmChainsOfNetwork(elsewhere)[0]!.chain,
      fromHex(tx.hash),
    )) !== null
  )
}

async function catchUp(real: Real): Promise<void> {
  for (;;) {
    const { kind } = await real.indexer.step()
    if (kind === 'halted') throw new Error('a reorg within the policy halted the chain')
    if (kind === 'idle') break
  }
  real.isIndexed = true
}

/** Asks for a status and holds it against the model. */
async function check(txs: readonly Tracked[], tx: Tracked, real: Real): Promise<void> {
  const { chain } = real
  const expected = await expectedOf(txs, tx, real)
  const place = await chain.place(tx)
  const context = await real.context()
  const answer = await evmTxStatus(context, tx.hash)
  const about = `${tx.hash} (${place.at}): ${JSON.stringify(answer)}`
  if (tx.terminal) {
    const { status, names } = tx.terminal
    assert.deepEqual({ status: answer.status, names: answer.names }, { status, names }, about)
    return
  }
  // a lagging indexer may answer less, never something else
  const allowed = real.isIndexed ? [expected.status] : [expected.status, 'pending']
  assert.ok(allowed.includes(answer.status), `${about}, not ${allowed.join(' or ')}`)
  if (isTerminalStatus(answer.status)) {
    if (expected.outcomes)
      assert.deepEqual(
        answer.names?.map(({ outcome }) => outcome),
        expected.outcomes,
        about,
      )
    tx.terminal = answer
  }
  if (place.at !== 'nowhere' && !isTerminalStatus(answer.status))
    await isRemembered(tx, real, about)
}

/** Waits until a transaction is remembered: one in the tail is so behind the caller's back. */
async function isRemembered(tx: Tracked, { world }: Real, about: string): Promise<void> {
  // a cancel names no contract of ours
  if (!tx.names) return
  const isKept = async () =>
    (await findTrackedTx(world.pool, 'mainnet', fromHex(tx.hash)))?.nonce === tx.nonce
  assert.ok(await waitForCondition(isKept, 5_000), `${about} is not remembered`)
  tx.isRemembered = true
}

const names = fc.array(fc.nat({ max: NAMES - 1 }), { minLength: 1, maxLength: 2 })
const at = fc.nat({ max: 30 })
/** Commands, each about as frequent as its entries here. */
const COMMANDS = [
  fc
    .tuple(fc.nat({ max: SENDERS - 1 }), names, fc.integer({ min: 0, max: 5 }))
    .map(([s, n, poor]) => send(s, n, poor === 0)),
  fc.tuple(fc.nat({ max: SENDERS - 1 }), names).map(([s, n]) => send(s, n, false)),
  fc.tuple(at, fc.constantFrom('same' as const, null)).map(([i, n]) => replace(i, n)),
  fc.tuple(at, names).map(([i, n]) => replace(i, n)),
  at.map(drop),
  at.map(duplicate),
  fc.integer({ min: 1, max: 3 }).map(mine),
  fc.constant(1).map(mine),
  fc
    .tuple(fc.integer({ min: 1, max: CONFIRMATION_BLOCKS }), fc.boolean())
    .map(([d, b]) => reorg(d, b)),
  fc.constant(null).map(index),
  fc.constant(null).map(step),
  fc.constant(null).map(restart),
  at.map(poll),
  at.map(poll),
  at.map(poll),
  at.map(pollElsewhere),
]

/**
 * Does commands in any order on a real chain and database, and holds every status against the model. Each run ends by
 * confirming all: what was mined is terminal then, and the owners are those of the contract.
 * @returns how often each command was done, and how many runs there were
 * @throws what fast-check throws: the shortest failing sequence it found, with its seed
 */
export async function runStatusModel(world: HubWorld, runs: number): Promise<Map<string, number>> {
  const chain = openHubChain(world)
  const { row } = await world.open()
  const rpc = createEvmChainRpc(world.config)
  // a port of its own for each question: it holds the head for a moment, which commands outrun
  const contextOf = (port: ChainPort): Context =>
    createRequestContexts({
      pool: world.pool,
      config: { serviceDomain: 'localhost', tokenKey: Buffer.alloc(32, 7) },
      chains: [port],
    }).mainnet
  const open = () => createEvmChain({ config: world.config, chain: row.chain, rpc })
  const context = async () => contextOf(open())
  const counts = new Map<string, number>()
  let run = 0
  const setUp = async (): Promise<{ model: Model; real: Real }> => {
    run += 1
    counts.set('runs', run)
    await chain.clearMempool()
    await chain.mine(CONFIRMATION_BLOCKS + 1)
    const label = `model-${run}-${Date.now().toString(36)}`
    const real: Real = {
      chain,
      world,
      context,
      elsewhere: contextOf(open().forStrangers()),
      counts,
      indexer: await world.restart(),
      base: await chain.head(),
      names: Array.from({ length: NAMES }, (_, i) => `${label}-${i}`),
      isIndexed: false,
    }
    await catchUp(real)
    return { model: { txs: [] }, real }
  }
  await holdBlocks(world)
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.commands(COMMANDS, { maxCommands: 40, size: 'max' }),
        async (commands) => {
          const { model, real } = await setUp()
          await fc.asyncModelRun(() => ({ model, real }), commands)
          await settle(model, real)
        },
      ),
      { numRuns: runs },
    )
  } finally {
    await world.test.setAutomine(true)
  }
  return counts
}

async function settle({ txs }: Model, real: Real): Promise<void> {
  await real.chain.mine(CONFIRMATION_BLOCKS + 1)
  await catchUp(real)
  for (const tx of txs) await check(txs, tx, real)
  for (const tx of txs) {
    if ((await real.chain.place(tx)).at === 'mined') assert.ok(tx.terminal, `${tx.hash} was mined`)
    await check(txs, tx, real)
  }
}
