import { afterEach, describe, expect, it, vi } from 'vitest'
import type { NonceView } from '../chains/evm/jobView.js'
import type { NonceSender } from '../chains/evm/signer.js'
import { armFailpoint } from '../ops/failpoint.js'
import type { NonceTx } from '../registry/outbox.js'
import type { Event, Policy, Seen } from './machine/index.js'
import { type NonceJob, newJob } from './machine/job.js'
import { carryOut, type Decision, decide, type Outcome, type Ports } from './step.js'

const POLICY: Policy = { spendCapWei: 10n ** 18n, replaceAfterBlocks: 2, pollMs: 1_000, gasPriceCapWei: 10n ** 15n }
const FEES = { maxFeePerGas: 20n, maxPriorityFeePerGas: 2n }
const NOW = 1_000
const queued = newJob<NonceTx>('a', 'execute', 5n)
const tx: NonceTx = {
  ...{ hash: '0xaa', raw: '0xbb', purpose: 'deliver', gas: 100n, valueWei: 5n, ...FEES },
  ...{ sentBlock: null, isRejected: false },
}
const signed: NonceJob = { ...queued, state: 'signed', nonce: 7, txs: [tx] }
const view: NonceView = { head: 10, done: 'no', nonce: 'next', mined: null, isSure: true }
const seen: Seen = { ...view, nowMs: NOW, random: 0.5, searched: 0, prepared: null }
const deed = (given: Extract<Decision, { deed: unknown }>['deed']): Decision => ({ deed: given, seen })

/** A chain and a database that answer as told, and what they were asked. */
function ports(answers: Partial<NonceSender> = {}, isStored = true) {
  const log: string[] = []
  const saved: NonceJob[] = []
  const save = async (after: NonceJob) => {
    log.push('save')
    saved.push(after)
    return isStored
  }
  const never = () => Promise.reject(new Error('not to be asked'))
  const given: Ports = {
    sender: {
      ...{ look: never, search: never, prepare: never, broadcast: never },
      sign: async (order) => {
        log.push(`sign ${order.nonce}`)
        return { hash: '0xaa', raw: '0xbb' }
      },
      ...answers,
    },
    store: { save, saveWithNonce: async (build) => save(await build(7)) },
    clock: { nowMs: () => NOW, random: () => 0.5 },
  }
  return { given, log, saved }
}
const look = async () => view

describe('a decision', () => {
  it('needs no look once the job has ended', async () => {
    for (const state of ['confirmed', 'parked'] as const)
      expect(await decide({ ...queued, state }, ports().given, POLICY)).toEqual({ ended: true })
  })

  it('comes with what was seen: the view, the moment, nothing searched or prepared', async () => {
    const decision = await decide(signed, ports({ look }).given, POLICY)
    expect(decision).toEqual({ deed: { do: 'broadcast', tx }, seen })
  })

  it('prepares for the purpose and signs for what that gives', async () => {
    const asked: string[] = []
    const prepare: NonceSender['prepare'] = async ({ id }, purpose) => {
      asked.push(`${id}: ${purpose}`)
      return { gas: 100n, fees: FEES }
    }
    const decision = await decide(queued, ports({ look, prepare }).given, POLICY)
    expect(asked).toEqual(['a: deliver'])
    expect(decision).toEqual({
      deed: { do: 'sign', purpose: 'deliver', nonce: null, gas: 100n, fees: FEES, valueWei: 5n },
      seen: { ...seen, prepared: { gas: 100n, fees: FEES } },
    })
  })

  it('counts a preparation that fails as an attempt', async () => {
    const prepare = () => Promise.reject(new Error('nonce too low'))
    const decision = await decide(queued, ports({ look, prepare }).given, POLICY)
    expect(decision).toMatchObject({ deed: { do: 'record', event: { is: 'failed', failure: { class: 'used' } } } })
  })

  it('searches every node once for a nonce that is used without a receipt', async () => {
    const mined = { hash: '0xaa', block: 9, succeeded: true, feeWei: 3n, isConfirmed: true } as const
    const used = async () => ({ ...view, nonce: 'confirmed' as const })
    const all = (found: typeof mined | null, searched = 2) => ({ mined: found, nonce: 'confirmed' as const, searched })
    const found = await decide(signed, ports({ look: used, search: async () => all(mined) }).given, POLICY)
    expect(found).toEqual({
      deed: { do: 'record', event: { is: 'confirmed', feeWei: 3n } },
      seen: { ...seen, nonce: 'confirmed', mined, searched: 2 },
    })
    const lost = await decide(signed, ports({ look: used, search: async () => all(null) }).given, POLICY)
    expect(lost).toMatchObject({ deed: { do: 'record', event: { is: 'parked', reason: 'nonce_taken' } } })
    const alone = await decide(signed, ports({ look: used, search: async () => all(null, 1) }).given, POLICY)
    expect(alone).toMatchObject({ deed: { do: 'record', event: { is: 'failed', failure: { reason: 'nonce_used' } } } })
  })

  it('sends on where another node says that the nonce is unused', async () => {
    const used = async () => ({ ...view, nonce: 'confirmed' as const })
    const search = async () => ({ mined: null, nonce: 'next' as const, searched: 2 })
    const decision = await decide(signed, ports({ look: used, search }).given, POLICY)
    expect(decision).toMatchObject({ deed: { do: 'broadcast' } })
  })

  it('says why the chain could not be asked', async () => {
    const away = () => Promise.reject(new Error('socket hang up'))
    expect(await decide(signed, ports({ look: away }).given, POLICY)).toEqual({
      failure: { class: 'transient', reason: 'unreachable' },
    })
  })
})

