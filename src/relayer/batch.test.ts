import { describe, expect, it } from 'vitest'
import { emptyModel, mine, modelSender, modelStore } from '../../test/model/chainModel.js'
import type { JobRow } from '../db/outbox/rows.js'
import type { NonceTx } from '../registry/outbox.js'
import { advanceJobs, type BatchOptions, isProgress } from './batch.js'
import { type Policy, REPLACE_AFTER_BLOCKS } from './machine/index.js'
import { newJob } from './machine/job.js'
import type { Outcome } from './step.js'

type Row = JobRow<NonceTx>
const policy: Policy = {
  spendCapWei: 10n ** 18n,
  replaceAfterBlocks: REPLACE_AFTER_BLOCKS,
  pollMs: 1_000,
  gasPriceCapWei: 10n ** 15n,
}
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const idsOf = (count: number) => Array.from({ length: count }, (_, i) => `job-${i}`)

/** Jobs over a model chain; what is asked and stored first is answered last. */
function world(count: number) {
  const model = emptyModel(true)
  const ids = idsOf(count)
  for (const id of ids) model.rows.set(id, newJob<NonceTx>(id, 'execute', 5n))
  const log: string[] = []
  const most = { looks: 0, saves: 0 }
  const rowOf = (id: string): Row => ({
    ...{ network: 'mainnet', chain: 1, signer: null, subject: null, createdMs: 0, updatedMs: 0, version: 1 },
    ...{ ...model.rows.get(id)!, message: null, payment: null, batch: null, followers: [] },
  })
  const now = { looks: 0, saves: 0 }
  const counted = async <T>(what: 'looks' | 'saves', work: () => Promise<T>): Promise<T> => {
    most[what] = Math.max(most[what], ++now[what])
    try {
      return await work()
    } finally {
      now[what] -= 1
    }
  }
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
          look: (job) =>
            counted('looks', async () => {
              log.push(`look ${id}`)
              await late()
              return sender.look(job)
            }),
          broadcast: async (raw) => {
            await late()
            log.push(`send ${id}`)
            return sender.broadcast(raw)
          },
        },
        store: {
          save: (after) => counted('saves', () => late().then(() => store.save(after))),
          saveWithNonce: (build) =>
            store.saveWithNonce(async (nonce) => {
              await late()
              return build(nonce)
            }),
        },
      }
    },
  }
  const rows = () => ids.map(rowOf)
  const sent = () => log.filter((line) => line.startsWith('send')).map((line) => line.slice(5))
  return { model, ids, rows, options, log, sent, most }
}
const outcomesOf = ({ outcomes }: { outcomes: readonly Outcome[] }) => outcomes.map(({ outcome }) => outcome)

describe('a batch', () => {
  it('takes every job as far as it goes now, and gives it as it is then', async () => {
    const { rows, options, model } = world(3)
    const first = await advanceJobs(rows(), options)
    for (const job of first) expect(outcomesOf(job)).toEqual(['signed', 'sent', 'waiting'])
    expect(first.map(({ row }) => row)).toEqual(rows())
    expect(rows().map(({ state }) => state)).toEqual(['sent', 'sent', 'sent'])
    for (let i = 0; i < 3; i++) mine(model)
    const last = await advanceJobs(rows(), options)
    for (const job of last) expect(outcomesOf(job)).toEqual(['confirmed'])
    expect(last.map(({ row }) => row.state)).toEqual(['confirmed', 'confirmed', 'confirmed'])
  })

  it('of none asks nothing', async () => {
    const { options } = world(0)
    const reload = () => Promise.reject(new Error('asked'))
    expect(await advanceJobs([], { ...options, reload })).toEqual([])
    const waiting = () => Promise.resolve<Outcome>({ outcome: 'waiting', untilMs: 1, why: 'backoff' })
    const [job] = await advanceJobs(world(1).rows(), { ...options, reload, portsOf: waiting })
    expect(outcomesOf(job!)).toEqual(['waiting'])
  })

  it('keeps the given order in nonces and on the wire, whatever is answered first', async () => {
    const { ids, rows, options, sent } = world(40)
    const advanced = await advanceJobs(rows(), options)
    expect(advanced.map(({ row }) => [row.id, row.nonce])).toEqual(ids.map((id, nonce) => [id, nonce]))
    expect(sent()).toEqual(ids)
  })

  it('asks for up to 16 jobs at once, and writes what takes no nonce of up to 7', async () => {
    const { rows, options, model, most } = world(40)
    await advanceJobs(rows(), options)
    expect(most).toEqual({ looks: 16, saves: 1 })
    for (let i = 0; i < 3; i++) mine(model)
    await advanceJobs(rows(), options)
    expect(most).toEqual({ looks: 16, saves: 7 })
  })

  it('is of 64 jobs: later ones are looked at when those have gone on', async () => {
    const { ids, rows, options, log } = world(66)
    await advanceJobs(rows(), options)
    const [last, next, after] = ids.slice(63)
    expect(log.indexOf(`look ${next}`)).toBeGreaterThan(log.lastIndexOf(`look ${last}`))
    expect(log.indexOf(`look ${after}`)).toBeLessThan(log.indexOf(`send ${next}`))
    expect(log.indexOf(`look ${last}`)).toBeLessThan(log.indexOf(`send ${ids[0]}`))
  })

  it('replaces a transaction beside those that are sent: its nonce is its own', async () => {
    const { rows, options, model } = world(2)
    await advanceJobs(rows().slice(0, 1), options)
    model.baseFeeWei *= 5n
    for (let i = 0; i < REPLACE_AFTER_BLOCKS; i++) mine(model)
    const advanced = await advanceJobs(rows(), options)
    expect(advanced.map(outcomesOf)).toEqual([
      ['replaced', 'sent', 'waiting'],
      ['signed', 'sent', 'waiting'],
    ])
    expect(advanced.map(({ row }) => row.nonce)).toEqual([0, 1])
  })

  it('stores replacements of up to 7 at once, as their nonces are given', async () => {
    const { rows, options, model, most } = world(16)
    await advanceJobs(rows(), options)
    const rejected = (txs: readonly NonceTx[]) => txs.map((tx) => ({ ...tx, isRejected: true }))
    for (const [id, row] of model.rows) model.rows.set(id, { ...row, txs: rejected(row.txs) })
    expect(most.saves).toBe(1)
    const advanced = await advanceJobs(rows(), options)
    for (const job of advanced) expect(outcomesOf(job)).toEqual(['replaced', 'sent', 'waiting'])
    expect(most.saves).toBe(7)
  })
})

