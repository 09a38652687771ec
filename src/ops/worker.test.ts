import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { WorkerLoops } from './loops.js'
import { createLoopWaker, pauseUntilSignal } from './waiting.js'
import {
  FatalError,
  LeadershipEndedError,
  runWorkers,
  type StepResult,
  StepTimeoutError,
  type Worker,
} from './worker.js'

/** Time after which a frozen leader loses the lead. By then the other processes wait for it. */
const FROZEN_MS = 4_000

interface Line {
  level: number
  msg: string
  [field: string]: unknown
}

function setup() {
  const lines: Line[] = []
  const stop = new AbortController()
  const log = pino(
    { level: 'debug' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  )
  return { lines, stop, context: { log, signal: stop.signal, errorPausesMs: [0] } }
}

/** A worker whose pauses end only by a notification. @param step gets the number of the step, from 1 */
function worker(step: (count: number) => StepResult, more: Partial<Worker> = {}): Worker {
  let count = 0
  return {
    name: 'the test',
    fields: { chain: '1' },
    pollMs: 2 ** 30,
    step: async () => {
      count += 1
      return step(count)
    },
    ...more,
  }
}

const fail = (message: string): never => {
  throw new Error(message)
}

describe('workers', () => {
  it('report an error of our own code as such, and go on', async () => {
    const { lines, stop, context } = setup()
    const loops = new WorkerLoops()
    const failures: string[] = []
    const step = (count: number): StepResult => {
      if (count === 1) throw new TypeError('a mistake')
      if (count === 2) throw new Error('the chain is away')
      stop.abort()
      return 'idle'
    }
    const onFailure = ({ message }: Error) => void failures.push(message)
    await runWorkers([worker(step, { onFailure })], { ...context, loops })
    expect(failures).toEqual(['a mistake', 'the chain is away'])
    expect(loops.internalErrors.counts()).toMatchObject([
      { name: 'the test', chain: '1', count: 1 },
    ])
    expect(lines.map(({ level, alarm }) => [level, alarm])).toEqual([
      [50, 'ClusterdOwnErrors'],
      [20, undefined],
    ])
  })

  it('step at once while they progress, and wait while they are idle', async () => {
    const { stop, context } = setup()
    const notify = createLoopWaker()
    const steps: number[] = []
    const running = runWorkers(
      [
        worker(
          (count) => {
            steps.push(count)
            if (count === 5) stop.abort()
            return count === 3 ? 'idle' : 'progressed'
          },
          { notify },
        ),
      ],
      context,
    )
    await expect.poll(() => steps).toEqual([1, 2, 3])
    notify.notify()
    await running
    expect(steps).toEqual([1, 2, 3, 4, 5])
  })

  it('wake for a block while they wait for one, and for a notification when they are idle', async () => {
    const { stop, context } = setup()
    const notify = createLoopWaker()
    const steps: number[] = []
    const step = (count: number): StepResult => {
      steps.push(count)
      if (count === 3) stop.abort()
      return count === 1 ? 'waiting' : 'idle'
    }
    const running = runWorkers([worker(step, { notify })], context)
    await expect.poll(() => steps).toEqual([1])
    notify.block()
    await expect.poll(() => steps).toEqual([1, 2])
    notify.block()
    await pauseUntilSignal(20, context.signal)
    expect(steps).toEqual([1, 2])
    notify.notify()
    await running
    expect(steps).toEqual([1, 2, 3])
  })

  it('pause longer than a poll where they are idle', async () => {
    const { stop, context } = setup()
    let steps = 0
    const count = (): StepResult => {
      steps += 1
      return 'idle'
    }
    const running = runWorkers([worker(count, { pollMs: 1, idleMs: 2 ** 30 })], context)
    await pauseUntilSignal(50, context.signal)
    stop.abort()
    await running
    expect(steps).toBe(1)
  })

  it('pause after their limit of busy steps', async () => {
    const { stop, context } = setup()
    const notify = createLoopWaker()
    let steps = 0
    const count = (step: number): 'progressed' => {
      steps = step
      return 'progressed'
    }
    const running = runWorkers([worker(count, { notify, maxBusySteps: 2 })], context)
    await expect.poll(() => steps).toBe(3)
    stop.abort()
    await running
    expect(steps).toBe(3)
  })

  it('try a failed step again, logging the first failure in a row at warn and later ones at debug', async () => {
    const { lines, stop, context } = setup()
    let failures = 0
    let checks = 0
    const step = (count: number): 'progressed' => {
      if (count === 6) stop.abort()
      return count === 3 || count === 6 ? 'progressed' : fail(`step ${count}`)
    }
    await runWorkers(
      [worker(step, { onFailure: () => (failures += 1), check: () => (checks += 1) })],
      context,
    )
    expect([failures, checks]).toEqual([4, 2])
    expect(lines).toMatchObject([
      {
        level: 40,
        chain: '1',
        err: { message: 'step 1' },
        msg: 'a step of the test failed; it will be tried again',
      },
      {
        level: 20,
        chain: '1',
        err: { message: 'step 2' },
        failures: 1,
        msg: 'a step of the test failed again',
      },
      { level: 40, err: { message: 'step 4' } },
      { level: 20, err: { message: 'step 5' } },
    ])
  })

  it('do not delay one another', async () => {
    const { stop, context } = setup()
    const stuck = {
      step: (signal: AbortSignal) =>
        new Promise<'idle'>((resolve) => signal.addEventListener('abort', () => resolve('idle'))),
    }
    const stopAtThird = (count: number): 'progressed' => {
      if (count === 3) stop.abort()
      return 'progressed'
    }
    await runWorkers([worker(() => 'idle', stuck), worker(stopAtThird)], context)
  })

  it('all end with the first fatal error, without a pause', async () => {
    const { lines, context } = setup()
    let wasStopped = false
    const slow = {
      step: (signal: AbortSignal) =>
        new Promise<'idle'>((resolve) =>
          signal.addEventListener('abort', () => {
            wasStopped = true
            resolve('idle')
          }),
        ),
    }
    const fatal = worker(() => {
      throw new FatalError('another leads')
    })
    await expect(
      runWorkers([worker(() => 'idle', slow), worker(() => 'idle'), fatal], context),
    ).rejects.toThrow('another leads')
    expect(wasStopped).toBe(true)
    expect(lines).toEqual([])
  })

  it('end when a step hangs, and abandon it; a sign of life restarts its timeout', async () => {
    const { context } = setup()
    const limits = { stepMs: 1_000, endMs: 2 ** 30, lostMs: 100 }
    let signs = 0
    const hangs: Partial<Worker> = {
      step: async (_, alive) => {
        for (; signs < 4; signs++) {
          await pauseUntilSignal(limits.stepMs / 2, context.signal)
          alive()
        }
        return new Promise(() => {})
      },
    }
    const other = worker(() => 'idle', { step: () => new Promise(() => {}) })
    const startedMs = performance.now()
    await expect(runWorkers([worker(() => 'idle', hangs)], { ...context, limits })).rejects.toThrow(
      StepTimeoutError,
    )
    expect(signs).toBe(4)
    expect(performance.now() - startedMs).toBeGreaterThan(2 * limits.stepMs)
    // the hanging step does not delay the end of its worker by another reason
    const fatal = worker(() => {
      throw new FatalError('another leads')
    })
    const waiting = { ...limits, stepMs: 2 ** 30 }
    await expect(runWorkers([other, fatal], { ...context, limits: waiting })).rejects.toThrow(
      'another leads',
    )
  })

  it('end soon after a lost lead, whatever a step waits for, since this process may have to lead again', async () => {
    const { context } = setup()
    const lost = new AbortController()
    const hangs = worker(() => 'idle', { step: () => new Promise(() => {}) })
    const running = runWorkers([hangs], { ...context, signal: lost.signal })
    lost.abort(new LeadershipEndedError('gone'))
    const startedMs = performance.now()
    await expect(running).rejects.toThrow(StepTimeoutError)
    expect(performance.now() - startedMs).toBeLessThan(FROZEN_MS)
  })

  it('do nothing once the signal has fired, and pass on errors of interrupted steps', async () => {
    const { stop, context } = setup()
    const cut = worker(() => {
      stop.abort()
      return fail('cut short')
    })
    await expect(runWorkers([cut], context)).rejects.toThrow('cut short')
    await runWorkers([worker(() => fail('a step after the end'))], context)
  })
})

it('many workers at once cause no warning of a leak', async () => {
  const { stop, context } = setup()
  const warned = vi.fn()
  process.on('warning', warned)
  const running = runWorkers(
    Array.from({ length: 20 }, () => worker(() => 'waiting')),
    context,
  )
  await sleep(20)
  stop.abort()
  await running
  process.off('warning', warned)
  expect(warned).not.toHaveBeenCalled()
})

describe('a notification', () => {
  it('ends one wait: the present one, or else the next', async () => {
    const { signal } = new AbortController()
    const notify = createLoopWaker()
    const waiting = notify.wait(2 ** 30, signal)
    notify.notify()
    await waiting
    notify.notify()
    await notify.wait(2 ** 30, signal)
    const ended = new AbortController()
    const last = notify.wait(2 ** 30, ended.signal)
    ended.abort()
    await last
  })
})
