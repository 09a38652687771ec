import { describe, expect, it } from 'vitest'
import { WorkerLoops } from './loops.js'

describe('loops', () => {
  it('count as stuck without a turn or a sign of life, until they turn or end', () => {
    let nowMs = 0
    const loops = new WorkerLoops(() => nowMs)
    const stuck = () => loops.states().filter(({ ageMs }) => ageMs > 100)
    const indexer = loops.start({ name: 'the indexer', network: 'mainnet', chain: '1' })
    const judge = loops.start({ name: 'the judge' })
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
    const loop = loops.start({ name: 'the indexer' })
    loop.failed(new Error('one'))
    loop.failed(new Error('two'))
    expect(loops.states()).toEqual([
      { name: 'the indexer', ageMs: 0, failures: 2, lastError: 'two', cause: 'other' },
    ])
    loop.succeeded()
    expect(loops.states()).toMatchObject([{ failures: 0, lastError: null }])
  })
})
