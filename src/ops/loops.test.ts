import { describe, expect, it } from 'vitest'
import { LOOP_FAILURES_ALARM, STUCK_LOOP_ALARM_MS } from './alarms.js'
import { loopProblems, WorkerLoops } from './loops.js'

describe('loops', () => {
  it('count as stuck without a turn or a sign of life, until they turn or end', () => {
    let nowMs = 0
    const loops = new WorkerLoops(() => nowMs)
    const stuck = () => loops.states().filter(({ ageMs }) => ageMs > 100)
    const indexer = loops.register({ name: 'the indexer', network: 'mainnet', chain: '1' })
    const judge = loops.register({ name: 'the judge' })
    nowMs = 100
    judge.turned()
    expect(stuck()).toEqual([])
    nowMs = 101
    expect(stuck()).toMatchObject([
      { name: 'the indexer', network: 'mainnet', chain: '1', ageMs: 101 },
    ])
    indexer.turned()
    expect(stuck()).toEqual([])
    nowMs = 1_000
    judge.end()
    expect(stuck().map(({ name }) => name)).toEqual(['the indexer'])
  })

  it('report their failures in a row and the newest, until a turn succeeds', () => {
    const loops = new WorkerLoops(() => 0)
    const loop = loops.register({ name: 'the indexer' })
    loop.failed(new Error('one'))
    loop.failed(new Error('two'))
    expect(loops.states()).toEqual([
      { name: 'the indexer', ageMs: 0, failures: 2, lastError: 'two', cause: 'other' },
    ])
    loop.succeeded()
    expect(loops.states()).toMatchObject([{ failures: 0, lastError: null }])
  })
})

describe('a loop that hangs or fails again and again', () => {
  const indexer = { name: 'the indexer', network: 'mainnet', chain: '1' }
  const other = { alarm: 'ClusterdChainFailing', text: 'no RPC URL answers' } as const

  function failing(error: Error, times: number) {
    const loops = new WorkerLoops(() => 0)
    const loop = loops.register(indexer)
    for (let i = 0; i < times; i++) loop.failed(error)
    return loops.states()
  }

  it('is a problem after some time', () => {
    let nowMs = 0
    const loops = new WorkerLoops(() => nowMs)
    loops.register(indexer)
    nowMs = STUCK_LOOP_ALARM_MS
    expect(loopProblems(loops.states(), [])).toEqual([])
    nowMs += 1_000
    expect(loopProblems(loops.states(), [])).toMatchObject([
      { alarm: 'ClusterdLoopHangs', network: 'mainnet', chain: '1' },
    ])
  })

  it('is a problem after some failures', () => {
    const error = new Error('no right')
    expect(loopProblems(failing(error, LOOP_FAILURES_ALARM), [])).toEqual([])
    expect(loopProblems(failing(error, LOOP_FAILURES_ALARM + 1), [])).toMatchObject([
      { alarm: 'ClusterdLoopFails', text: expect.stringContaining('no right') },
    ])
  })

  it('is no problem of its own where its chain has an alarm, or where the database is the cause', () => {
    const states = failing(new Error('no right'), 100)
    expect(loopProblems(states, [{ ...other, network: 'mainnet', chain: '1' }])).toEqual([])
    expect(loopProblems(states, [{ ...other, network: 'mainnet', chain: '10' }])).toHaveLength(1)
    const ended = new Error('Connection terminated unexpectedly')
    expect(loopProblems(failing(ended, 100), [])).toEqual([])
  })
})

it('a worker’s alarms last as long as its loop, lost commits as long as the process', () => {
  const loops = new WorkerLoops()
  const behind = { alarm: 'ClusterdLogBehind', text: 'the log is behind' } as const
  const loop = loops.register({ name: 'the log of the feed' }, () => [behind])
  loops.reportLostCommits('mainnet')
  loops.reportLostCommits('mainnet')
  const lost = {
    alarm: 'ClusterdWentBack',
    text: 'the database of mainnet went back in time',
    network: 'mainnet',
  }
  expect(loops.alarms()).toEqual([lost, behind])
  loop.end()
  expect(loops.alarms()).toEqual([lost])
})
