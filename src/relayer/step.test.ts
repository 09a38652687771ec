import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  emptyModel,
  executionsOf,
  type Model,
  mine,
  modelSender,
  modelStore,
  reorg,
  usedNonces,
} from '../../test/model/chainModel.js'
import { txOf } from '../../test/model/nonceJobs.js'
import { runsOf } from '../../test/setup/tiers.js'
import { newJob } from '../../test/support/newJob.js'
import { ChainUnavailableError } from '../chains/chain.js'
import { SignerUnavailableError } from '../chains/evm/relayerAccount.js'
import type { EvmJobSender } from '../chains/evm/signer.js'
import { RefusedByNodesError, RpcError } from '../chains/rpc/errors.js'
import { DailyCapError, type EvmJobTx } from '../registry/outbox.js'
import type { SpendPolicy } from './machine/index.js'
import type { EvmJob } from './machine/job.js'
import { parkJobOnceUnmineable, resumeJob } from './machine/job.js'
import { decideJobStep, type JobStepOutcome } from './step.js'

const IDS = ['a', 'b', 'c']
const POLICY: SpendPolicy = {
  spendCapWei: 10n ** 18n,
  gasPriceCapWei: 10n ** 15n,
}

/** An event in a relayer's history. `step` runs one step of one job, `round` three steps of each. */
type Command =
  | { do: 'step'; id: string }
  | { do: 'round' }
  | { do: 'mine' }
  | { do: 'mineEmpty' }
  | { do: 'reorg'; depth: number; isLost: boolean }
  | { do: 'drop' }
  | { do: 'baseFee'; gwei: number }
  | { do: 'pause'; isPaused: boolean }
  | { do: 'lag'; blocks: number }
  | { do: 'time'; ms: number }
  /** The next call at this place fails, or the process dies there, before or after the call's effect. */
  | { do: 'fail' | 'crash'; at: string }
  | { do: 'stranger'; id: string }
  | { do: 'foreignNonce' }
  | { do: 'operator'; id: string; isPark: boolean }

const id = fc.constantFrom(...IDS)
const call = fc.constantFrom('look', 'prepare', 'broadcast', 'broadcasted')
const steps = fc.record({ do: fc.constant('step' as const), id })
const common: fc.Arbitrary<Command>[] = [
  steps,
  steps,
  fc.constant({ do: 'round' } as const),
  fc.constant({ do: 'round' } as const),
  fc.constant({ do: 'mine' } as const),
  fc.constant({ do: 'mine' } as const),
  fc.constant({ do: 'mineEmpty' } as const),
  fc.record({
    do: fc.constant('reorg' as const),
    depth: fc.integer({ min: 1, max: 2 }),
    isLost: fc.boolean(),
  }),
  fc.constant({ do: 'drop' } as const),
  fc.record({ do: fc.constant('baseFee' as const), gwei: fc.integer({ min: 0, max: 40 }) }),
  fc.record({ do: fc.constant('pause' as const), isPaused: fc.boolean() }),
  fc.record({ do: fc.constant('lag' as const), blocks: fc.nat(3) }),
  fc.record({ do: fc.constant('time' as const), ms: fc.constantFrom(1_000, 10_000, 3_600_000) }),
  fc.record({ do: fc.constant('fail' as const), at: call }),
  fc.record({
    do: fc.constant('crash' as const),
    at: fc.oneof(call, fc.constantFrom('save', 'saved')),
  }),
]
const stranger = fc.record({ do: fc.constant('stranger' as const), id })
const foreignNonce = fc.constant({ do: 'foreignNonce' } as const)
const operator = fc.record({ do: fc.constant('operator' as const), id, isPark: fc.boolean() })
const history = (...more: fc.Arbitrary<Command>[]) =>
  fc.array(fc.oneof(...common, ...more), { maxLength: 60, size: 'max' })

class Crash extends Error {}
const AWAY = new ChainUnavailableError('chain "1": no RPC URL answers')

