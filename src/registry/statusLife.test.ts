import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ChainTxState,
  type CommunityNamePayment,
  type Confirmations,
  DROPPED_TX_GRACE_MS,
  decideTxStatus,
  isTerminalStatus,
  type PacketOutcome,
  type SentPacket,
  type StatusAnswer,
  type TrackedTxState,
} from './status.js'

const NOW_MS = 1_000_000_000
const TOO_FEW_CONFIRMATIONS: Confirmations = { have: 1, need: 2 }

/**
 * The life of a transaction as the daemon can observe it. Each step adds to the known facts. Unconfirmed facts may be
 * withdrawn (reorgs, a node that forgets), confirmed ones may not.
 */
const STEPS = [
  ...(['see', 'forget', 'mine', 'reorg', 'confirm', 'index', 'wait'] as const),
  ...(['deliver', 'fail', 'hubReorg', 'hubConfirm', 'decide'] as const),
]
type Step = (typeof STEPS)[number]

const NATURES = [
  'hub',
  'spoke',
  'paid',
  'withdrawal',
  'refused',
  'mispaid',
  'foreign',
  'reverted',
] as const
interface Life {
  nature: (typeof NATURES)[number]
  outcomes: ('won' | 'lost')[]
}

function live({ nature, outcomes }: Life, steps: readonly Step[]): StatusAnswer[] {
  let nowMs = NOW_MS
  let seen: ChainTxState['state'] = 'unknown'
  let isConfirmed = false
  let isIndexed = false
  let isDecided = false
  let hub: 'none' | 'failed' | 'tail' | 'journal' = 'none'
  let known: TrackedTxState | null = null
  const bids = outcomes.map((outcome, i) => ({ logIndex: i, name: `n${i}`, outcome }))
  const isOurs = nature !== 'foreign' && nature !== 'reverted'
  const isSpoke = nature === 'spoke' || nature === 'withdrawal' || nature === 'refused'

  const act = (step: Step): void => {
    if (step === 'wait') nowMs += DROPPED_TX_GRACE_MS / 2
    if (step === 'see' && seen === 'unknown' && !isConfirmed) seen = 'mempool'
    if (step === 'forget') seen = 'unknown'
    if (step === 'mine') seen = 'mined'
    // a confirmed receipt on the hub keeps its message, even if the source is reorged
    if (step === 'reorg' && !isConfirmed && seen === 'mined') {
      seen = 'mempool'
      isIndexed = hub === 'journal'
    }
    if (step === 'confirm' && seen === 'mined') isConfirmed = true
    if (step === 'index' && isOurs && (seen === 'mined' || isConfirmed)) isIndexed = true
    if (step === 'decide' && isIndexed && isConfirmed) isDecided = true
    if (step === 'fail' && isIndexed && hub === 'none') hub = 'failed'
    if (step === 'deliver' && isIndexed && isSpoke && hub !== 'journal') hub = 'tail'
    if (step === 'hubReorg' && hub === 'tail') hub = 'none'
    if (step === 'hubConfirm' && hub === 'tail') hub = 'journal'
    if (seen !== 'unknown') known = { lastSeenMs: nowMs, verdict: known?.verdict ?? null }
  }
  const tailBids = bids.map(({ logIndex, name, outcome }) => ({
    logIndex,
    name,
    block: 1,
    leads: outcome === 'won',
  }))
  const outcome = (): PacketOutcome => {
    const hubTx = '0xhub'
    const own = nature === 'spoke'
    if (hub === 'journal') return { state: 'journal', bids: own ? bids : [], hubTx }
    if (hub === 'tail')
      return {
        state: 'tail',
        bids: own ? tailBids : [],
        confirmations: TOO_FEW_CONFIRMATIONS,
        hubTx,
      }
    return { state: 'under_way', failure: hub === 'failed' ? 'paused' : null }
  }
  const packets = (): SentPacket[] => {
    const source = { isConfirmed, confirmations: TOO_FEW_CONFIRMATIONS }
    if (nature === 'mispaid' && isIndexed)
      return [{ logIndex: 0, source, names: ['n0'], refusal: 'quote_mismatch', hub: outcome() }]
    if (!isSpoke || !isIndexed) return []
    const unread = nature === 'refused' ? [] : null
    const names = nature === 'spoke' ? bids.map(({ name }) => name) : unread
    return [{ logIndex: 0, source, names, hub: outcome() }]
  }
  const paidNames = (): CommunityNamePayment[] =>
    nature !== 'paid' || !isIndexed
      ? []
      : bids.map(({ logIndex, name, outcome }) => ({
          logIndex,
          name,
          source: { isConfirmed, confirmations: TOO_FEW_CONFIRMATIONS },
          judgement: isDecided ? { outcome: outcome === 'won' ? 'registered' : 'lost' } : null,
          refund: isDecided && outcome === 'lost' ? 'held' : null,
          outcome: null,
          reclaimableMs: 1_000,
        }))
  const ask = (): StatusAnswer => {
    const onHub = nature === 'hub' && isIndexed
    const answer = decideTxStatus({
      nowMs,
      journal: onHub && isConfirmed ? bids : [],
      tail: onHub && !isConfirmed ? tailBids : [],
      tailConfirmations: TOO_FEW_CONFIRMATIONS,
      packets: packets(),
      paidNames: paidNames(),
      seen:
        seen === 'mined'
          ? {
              state: seen,
              succeeded: nature !== 'reverted',
              isRegistration: isOurs,
              confirmations: TOO_FEW_CONFIRMATIONS,
              isConfirmed,
            }
          : { state: seen },
      tracked: known,
    })
    // like the caller: a verdict outlives the node's memory
    if (answer.status === 'invalid' && known && (nature === 'foreign' || nature === 'reverted')) {
      known = { ...known, verdict: nature === 'reverted' ? 'reverted' : 'not_a_registration' }
    }
    return answer
  }
  return steps.map((step) => {
    act(step)
    return ask()
  })
}

