import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { installationStatus } from '../../src/daemon/status.js'
import { writeChainStates } from '../../src/db/chains/states.js'
import { takeLeadershipIfFree } from '../../src/db/leaders/lead.js'
import type { ChainState } from '../../src/ops/chainState.js'
import { LoopStageTimer } from '../../src/ops/stages.js'
import { useDatabase } from '../support/database.js'
import { snapshotWith } from '../support/snapshot.js'

const database = useDatabase()

const stateNow = (): ChainState => ({
  network: 'mainnet',
  label: '1',
  chain: 0,
  nextBlock: 10,
  latest: 9,
  confirmed: 9,
  tailBlock: 9,
  headMs: Date.now(),
  confirmedMs: null,
  blockMs: 1_000,
  lastStepMs: Date.now(),
  isCaughtUp: true,
  trust: 'proved',
  trustNodes: 2,
  errorAlarm: null,
  halted: null,
  lastError: null,
  stagesMs: new LoopStageTimer().lastMinute(),
})

const status = () =>
  installationStatus(
    snapshotWith({
      chains: [{ network: 'mainnet', label: '1', role: 'hub', state: null, nodes: [] }],
    }),
    database.pool,
  )

it('a chain counts as healthy only once its current leader has reported it', async () => {
  const first = await takeLeadershipIfFree(database.pool, 'mainnet', 'index')
  await writeChainStates(database.pool, 'mainnet', [stateNow()])
  expect(await status()).toMatchObject({
    ok: true,
    leaders: [{ role: 'index', ageMs: expect.any(Number) }],
  })

  await first!.release()
  expect((await status()).problems).toContain('nobody indexes mainnet')

  await sleep(5) // the ages are whole milliseconds
  const second = await takeLeadershipIfFree(database.pool, 'mainnet', 'index')
  expect((await status()).problems).toEqual(['mainnet chain "1": not indexed yet'])
  await writeChainStates(database.pool, 'mainnet', [stateNow()])
  await expect.poll(async () => (await status()).problems).toEqual([])
  await second!.release()
})