/** A relayer on a model chain. It runs the commands, then continues without faults until all deliveries have ended. */
function relayer(refusesSecond: boolean, policy = POLICY) {
  const model = emptyModel(refusesSecond)
  for (const name of IDS) model.rows.set(name, newJob<EvmJobTx>(name, 'execute', 5n))
  const outcomes: JobStepOutcome[] = []
  let nowMs = 0
  let armed: { at: string; isCrash: boolean } | null = null
  let isDead = false
  const fault = (at: string): void => {
    // a dead process does nothing more, even if its code continues
    if (isDead) throw new Crash()
    if (armed?.at !== at) return
    isDead = armed.isCrash
    armed = null
    throw isDead ? new Crash() : new ChainUnavailableError('socket hang up')
  }
  const portsOf = (name: string) => ({
    sender: modelSender(model, name, fault),
    save: modelStore(model, name, fault),
    clock: { nowMs: () => nowMs, random: () => 0.5 },
  })
  const step = async (name: string): Promise<JobStepOutcome | null> => {
    try {
      const job = model.rows.get(name)!
      const ports = portsOf(name)
      const outcome = await (await decideJobStep(job, ports, policy))()
      if (!isDead) outcomes.push(outcome)
      return outcome
    } catch (error) {
      if (!(error instanceof Crash)) throw error
      return null
    } finally {
      isDead = false
    }
  }
  const run = async (command: Command): Promise<void> => {
    switch (command.do) {
      case 'step':
        await step(command.id)
        break
      case 'round':
        for (const name of [...IDS, ...IDS, ...IDS]) await step(name)
        break
      case 'mine':
        mine(model)
        break
      case 'mineEmpty':
        mine(model, { isEmpty: true })
        break
      case 'reorg':
        reorg(model, command.depth, command.isLost)
        break
      case 'drop':
        model.pool.clear()
        break
      case 'baseFee':
        model.baseFeeWei = BigInt(command.gwei) * 1_000_000_000n
        break
      case 'pause':
        model.isPaused = command.isPaused
        break
      case 'lag':
        model.lag = command.blocks
        break
      case 'time':
        nowMs += command.ms
        break
      case 'fail':
      case 'crash':
        armed = { at: command.at, isCrash: command.do === 'crash' }
        break
      case 'stranger':
        mine(model, { byOthers: [command.id] })
        break
      case 'foreignNonce':
        mine(model, { foreign: 1 })
        break
      case 'operator': {
        const row = model.rows.get(command.id)!
        model.rows.set(command.id, command.isPark ? parkJobOnceUnmineable(row) : resumeJob(row))
      }
    }
  }
  const isOver = () =>
    [...model.rows.values()].every(({ state }) => state === 'confirmed' || state === 'parked')
  const withoutFaults = async (): Promise<void> => {
    armed = null
    Object.assign(model, { isPaused: false, lag: 0, baseFeeWei: 1_000_000_000n })
    for (let round = 0; round < 200 && !isOver(); round++) {
      for (const name of IDS) {
        // runs each job until it has to wait
        for (let i = 0; i < 20; i++) {
          if ((await step(name)) === 'waiting') break
        }
      }
      mine(model)
      nowMs += 3_600_000
    }
  }
  return { model, run, step, withoutFaults, outcomes }
}

async function live(
  commands: readonly Command[],
  refusesSecond: boolean,
  policy?: SpendPolicy,
): Promise<Model> {
  const { model, run, withoutFaults } = relayer(refusesSecond, policy)
  for (const command of commands) await run(command)
  await withoutFaults()
  return model
}
/** What has to hold at the end of every history. */
const every = (
  histories: fc.Arbitrary<Command[]>,
  check: (model: Model) => void,
  { refusesSecond = false, policy = POLICY, numRuns = 500 } = {},
) =>
  fc.assert(
    fc.asyncProperty(histories, async (commands) =>
      check(await live(commands, refusesSecond, policy)),
    ),
    { numRuns: runsOf(numRuns) },
  )

