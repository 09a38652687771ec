import type { Network } from '../../src/registry/primitives/network.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import { ask, freshName, world } from '../support/world.js'
import { isWorldShared, signalSharedWorld } from './signals.js'

const WAKE_LIMIT_MS = 60_000

if (!(await waitForCondition(isWorldShared, WAKE_LIMIT_MS)))
  throw new Error('the shared world does not start')
// a running process ignores SIGCONT, see globalSetup.ts
signalSharedWorld('SIGCONT')

// the heads stood still for minutes: nothing is sold until the daemon has seen newer ones, and written so
for (const network of Object.keys(world().networks) as Network[]) {
  const check = `/v1/names/register/check?testnet=${network === 'testnet'}`
  const sells = async () => (await ask('POST', check, [freshName()])).status === 200
  if (!(await waitForCondition(sells, WAKE_LIMIT_MS)))
    throw new Error(`the shared world sells no name on ${network}`)
}
