import type { Hex } from 'viem'
import { expect } from 'vitest'
import { evmTxStatus } from '../../../src/api/status/evm.js'
import { ChainUnavailableError } from '../../../src/chains/chain.js'
import { createEvmChain, createEvmChainRpc } from '../../../src/chains/evm/chain.js'
import { readChain, registerChain } from '../../../src/db/chains/chains.js'
import { ChainIndexer, MAX_BLOCKS_FOLLOWED_SINGLY } from '../../../src/indexer/evm/chainIndexer.js'
import { CommunityPaymentJudge } from '../../../src/indexer/judge.js'
import { BACKOFF_PAUSES_MS, backoffPauseMs } from '../../../src/ops/waiting.js'
import { fromHex } from '../../../src/registry/primitives/bytes.js'
import { integerBetween, pickElement } from '../../../src/testing/faultProxy/random.js'
import { seededRandomSequence } from '../../support/random.js'
import { type TestClock, useTestClock } from './clock.js'
import { FAULTS, isLasting } from './faults.js'
import type { History, recordHistories, Side } from './histories.js'
import { drawLie, FORGED_NAME, FORGED_TX } from './lies.js'
import { type AskedNode, answerAt } from './node.js'
import type { Recording } from './recording.js'
import { contextOf, readServed, type Served, takenOf } from './served.js'
import type { startServer } from './server.js'

/** Time after the honest node's return within which the service has to go on. */
const RETURN_MS = 10_000
const MOST_STEPS = 200

export type RecordedWorld = Awaited<ReturnType<typeof recordHistories>> & {
  servers: Awaited<ReturnType<typeof startServer>>[]
  restoreTables(): Promise<void>
}

export const MODES = ['first catch-up', 'catch-up', 'live', 'payments', 'payments live'] as const
type Mode = (typeof MODES)[number]

const sideOf = (mode: Mode): Side => (mode.startsWith('payments') ? 'spoke' : 'hub')
const isLive = (mode: Mode): boolean => mode.endsWith('live')

/** Random choices of a run. */
export interface Case {
  history: string
  mode: Mode
  lie: string
  fault: string
  /** Position of the liar among the nodes' URLs, from 1, and their number. */
  liar: string
  /** Steps from the lie's beginning to the honest node's return. */
  steps: number
  /** `by the return`: the service recovered while the liar still lied. `after the lie`: once the liar had stopped. */
  wentOn: 'by the return' | 'after the lie'
}

/** An indexer with the judge of payments, over nodes whose answers the run chooses. */
class Driver {
  failures = 0
  readonly #world: RecordedWorld
  readonly #clock: TestClock
  readonly #recording: Recording
  readonly #nodes: readonly AskedNode[]
  #indexer!: ChainIndexer
  #judge: CommunityPaymentJudge | null = null
  #row!: Awaited<ReturnType<typeof registerChain>>

  constructor(world: RecordedWorld, clock: TestClock, recording: Recording, nodes: AskedNode[]) {
    this.#world = world
    this.#clock = clock
    this.#recording = recording
    this.#nodes = nodes
  }

  get state() {
    return this.#indexer.state
  }