function expectAllOnce(model: Model, when?: string): void {
  for (const [name, { state }] of model.rows)
    expect([state, executionsOf(model, name).length], when).toEqual(['confirmed', 1])
  expect(usedNonces(model)).toBe(model.nextNonce)
}

function expectOnceOrParked(model: Model, why: string): void {
  for (const [name, { state, reason }] of model.rows) {
    expect(executionsOf(model, name).length).toBe(state === 'confirmed' ? 1 : 0)
    if (state !== 'confirmed') expect([state, reason]).toEqual(['parked', why])
  }
}

describe('an error of our own code', () => {
  const mistake = new TypeError("cannot read properties of undefined (reading 'txs')")
  const fails = () => Promise.reject(mistake)

  /** Runs a step of a delivery with a sender whose method fails. */
  const stepWith = async (sender: Partial<EvmJobSender>, job: Partial<EvmJob> = {}) => {
    const model = emptyModel(false)
    const row = { ...newJob<EvmJobTx>('a', 'execute', 5n), ...job }
    model.rows.set('a', row)
    const ports = {
      sender: { ...modelSender(model, 'a', () => {}), ...sender },
      save: modelStore(model, 'a', () => {}),
      clock: { nowMs: () => 1, random: () => 0.5 },
    }
    return (await decideJobStep(row, ports, POLICY))()
  }
  const signed: Partial<EvmJob> = { state: 'signed', nonce: 0, txs: [txOf(1)] }

  it.each<[where: string, sender: Partial<EvmJobSender>, job?: Partial<EvmJob>]>([
    ['reading the view', { look: fails }],
    ['preparing', { prepare: fails }],
    ['signing', { sign: fails }],
    ['sending', { broadcast: fails }, signed],
  ])('is thrown, and no outage: %s', async (_, sender, job) => {
    await expect(stepWith(sender, job)).rejects.toBe(mistake)
  })

  it('is thrown, and does not count as an outage: planning', async () => {
    await expect(stepWith({}, { state: 'sent', nonce: 0, txs: [] })).rejects.toThrow(TypeError)
  })

  it.each<
    [where: string, sender: Partial<EvmJobSender>, outcome: JobStepOutcome, job?: Partial<EvmJob>]
  >([
    ['reading the view', { look: () => Promise.reject(AWAY) }, 'unreachable'],
    ['preparing', { prepare: () => Promise.reject(AWAY) }, 'failed'],
    ['signing', { sign: () => Promise.reject(new SignerUnavailableError('away')) }, 'failed'],
    ['sending', { broadcast: () => Promise.reject(AWAY) }, 'refused', signed],
  ])('is distinguished from a chain that does not answer: %s', async (_, sender, outcome, job) => {
    expect(await stepWith(sender, job)).toBe(outcome)
  })
})

describe('a price that the cap of the day does not allow', () => {
  const rejected = txOf(1, { isRejected: true })
  const REFUSED = new RefusedByNodesError(new RpcError('transient', 'transaction underpriced'))

  it.each<[where: string, release: string | null, txs: EvmJobTx[], isTaken: boolean]>([
    ['frees the nonce of a transaction that no node takes', 'queue', [rejected], false],
    ['frees none where a node takes it now', null, [rejected], true],
    [
      'frees none where a node took an earlier one',
      null,
      [txOf(2, { sentBlock: 0 }), rejected],
      false,
    ],
    ['frees none where no node refused it', null, [txOf(1, { sentBlock: -9 })], false],
  ])('%s', async (_, release, txs, isTaken) => {
    const model = emptyModel(false)
    const row: EvmJob = { ...newJob<EvmJobTx>('a', 'execute', 5n), state: 'signed', nonce: 0, txs }
    model.rows.set('a', row)
    const sender: EvmJobSender = {
      ...modelSender(model, 'a', () => {}),
      sign: () => Promise.reject(new DailyCapError()),
      broadcast: () => (isTaken ? Promise.resolve(0) : Promise.reject(REFUSED)),
    }
    const save = modelStore(model, 'a', () => {})
    const ports = { sender, save, clock: { nowMs: () => 1, random: () => 0.5 } }
    expect(await (await decideJobStep(row, ports, POLICY))()).toBe('failed')
    expect(model.rows.get('a')).toMatchObject({ release, reason: 'daily_cap', nonce: 0 })
  })
})

