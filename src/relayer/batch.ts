import PQueue from 'p-queue'
import type { DeliveryRow } from '../db/outbox/deliveryRows.js'
import { carryOut, type Decision, decide, type Outcome, type Ports } from './converge.js'
import { type Share, shareAnswers } from './evm.js'
import type { Policy } from './machine.js'
import { toDelivery } from './store.js'

/** So many are looked at together: few enough that what was seen is fresh when the last of them is sent. */
const WAVE = 64
/** Steps of one delivery in a turn: from queued to sent are two; more follow when something else comes up. */
const STEPS_A_TURN = 6
const LOOKS_AT_ONCE = 16
/** One connection to the database for each. */
const WRITES_AT_ONCE = 8

export interface TurnOptions {
  policy: Policy
  /** What a delivery is carried out with, all that it asks shared; or how its step ended without any look. */
  portsOf(row: DeliveryRow, share: Share): Ports | Promise<Outcome>
  /** Deliveries as they stand now, in any order. */
  reload(ids: readonly string[]): Promise<DeliveryRow[]>
  /** Told of each step of each delivery, with what is stored after it. */
  onOutcome?: ((row: DeliveryRow, outcome: Outcome) => void) | undefined
}

export interface Turn {
  row: DeliveryRow
  outcomes: Outcome[]
}

/**
 * Takes every delivery as far as it goes now, in the order in which they come. Each wave goes step by step: all of it is looked at
 * together, then nonces are given out and transactions sent one after the other, so that both keep the order; what only writes
 * goes beside that.
 * @throws the first error of any delivery, after all have had their turn: LostLeadershipError, or one of the database
 */
export async function takeTurns(due: readonly DeliveryRow[], options: TurnOptions): Promise<Turn[]> {
  const turns = due.map((row): Turn => ({ row, outcomes: [] }))
  const errors: unknown[] = []
  for (let i = 0; i < turns.length; i += WAVE) {
    let wave: Turn[] = turns.slice(i, i + WAVE)
    for (let step = 0; step < STEPS_A_TURN && wave.length > 0; step++) wave = await stepAll(wave, options, errors)
  }
  if (errors.length > 0) throw errors[0]
  return turns
}

/** One step of each. @returns those that may go on at once */
async function stepAll(wave: readonly Turn[], options: TurnOptions, errors: unknown[]): Promise<Turn[]> {
  const share = shareAnswers()
  const looks = new PQueue({ concurrency: LOOKS_AT_ONCE })
  const looked = await looks.addAll(wave.map((turn) => () => look(turn, share, options)))
  const ordered = new PQueue({ concurrency: 1 })
  const others = new PQueue({ concurrency: WRITES_AT_ONCE - 1 })
  const done: { turn: Turn; outcome: Outcome }[] = []
  const act = async ({ turn, finish }: Looked): Promise<void> => {
    try {
      done.push({ turn, outcome: await finish() })
    } catch (error) {
      errors.push(error)
    }
  }
  await Promise.all(looked.map((next) => (next.isOrdered ? ordered : others).add(() => act(next))))
  return settle(done, options)
}

interface Looked {
  turn: Turn
  /** It takes a nonce, or sends. */
  isOrdered: boolean
  finish(): Promise<Outcome>
}

async function look(turn: Turn, share: Share, { portsOf, policy }: TurnOptions): Promise<Looked> {
  const ports = portsOf(turn.row, share)
  if (ports instanceof Promise) return { turn, isOrdered: false, finish: () => ports }
  const delivery = toDelivery(turn.row)
  const decision = await decide(delivery, ports, policy)
  return { turn, isOrdered: isOrdered(decision), finish: () => carryOut(delivery, decision, ports) }
}

const isOrdered = (decision: Decision): boolean =>
  'deed' in decision &&
  (decision.deed.do === 'broadcast' || (decision.deed.do === 'sign' && decision.deed.nonce === null))

/** Loads again what has changed. */
async function settle(
  done: readonly { turn: Turn; outcome: Outcome }[],
  { reload, onOutcome }: TurnOptions,
): Promise<Turn[]> {
  const changed = done.filter(({ outcome }) => isProgress(outcome) || outcome.outcome === 'outrun')
  const rows = changed.length > 0 ? await reload(changed.map(({ turn }) => turn.row.id)) : []
  const stored = new Map(rows.map((row) => [row.id, row]))
  const goesOn: Turn[] = []
  for (const { turn, outcome } of done) {
    turn.outcomes.push(outcome)
    const after = stored.get(turn.row.id)
    if (after) turn.row = after
    onOutcome?.(turn.row, outcome)
    if (after && after.state !== 'confirmed' && after.state !== 'parked') goesOn.push(turn)
  }
  return goesOn
}

const NO_PROGRESS = new Set<Outcome['outcome']>(['waiting', 'ended', 'unreachable', 'outrun'])
/** Whether something was stored, so that there may be more to do now. */
export const isProgress = ({ outcome }: Outcome): boolean => !NO_PROGRESS.has(outcome)
