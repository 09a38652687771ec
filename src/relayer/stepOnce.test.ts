import { afterEach, describe, expect, it, vi } from 'vitest'
import { fees, NOW, policy, prepared, queued, seen, signed, txOf } from '../../test/model/nonceJobs.js'
import type { NonceView } from '../chains/evm/jobView.js'
import type { NonceSender } from '../chains/evm/signer.js'
import { armFailpoint } from '../ops/failpoint.js'
import type { NonceTx } from '../registry/outbox.js'
import type { NonceJob } from './machine/job.js'
import { carryOut, type Decision, decide, type Ports } from './step.js'

const tx = txOf(1)
const view: NonceView = { head: 50, done: 'no', nonce: 'next', mined: null, isSure: true }
const deed = (given: Extract<Decision, { deed: unknown }>['deed']): Decision => ({ deed: given, seen: seen() })
const refusedWith = (words: string) => () => Promise.reject(new Error(words))

/** A chain and a database that answer as told, and what they were asked. */
function ports(answers: Partial<NonceSender> = {}, isStored = true) {
  const log: string[] = []
  const saved: NonceJob[] = []
  const save = async (after: NonceJob) => {
    log.push('save')
    saved.push(after)
    return isStored
  }
  const never = refusedWith('not to be asked')
  const sign: NonceSender['sign'] = async (order) => {
    log.push(`sign ${order.nonce}`)
    return { hash: '0x1', raw: '0x11' }
  }
  const given: Ports = {
    sender: { look: async () => view, search: never, prepare: never, broadcast: never, sign, ...answers },
    store: { save, saveWithNonce: async (build) => save(await build(3)) },
    clock: { nowMs: () => NOW, random: () => 0.5 },
  }
  return { given, log, saved }
}

describe('a decision', () => {
  it('prepares for the purpose and signs for what that gives', async () => {
    const decision = await decide(queued, ports({ prepare: async () => prepared }).given, policy)
    const order = { do: 'sign', purpose: 'deliver', nonce: null, ...prepared, valueWei: 7n }
    expect(decision).toEqual({ deed: order, seen: seen({ prepared }) })
  })

  it('counts a preparation that fails as an attempt', async () => {
    const decision = await decide(queued, ports({ prepare: refusedWith('nonce too low') }).given, policy)
    expect(decision).toMatchObject({ deed: { do: 'record', event: { is: 'failed', failure: { class: 'used' } } } })
  })

  it.each([
    ['a receipt somewhere', 'confirmed', true, { event: { is: 'confirmed', feeWei: 3n } }],
    ['none anywhere', 'confirmed', false, { event: { is: 'parked', reason: 'nonce_taken' } }],
    ['a node that calls it unused', 'next', false, { do: 'broadcast' }],
  ] as const)('asks every node about a nonce that is used: %s', async (_, nonce, isMined, found) => {
    const receipt = { hash: tx.hash, block: 9, succeeded: true, feeWei: 3n, isConfirmed: true } as const
    const look = async () => ({ ...view, nonce: 'confirmed' as const })
    const search = async () => ({ mined: isMined ? receipt : null, nonce, searched: 2 })
    expect(await decide(signed, ports({ look, search }).given, policy)).toMatchObject({ deed: found })
  })

  it('says why the chain could not be asked, and stores nothing then', async () => {
    const { given, log } = ports({ look: refusedWith('socket hang up') })
    const decision = await decide(signed, given, policy)
    const failure = { class: 'transient', reason: 'unreachable' }
    expect(decision).toEqual({ failure })
    expect(await carryOut(signed, decision, given)).toEqual({ outcome: 'unreachable', failure })
    expect(log).toEqual([])
  })
})

describe('a signature', () => {
  it.each([
    ['signed', 'deliver', null],
    ['replaced', 'deliver', 3],
    ['cancelled', 'cancel', 3],
  ] as const)('is stored before anything is sent: %s', async (outcome, purpose, nonce) => {
    const order = deed({ do: 'sign', purpose, nonce, gas: 1_000n, fees, valueWei: 7n })
    const { given, saved } = ports()
    expect(await carryOut(queued, order, given)).toEqual({ outcome })
    expect(saved).toEqual([{ ...queued, state: 'signed', nonce: 3, txs: [{ ...tx, purpose }] }])
    expect(await carryOut(queued, order, ports({}, false).given)).toEqual({ outcome: 'stale' })
  })
})

describe('a broadcast', () => {
  const broadcasts = (sent: NonceTx) => deed({ do: 'broadcast', tx: sent })

  it.each([
    ['a later one', 52, 52],
    ['an earlier one', 48, 50],
    ['none', null, 50],
  ])('is stored at the highest head known when the node tells %s', async (_, told, sentBlock) => {
    const { given, saved } = ports({ broadcast: async () => told })
    expect(await carryOut(signed, broadcasts(tx), given)).toEqual({ outcome: 'sent' })
    expect(saved).toEqual([{ ...signed, state: 'sent', txs: [{ ...tx, sentBlock }] }])
  })

  it.each<[string, string, object]>([
    ['already known', 'sent', { state: 'sent', failures: 0 }],
    ['transaction underpriced', 'refused', { state: 'signed', failures: 1, txs: [{ isRejected: true }] }],
    ['nonce too low', 'refused', { state: 'signed', nonce: 3, failures: 1 }],
  ])('that a node refuses with "%s" is %s', async (words, outcome, after) => {
    const { given, saved } = ports({ broadcast: refusedWith(words) })
    expect(await carryOut(signed, broadcasts(tx), given)).toMatchObject({ outcome })
    expect(saved).toMatchObject([after])
  })
})

describe('a kill', () => {
  afterEach(() => {
    armFailpoint(undefined)
    vi.restoreAllMocks()
  })
  const sign = deed({ do: 'sign', purpose: 'deliver', nonce: null, gas: 1_000n, fees, valueWei: 7n })
  const broadcast = deed({ do: 'broadcast', tx })

  it.each([
    ['relay.sign', sign, ['sign 3']],
    ['relay.signed', sign, ['sign 3', 'save']],
    ['relay.broadcast', broadcast, ['broadcast']],
    ['relay.sent', broadcast, ['broadcast', 'save']],
  ] as const)('can fall at %s', async (point, decision, done) => {
    const { given, log } = ports({ broadcast: async () => log.push('broadcast') })
    let before: string[] | null = null
    vi.spyOn(process, 'kill').mockImplementation(() => {
      before = [...log]
      return true
    })
    armFailpoint(point)
    await carryOut(signed, decision, given)
    expect(before).toEqual(done)
  })
})
