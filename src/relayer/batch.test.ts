import { describe, expect, it } from 'vitest'
import { emptyModel, mine, modelSender, modelStore } from '../../test/model/chainModel.js'
import type { JobRow } from '../db/outbox/rows.js'
import type { NonceTx } from '../registry/outbox.js'
import { advanceJobs, type BatchOptions, isProgress } from './batch.js'
import { type Policy, REPLACE_AFTER_BLOCKS } from './machine/index.js'
import { newJob } from './machine/job.js'
import type { Outcome } from './step.js'

const policy: Policy = {
  spendCapWei: 10n ** 18n,
  replaceAfterBlocks: REPLACE_AFTER_BLOCKS,
  pollMs: 1_000,
  gasPriceCapWei: 10n ** 15n,
}
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Jobs over a model chain; what is asked and stored first is answered last. */
function world(count: number) {
  const model = emptyModel(true)
  const ids = Array.from({ length: count }, (_, i) => `job-${i}`)
  for (const id of ids) model.rows.set(id, newJob<NonceTx>(id, 'execute', 5n))
  const sent: string[] = []
  const rowOf = (id: string): JobRow<NonceTx> => ({
    ...{ network: 'mainnet', chain: 1, signer: null, subject: null, createdMs: 0, updatedMs: 0, version: 1 },
    ...{ ...model.rows.get(id)!, message: null, payment: null, batch: null, followers: [] },
  })
  const options: BatchOptions = {
    policy,
    reload: async (given) => given.map(rowOf).toReversed(),
    portsOf({ id }) {
      const sender = modelSender(model, id, () => {})
      const store = modelStore(model, id, () => {})
      const late = () => pause(4 - (ids.indexOf(id) % 4))
      return {
        clock: { nowMs: () => 0, random: () => 0.5 },
        sender: {
          ...sender,
          look: (job) => late().then(() => sender.look(job)),
          broadcast: async (raw) => {
            await late()
            sent.push(id)
            return sender.broadcast(raw)
          },
        },
        store: {
          save: (after) => late().then(() => store.save(after)),
          saveWithNonce: (build) => store.saveWithNonce((nonce) => late().then(() => build(nonce))),
        },
      }
    },
  }
  return { model, ids, rows: () => ids.map(rowOf), options, sent }
}
const outcomesOf = ({ outcomes }: { outcomes: readonly Outcome[] }) => outcomes.map(({ outcome }) => outcome)

describe('a batch', () => {
  it('takes every job as far as it goes now, and gives it as it is then', async () => {
    const { rows, options, model } = world(3)
    const told: string[] = []
    const onOutcome: BatchOptions['onOutcome'] = ({ state }, { outcome }) => void told.push(`${outcome}: ${state}`)
    const first = await advanceJobs(rows(), { ...options, onOutcome })
    for (const job of first) expect(outcomesOf(job)).toEqual(['signed', 'sent', 'waiting'])
    expect(told.slice(-3)).toEqual(Array(3).fill('waiting: sent'))
    expect(first.map(({ row }) => row)).toEqual(rows())
    for (let i = 0; i < 3; i++) mine(model)
    const last = await advanceJobs(rows(), options)
    for (const job of last) expect(outcomesOf(job)).toEqual(['confirmed'])
  })

  it('keeps the given order in nonces and on the wire, whatever is answered first', async () => {
    const { ids, rows, options, sent } = world(70)
    const advanced = await advanceJobs(rows(), options)
    expect(advanced.map(({ row }) => [row.id, row.nonce])).toEqual(ids.map((id, nonce) => [id, nonce]))
    expect(sent).toEqual(ids)
  })

  it('replaces a transaction beside those that are sent: its nonce is its own', async () => {
    const { rows, options, model } = world(2)
    await advanceJobs(rows().slice(0, 1), options)
    model.baseFeeWei *= 5n
    for (let i = 0; i < REPLACE_AFTER_BLOCKS; i++) mine(model)
    const advanced = await advanceJobs(rows(), options)
    expect(advanced.map(({ outcomes, row }) => [outcomes[0]!.outcome, row.nonce])).toEqual([
      ['replaced', 0],
      ['signed', 1],
    ])
  })
})

describe('a job', () => {
  it('goes on after another process has changed it, and not after it is gone', async () => {
    const { rows, options } = world(1)
    let steps = 0
    const portsOf: BatchOptions['portsOf'] = (row, memo) =>
      steps++ === 0 ? async () => ({ outcome: 'stale' }) : options.portsOf(row, memo)
    const [job] = await advanceJobs(rows(), { ...options, portsOf })
    expect(outcomesOf(job!)).toEqual(['stale', 'signed', 'sent', 'waiting'])
    const [gone] = await advanceJobs(world(1).rows(), { ...options, reload: async () => [] })
    expect(gone!.outcomes).toHaveLength(1)
  })

  it('ends its steps, however often it stores something', async () => {
    const { rows, options } = world(1)
    const [job] = await advanceJobs(rows(), { ...options, portsOf: () => async () => ({ outcome: 'included' }) })
    expect(job!.outcomes).toHaveLength(6)
  })

  it('that throws holds up no other; its error comes at the end, the first of several', async () => {
    const { rows, options } = world(3)
    const failing: BatchOptions['portsOf'] = (row, memo) => {
      const ports = options.portsOf(row, memo)
      if (typeof ports === 'function' || row.id === 'job-1') return ports
      const save = () => Promise.reject(new Error(`${row.id} is not stored`))
      return { ...ports, store: { save, saveWithNonce: save } }
    }
    await expect(advanceJobs(rows(), { ...options, portsOf: failing })).rejects.toThrow('job-0 is not stored')
    expect(rows().map(({ state }) => state)).toEqual(['queued', 'sent', 'queued'])
  })
})

it('progress is what stored something', () => {
  const outcomes = ['signed', 'sent', 'parked', 'waiting', 'ended', 'unreachable', 'stale'] as const
  const stored = outcomes.filter((outcome) => isProgress({ outcome } as Outcome))
  expect(stored).toEqual(['signed', 'sent', 'parked'])
})