describe('a deed', () => {
  const failure = { class: 'transient', reason: 'unreachable' } as const

  it('that is none stores nothing', async () => {
    const { given, log } = ports()
    expect(await carryOut(queued, { ended: true }, given)).toEqual({ outcome: 'ended' })
    expect(await carryOut(queued, deed({ do: 'rest' }), given)).toEqual({ outcome: 'ended' })
    expect(await carryOut(queued, { failure }, given)).toEqual({ outcome: 'unreachable', failure })
    const wait = deed({ do: 'wait', untilMs: 9, why: 'receipt' })
    expect(await carryOut(queued, wait, given)).toEqual({ outcome: 'waiting', untilMs: 9, why: 'receipt' })
    expect(log).toEqual([])
  })

  it.each<[Event<NonceTx>, Outcome]>([
    [{ is: 'included', hash: '0xaa', block: 9 }, { outcome: 'included' }],
    [{ is: 'reorged' }, { outcome: 'reorged' }],
    [{ is: 'confirmed', feeWei: 3n }, { outcome: 'confirmed' }],
    [{ is: 'parked', reason: 'spend_cap' }, { outcome: 'parked' }],
    [
      { is: 'failed', failure },
      { outcome: 'failed', failure },
    ],
    [
      { is: 'expired', feeWei: 3n, reason: 'reverted' },
      { outcome: 'expired', reason: 'reverted' },
    ],
  ])('that records an event (%#) tells it once it is stored', async (event, outcome) => {
    const { given, saved } = ports()
    expect(await carryOut(signed, deed({ do: 'record', event }), given)).toEqual(outcome)
    expect(saved).toHaveLength(1)
    expect(await carryOut(signed, deed({ do: 'record', event }), ports({}, false).given)).toEqual({ outcome: 'stale' })
  })

  it.each([
    ['signed', 'deliver', null],
    ['replaced', 'deliver', 7],
    ['cancelled', 'cancel', 7],
  ] as const)(
    'that signs is %s for purpose %s and nonce %s, and stores the transaction as unsent',
    async (...given) => {
      const [outcome, purpose, nonce] = given
      const order = deed({ do: 'sign', purpose, nonce, gas: 100n, fees: FEES, valueWei: 5n })
      const orders: unknown[] = []
      const sign: NonceSender['sign'] = async (asked) => {
        orders.push(asked)
        return { hash: '0xcc', raw: '0xdd' }
      }
      const { given: open, saved } = ports({ sign })
      expect(await carryOut(queued, order, open)).toEqual({ outcome })
      expect(orders).toEqual([{ purpose, nonce: 7, gas: 100n, fees: FEES, valueWei: 5n }])
      expect(saved).toEqual([
        { ...queued, state: 'signed', nonce: 7, txs: [{ ...tx, hash: '0xcc', raw: '0xdd', purpose }] },
      ])
      expect(await carryOut(queued, order, ports({ sign }, false).given)).toEqual({ outcome: 'stale' })
    },
  )
})