describe('a job', () => {
  it('tells each of its steps, with what is stored after it', async () => {
    const { rows, options } = world(1)
    const told: string[] = []
    await advanceJobs(rows(), {
      ...options,
      onOutcome: ({ state }, { outcome }) => void told.push(`${outcome}: ${state}`),
    })
    expect(told).toEqual(['signed: signed', 'sent: sent', 'waiting: sent'])
  })

  it('goes on after another process has changed it, and not after it is gone', async () => {
    const { rows, options } = world(1)
    let steps = 0
    const portsOf: BatchOptions['portsOf'] = (row, memo) =>
      steps++ === 0 ? Promise.resolve({ outcome: 'stale' }) : options.portsOf(row, memo)
    const [job] = await advanceJobs(rows(), { ...options, portsOf })
    expect(outcomesOf(job!)).toEqual(['stale', 'signed', 'sent', 'waiting'])
    const [gone] = await advanceJobs(world(1).rows(), { ...options, reload: async () => [] })
    expect(gone!.outcomes).toHaveLength(1)
  })

  it('takes six steps at most', async () => {
    const { rows, options } = world(2)
    const portsOf = () => Promise.resolve<Outcome>({ outcome: 'included' })
    const advanced = await advanceJobs(rows(), { ...options, portsOf })
    for (const job of advanced) expect(job.outcomes).toHaveLength(6)
  })

  it('that needs no look is stored beside those that are sent', async () => {
    const { rows, options, model, sent } = world(3)
    const parking = async (): Promise<Outcome> => {
      while (sent().length === 0) await pause(1)
      model.rows.set('job-0', { ...model.rows.get('job-0')!, state: 'parked' })
      return { outcome: 'parked' }
    }
    const portsOf: BatchOptions['portsOf'] = (row, memo) =>
      row.id === 'job-0' ? parking() : options.portsOf(row, memo)
    for (const id of ['job-1', 'job-2'])
      await advanceJobs([rows().find((row) => row.id === id)!], {
        ...options,
        portsOf: (row, memo) => {
          const ports = options.portsOf(row, memo)
          return row.state === 'queued'
            ? ports
            : Promise.resolve<Outcome>({ outcome: 'waiting', untilMs: 0, why: 'backoff' })
        },
      })
    expect(rows().map(({ state }) => state)).toEqual(['queued', 'signed', 'signed'])
    const advanced = await advanceJobs(rows(), { ...options, portsOf })
    expect(advanced.map(outcomesOf)).toEqual([['parked'], ['sent', 'waiting'], ['sent', 'waiting']])
  })

  it('that throws holds up no other; its error comes at the end, the first of several', async () => {
    const { rows, options } = world(3)
    const failing: BatchOptions['portsOf'] = (row, memo) => {
      const ports = options.portsOf(row, memo)
      if (ports instanceof Promise || row.id === 'job-1') return ports
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
