import { setTimeout as sleep } from 'node:timers/promises'
import { createPool } from '../../src/db/pg/pool.js'
import { armFailpoint } from '../../src/ops/failpoint.js'
import { openRelayer } from '../support/bridgeWorld.js'
import { takeLead } from '../support/lead.js'

/** A relayer in a process of its own, which dies at a fail point. It ends by itself only when that is never passed. */
export interface ChildOrder {
  databaseUrl: string
  file: object
  failpoint: string
  /** Milliseconds that its clock is ahead. */
  aheadMs: number
}

const PATIENCE_MS = 25_000

const { databaseUrl, file, failpoint, aheadMs } = JSON.parse(process.argv[2]!) as ChildOrder
armFailpoint(failpoint)
const pool = createPool({ url: databaseUrl, max: 4, applicationName: 'test child' })
const leadership = await takeLead(pool, 'relay')
const clock = { nowMs: () => Date.now() + aheadMs, random: () => 0.5 }
const relayer = await openRelayer(pool, file, leadership.epoch, { clock })
const endMs = Date.now() + PATIENCE_MS
while (Date.now() < endMs) {
  if ((await relayer.step()) !== 'progressed') await sleep(20)
}
await leadership.release()
await pool.end()