describe('a delivery', () => {
  it('goes from queued to confirmed step by step', async () => {
    const { model, run, step, outcomes } = relayer(true)
    for (let i = 0; i < 3; i++) await step('a')
    await run({ do: 'mine' })
    for (let i = 0; i < 2; i++) await step('a')
    await run({ do: 'mine' })
    await run({ do: 'mine' })
    for (let i = 0; i < 2; i++) await step('a')
    expect(outcomes).toEqual([
      'signed',
      'sent',
      'waiting',
      'included',
      'waiting',
      'confirmed',
      'waiting',
    ])
    expect(executionsOf(model, 'a')).toHaveLength(1)
  })

  it('survives a crash between any two steps', async () => {
    for (const at of ['look', 'prepare', 'save', 'saved', 'broadcast', 'broadcasted']) {
      for (let before = 0; before < 7; before++) {
        const { model, run, step, withoutFaults } = relayer(false)
        for (let i = 0; i < before; i++) {
          await step('a')
          if (i >= 2) await run({ do: 'mine' })
        }
        await run({ do: 'crash', at })
        await step('a')
        await withoutFaults()
        expectAllOnce(model, `${at} after ${before} steps`)
      }
    }
  })

  it('is executed exactly once under any faults, even by a receiver that accepts it twice', async () => {
    await every(history(), expectAllOnce)
  })

  it('is executed exactly once beside strangers who execute it too, and leaves no gap in the nonces', async () => {
    await every(history(stranger), expectAllOnce, { refusesSecond: true })
  })

  it('never gets another nonce while its first may still be mined, even when others use the key', async () => {
    await every(history(foreignNonce), (model) => expectOnceOrParked(model, 'nonce_taken'), {
      numRuns: 1_000,
    })
  })

  it('can be parked and resumed at any time', async () => {
    await every(history(operator), (model) => {
      expectOnceOrParked(model, 'operator')
      expect(usedNonces(model)).toBe(model.nextNonce)
    })
  })

  it('never costs more than its cap, cancels excepted, and ends parked at the cap or waits for lower fees', async () => {
    const policy = { ...POLICY, spendCapWei: 4n * 10n ** 14n }
    const expectWithin = (model: Model) => {
      for (const [name, { state, reason, nonce }] of model.rows) {
        const isDone = state === 'confirmed'
        expect(executionsOf(model, name).length).toBe(isDone ? 1 : 0)
        const held = [state, reason, nonce]
        const ends = [
          ['parked', 'spend_cap', null],
          ['queued', 'fees_above_cap', null],
        ]
        if (!isDone) expect(ends).toContainEqual(held)
        const burnt = model.blocks
          .flatMap(({ txs }) => txs)
          .filter(({ tx }) => tx.id === name && tx.purpose === 'deliver')
          .reduce((sum, { feeWei }) => sum + feeWei, 0n)
        expect(burnt + 5n).toBeLessThanOrEqual(policy.spendCapWei)
      }
    }
    await every(history(), expectWithin, { policy })
  })

  it('covers every event in some history', async () => {
    const met = new Set<string>()
    await fc.assert(
      fc.asyncProperty(history(stranger), async (commands) => {
        const { run, withoutFaults, outcomes } = relayer(true)
        for (const command of commands) await run(command)
        await withoutFaults()
        for (const outcome of outcomes) met.add(outcome)
      }),
      { numRuns: 500, seed: 1 },
    )
    expect([...met].sort()).toEqual([
      'cancelled',
      'confirmed',
      'expired',
      'failed',
      'included',
      'refused',
      'reorged',
      'replaced',
      'resent',
      'sent',
      'signed',
      'unreachable',
      'waiting',
    ])
  })
})