describe('a broadcast', () => {
  const broadcasts = (sent: NonceTx) => deed({ do: 'broadcast', tx: sent })
  const at =
    (block: number | null): NonceSender['broadcast'] =>
    () =>
      Promise.resolve(block)

  it.each([
    ['a later one', 12, 12],
    ['an earlier one', 8, 10],
    ['none', null, 10],
  ])('is stored at the highest head known when the node tells %s', async (_, told, sentBlock) => {
    const { given, saved } = ports({ broadcast: at(told) })
    expect(await carryOut(signed, broadcasts(tx), given)).toEqual({ outcome: 'sent' })
    expect(saved).toEqual([{ ...signed, state: 'sent', txs: [{ ...tx, sentBlock }] }])
  })

  it('is a resend once a node has had the transaction, unless it changes nothing or is refused', async () => {
    const again = { ...tx, sentBlock: 3 }
    expect(await carryOut(signed, broadcasts(again), ports({ broadcast: at(9) }).given)).toEqual({ outcome: 'resent' })
    const stale = await carryOut(signed, broadcasts(again), ports({ broadcast: at(9) }, false).given)
    expect(stale).toEqual({ outcome: 'stale' })
    const refuse = () => Promise.reject(new Error('nonce too low'))
    expect(await carryOut(signed, broadcasts(again), ports({ broadcast: refuse }).given)).toMatchObject({
      ...{ outcome: 'refused', failure: { class: 'used' } },
    })
  })

  it('of a transaction the node knows already is sent', async () => {
    const { given, saved } = ports({ broadcast: () => Promise.reject(new Error('already known')) })
    expect(await carryOut(signed, broadcasts(tx), given)).toEqual({ outcome: 'sent' })
    expect(saved).toMatchObject([{ state: 'sent', txs: [{ sentBlock: 10 }] }])
  })

  it('that is refused for its fees is marked, so that it is replaced', async () => {
    const { given, saved } = ports({ broadcast: () => Promise.reject(new Error('transaction underpriced')) })
    expect(await carryOut(signed, broadcasts(tx), given)).toMatchObject({ outcome: 'refused' })
    expect(saved).toMatchObject([{ state: 'signed', failures: 1, txs: [{ hash: '0xaa', isRejected: true }] }])
  })
})

describe('a kill', () => {
  afterEach(() => {
    armFailpoint(undefined)
    vi.restoreAllMocks()
  })
  /** What had happened when the process would have been killed at a point. */
  async function killedAt(point: string, decision: Decision): Promise<string[] | null> {
    const { given, log } = ports({
      broadcast: async () => {
        log.push('broadcast')
        return 11
      },
    })
    let before: string[] | null = null
    vi.spyOn(process, 'kill').mockImplementation(() => {
      before = [...log]
      return true
    })
    armFailpoint(point)
    await carryOut(signed, decision, given)
    return before
  }
  const sign = deed({ do: 'sign', purpose: 'deliver', nonce: null, gas: 100n, fees: FEES, valueWei: 5n })
  const broadcast = deed({ do: 'broadcast', tx })

  it('can fall between signing and storing, and after storing', async () => {
    expect(await killedAt('relay.sign', sign)).toEqual(['sign 7'])
    expect(await killedAt('relay.signed', sign)).toEqual(['sign 7', 'save'])
  })

  it('can fall between sending and storing, and after storing', async () => {
    expect(await killedAt('relay.broadcast', broadcast)).toEqual(['broadcast'])
    expect(await killedAt('relay.sent', broadcast)).toEqual(['broadcast', 'save'])
    expect(await killedAt('relay.sign', broadcast)).toBeNull()
  })
})