describe('a status', () => {
  it('never changes once it is finalized, lost_bid or invalid', () => {
    const all = ['not_found', 'pending', 'bridging', 'finalized', 'lost_bid', 'invalid'] as const
    expect(all.filter(isTerminalStatus)).toEqual(['finalized', 'lost_bid', 'invalid'])
  })
})

describe('over a transaction’s life', () => {
  const life: fc.Arbitrary<Life> = fc.record({
    nature: fc.constantFrom(...NATURES),
    outcomes: fc.array(fc.constantFrom('won' as const, 'lost' as const), {
      minLength: 1,
      maxLength: 3,
    }),
  })
  const steps = fc.array(fc.constantFrom(...STEPS), { maxLength: 40 })

  it('a terminal status never changes when facts are added or forgotten', () => {
    fc.assert(
      fc.property(life, steps, (tx, list) => {
        const answers = live(tx, list).map(({ status }) => status)
        const end = answers.findIndex(isTerminalStatus)
        if (end !== -1) expect(new Set(answers.slice(end))).toEqual(new Set([answers[end]]))
      }),
      { numRuns: 2_000 },
    )
  })

  it('ends with the decision of its chain and the hub, once all is confirmed', () => {
    fc.assert(
      fc.property(life, steps, (tx, list) => {
        const last = live(tx, [
          ...list,
          'mine',
          'confirm',
          'index',
          'deliver',
          'hubConfirm',
          'decide',
        ]).at(-1)!
        const decided = tx.outcomes[0] === 'won' ? 'finalized' : 'lost_bid'
        expect(last.status).toBe(['hub', 'spoke', 'paid'].includes(tx.nature) ? decided : 'invalid')
      }),
      { numRuns: 500 },
    )
  })

  it('a hub transaction is never bridging, and an unconfirmed one never terminal', () => {
    fc.assert(
      fc.property(life, steps, (tx, list) => {
        const answers = live(tx, list)
        if (tx.nature === 'hub' || tx.nature === 'paid')
          expect(answers.map(({ status }) => status)).not.toContain('bridging')
        if (!list.includes('confirm') && !list.includes('hubConfirm')) {
          expect(answers.filter(({ status }) => isTerminalStatus(status))).toEqual([])
        }
      }),
      { numRuns: 500 },
    )
  })
})