  /** Opens the chain again, like a starting process. */
  async open(): Promise<void> {
    const { pool, epoch, servers } = this.#world
    const rpcUrls = this.#nodes.map((ask, i) => servers[i]!.choose(ask, this.#clock))
    const config = { ...this.#recording.config, rpcUrls }
    const { network, label, chainId, contract, startBlock } = config
    this.#row = await registerChain(pool, {
      network,
      label,
      instance: '',
      family: 'evm',
      chainId,
      genesisHash: fromHex(this.#recording.blocks[0]!.hash),
      contract: fromHex(contract),
      startBlock,
    })
    const chain = createEvmChain({ config, chain: this.#row.chain, rpc: createEvmChainRpc(config) })
    const signal = new AbortController().signal
    this.#indexer = new ChainIndexer({ pool, chain, row: this.#row, epoch, signal })
    if (chain.role === 'spoke')
      this.#judge = new CommunityPaymentJudge({ pool, network: 'mainnet', epoch, ports: [] })
  }

  /** One step of the workers and the pause after it. @returns the step's failure */
  async step(): Promise<Error | null> {
    const { pool } = this.#world
    let failure: Error | null = null
    let isBusy = false
    try {
      const { kind } = await this.#indexer.step()
      if (kind === 'halted') throw new Error(`halted: ${this.state.halted}`)
      isBusy = (kind === 'backfilled' || kind === 'followed') && !this.#indexer.isAtHead
      this.failures = 0
    } catch (error) {
      failure = error as Error
      if (failure.message.startsWith('halted') || failure instanceof TypeError) throw failure
      this.failures += 1
      Object.assign(this.#row, await readChain(pool, this.#row))
    }
    if (this.#judge) await this.#judge.step()
    if (failure) this.#clock.advance(backoffPauseMs(this.failures, BACKOFF_PAUSES_MS.step))
    else if (!isBusy) this.#clock.advance(this.#recording.config.pollMs)
    return failure
  }
}

/** Nodes that serve a recording honestly, which a run may change. */
interface Scene {
  head: number
  isLying: boolean
  fault: string | null
}

/** What the service shows of a history with a single honest node. */
export async function honestRun(world: RecordedWorld, history: History, mode: Mode) {
  const recording = history.sides[sideOf(mode)]
  const head = recording.blocks.length - 1
  return withClock(async (clock) => {
    await begin(world, mode)
    const driver = new Driver(world, clock, recording, [
      (asked) => answerAt(recording, head, asked),
    ])
    await driver.open()
    for (let i = 0; i < 6; i++) expect(await driver.step()).toBe(null)
    expect(driver.state.nextBlock).toBe(head - 1)
    return readServed(world.pool)
  })
}

async function withClock<T>(work: (clock: TestClock) => Promise<T>): Promise<T> {
  const clock = useTestClock()
  try {
    return await work(clock)
  } finally {
    clock.restore()
  }
}

async function begin({ pool, restoreTables }: RecordedWorld, mode: Mode): Promise<void> {
  await restoreTables()
  if (mode === 'first catch-up')
    await pool.query('UPDATE journal_heads SET caught_up = false WHERE network = 0')
}

/** Checks that everything shown is also shown with honest nodes. Feed and journal are a beginning of theirs. */
function expectTrue(shown: Served, truth: Served, what: string): void {
  const { feed, journal, rows } = shown
  expect(feed, `the feed, ${what}`).toEqual(truth.feed.slice(0, feed.length))
  expect(journal, `the journal, ${what}`).toEqual(truth.journal.slice(0, journal.length))
  const known = new Set(truth.rows)
  expect(
    rows.filter((row) => !known.has(row)),
    `confirmed rows, ${what}`,
  ).toEqual([])
}

/** Draws a run's choices from its number. */
function drawCase(world: RecordedWorld, [seed, number]: readonly [number, number]) {
  const random = seededRandomSequence(seed, 'run', number)
  const history = pickElement(random(), world.histories)
  const mode = pickElement(random(), MODES)
  const side = sideOf(mode)
  const recording = history.sides[side]
  const busy = history.busy[side]
  const size = random() < 0.7 ? 2 : 3
  const place = integerBetween(random(), 0, size - 1)
  const fault = pickElement(random(), Object.keys(FAULTS))
  const extent = random()
  const targets = isLive(mode) ? [pickElement(random(), busy)] : busy
  const lie = drawLie(recording, targets, random)
  const isOneSteady = size === 3 && random() < 0.5
  const whose = lie.hasOwnRecord ? ' with its own record' : ''
  return {
    random,
    history,
    mode,
    recording,
    size,
    place,
    fault,
    extent,
    lie,
    isOneSteady,
    /** Head of a live run before the block that the lie is about. */
    before: targets[0]! - 1,
    label: `run ${number} of seed ${seed}: ${history.shape}, ${mode}, node ${place + 1} of ${size} ${lie.kind}${whose} beside one that ${fault}`,
  }
}

type Drawn = ReturnType<typeof drawCase>

/** The liar at its position among honest nodes, one of which may be without faults. */
function nodesOf(drawn: Drawn, scene: Scene): AskedNode[] {
  const { recording, lie, size, place, extent, isOneSteady } = drawn
  const liar: AskedNode = (asked) => {
    if (!scene.isLying) return answerAt(recording, scene.head, asked)
    const shown = lie.at(scene.head)
    return answerAt(shown.recording, scene.head + shown.headOffset, asked)
  }
  const honest = (isSteady: boolean): AskedNode => {
    let count = 0
    return (asked) => {
      const node = { recording, head: scene.head, extent }
      const fault = isSteady || scene.fault === null ? null : FAULTS[scene.fault]!
      const reply = fault ? fault({ ...asked, count: count++ }, node) : null
      return reply ?? answerAt(recording, scene.head, asked)
    }
  }
  const nodes = Array.from({ length: size - 1 }, (_, i) => honest(isOneSteady && i === 0))
  return nodes.toSpliced(place, 0, liar)
}

/**
 * One run of a liar beside an honest node with faults. Nothing false may be shown after any step, and the service has
 * to recover in time.
 * @param truthOf what the service shows of a history with an honest node
 */
export async function falteringRun(
  world: RecordedWorld,
  truthOf: (history: History, mode: Mode) => Served,
  number: readonly [seed: number, run: number],
): Promise<Case> {
  const drawn = drawCase(world, number)
  const { random, history, mode, recording, size, place, fault, lie, label } = drawn
  const truth = truthOf(history, mode)
  const newest = recording.blocks.length - 1
  const scene: Scene = { head: newest, isLying: false, fault: null }

  return withClock(async (clock) => {
    await begin(world, mode)
    const driver = new Driver(world, clock, recording, nodesOf(drawn, scene))
    const check = async () => {
      const shown = await readServed(world.pool)
      expectTrue(shown, truth, label)
      expect(await takenOf(world.pool, [FORGED_NAME]), label).toEqual([])
      return shown
    }
    /** Steps until everything is shown. @returns null, or the position after the time limit */
    const goOn = async (): Promise<string | null> => {
      const endMs = clock.nowMs + RETURN_MS
      let last: Error | null = null
      for (let i = 0; i < MOST_STEPS && clock.nowMs <= endMs; i++) {
        last = await driver.step()
        const shown = await check()
        if (!last && driver.state.nextBlock === scene.head - 1 && isWhole(shown, truth)) return null
      }
      return `stands at block ${driver.state.nextBlock} of ${scene.head - 1}: ${last?.message}`
    }

    if (isLive(mode)) scene.head = drawn.before
    await driver.open()
    if (isLive(mode)) {
      while (driver.state.nextBlock < scene.head - 1) expect(await driver.step(), label).toBe(null)
      scene.head += integerBetween(random(), 1, 4)
    }

    scene.isLying = true
    scene.fault = fault
    const steps = integerBetween(random(), 1, 8)
    for (let i = 0; i < steps; i++) {
      if (random() < 0.1) await driver.open()
      const wasCaughtUp = driver.state.isCaughtUp
      await driver.step()
      await check()
      if (mode === 'first catch-up' && driver.state.isCaughtUp && !wasCaughtUp)
        expect(driver.state.nextBlock, label).toBeGreaterThan(
          scene.head - 2 - MAX_BLOCKS_FOLLOWED_SINGLY,
        )
      if (isLive(mode) && random() < 0.6) scene.head += integerBetween(random(), 1, 3)
    }
    expect(await statusOf(world, FORGED_TX), label).not.toBe('finalized')

    // the honest node returns; a permanent limit may stay
    const isLimited = isLasting(fault) && random() < 0.5
    if (!isLimited) scene.fault = null
    if (isLive(mode)) scene.head = newest
    const stands = await goOn()
    const hasToGoOn = !isLimited && (lie.isRefuted || size === 3)
    if (hasToGoOn) expect(`${stands}`, `${label}, after the return`).toBe('null')
    if (stands) {
      scene.isLying = false
      expect(`${await goOn()}`, `${label}, after the lie`).toBe('null')
    }
    return {
      history: history.shape,
      mode,
      lie: lie.kind,
      fault,
      liar: `${place + 1} of ${size}`,
      steps,
      wentOn: stands ? 'after the lie' : 'by the return',
    }
  })
}

/** Status of a transaction that no chain has. */
async function statusOf({ pool }: RecordedWorld, tx: Hex): Promise<string> {
  try {
    return (await evmTxStatus(contextOf(pool), tx)).status
  } catch (error) {
    if (error instanceof ChainUnavailableError) return 'not_found'
    throw error
  }
}

const isWhole = (shown: Served, truth: Served): boolean =>
  shown.feed.length === truth.feed.length &&
  shown.journal.length === truth.journal.length &&
  shown.rows.length === truth.rows.length
