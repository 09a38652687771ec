import { expect, it } from 'vitest'
import { LoopStageTimer } from './stages.js'

/** A clock that the test sets. */
function clockAt(startMs: number) {
  const time = { ms: startMs }
  const stages = new LoopStageTimer(() => time.ms)
  const pass = (ms: number) => {
    time.ms += ms
  }
  return { stages, pass }
}

const NONE = { node: 0, decode: 0, fold: 0, database: 0, idle: 0 }

it('divides the time among the stages, and counts nested ones separately', async () => {
  const { stages, pass } = clockAt(1_234)
  pass(100)
  await stages.during('node', async () => {
    pass(10)
    stages.work('decode', () => pass(3))
    await stages.during('database', async () => {
      pass(20)
      stages.work('fold', () => pass(5))
      pass(1)
    })
    pass(2)
  })
  pass(7)
  expect(stages.lastMinute()).toEqual({ node: 12, decode: 3, fold: 5, database: 21, idle: 107 })
})

it('goes back to the stage around a part that fails', async () => {
  const { stages, pass } = clockAt(0)
  const failing = stages.during('node', async () => {
    pass(10)
    throw new Error('no answer')
  })
  await expect(failing).rejects.toThrow('no answer')
  expect(() =>
    stages.work('decode', () => {
      pass(4)
      throw new Error('misshapen')
    }),
  ).toThrow('misshapen')
  pass(3)
  expect(stages.lastMinute()).toEqual({ ...NONE, node: 10, decode: 4, idle: 3 })
})

it('counts the processing of prefetched ranges while the loop waits for the database', async () => {
  const { stages, pass } = clockAt(0)
  let committed = () => {}
  const commit = stages.during(
    'database',
    () =>
      new Promise<void>((resolve) => {
        committed = resolve
      }),
  )
  pass(30)
  stages.work('decode', () => pass(8))
  pass(2)
  committed()
  await commit
  expect(stages.lastMinute()).toEqual({ ...NONE, decode: 8, database: 32 })
})

it.each([
  ['a wait of five minutes', 300_000, 12_345],
  ['a wait of exactly a minute', 60_000, 0],
])('keeps the last minute of %s, within a slot of five seconds', async (_, waitMs, startMs) => {
  const { stages, pass } = clockAt(startMs)
  await stages.during('node', async () => pass(waitMs))
  const { node, idle } = stages.lastMinute()
  expect(node).toBeGreaterThanOrEqual(55_000)
  expect(node).toBeLessThanOrEqual(60_000)
  expect(idle).toBe(0)

  pass(60_000)
  expect(stages.lastMinute().node).toBe(0)
})

it('shows a wait that has not ended', () => {
  const { stages, pass } = clockAt(0)
  void stages.during('database', () => new Promise(() => {}))
  pass(9_000)
  expect(stages.lastMinute()).toEqual({ ...NONE, database: 9_000 })
})
