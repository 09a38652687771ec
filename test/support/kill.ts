import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { expect } from 'vitest'
import type { JobRow } from '../../src/db/outbox/rows.js'
import type { EvmJobTx } from '../../src/registry/outbox.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import type { ChildOrder } from '../relayer/child.js'
import { testProgram } from '../setup/built.js'
import type { BridgeWorld } from './bridgeWorld.js'

/** Slow enough that a child sees a block before it counts as confirmed. */
const BLOCK_MS = 200

/** Runs a relayer in another process until it dies at a fail point. @returns the signal that ended it */
export async function runChild(order: ChildOrder): Promise<string | null> {
  const program = await testProgram('test/relayer/child')
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)))
}

/** Runs a world's relayer until it dies at a fail point, while blocks are mined or not. */
export async function die(
  world: BridgeWorld,
  failpoint: string,
  options: { mines?: boolean; file?: object } = {},
): Promise<string | null> {
  await world.release()
  const at = { file: { ...world.file, ...options.file } }
  const ended = runChild({ databaseUrl: world.postgres.url, failpoint, aheadMs: world.aheadMs, at })
  let isOver = false
  void ended.finally(() => (isOver = true))
  while (!isOver) {
    await Promise.race([ended, sleep(BLOCK_MS)])
    if (!isOver && options.mines !== false) await world.hub.test.mine({ blocks: 1 })
  }
  return ended
}

/** The execution of a message. */
export const executeOf = async (world: BridgeWorld, guid: Hex): Promise<JobRow<EvmJobTx>> =>
  (await world.jobs()).find(
    ({ kind, message }) => kind === 'execute' && message && toHex(message.guid) === guid,
  )!

/** Expects one execution after a restart, and no nonce gap. */
export async function expectOnce(world: BridgeWorld, guid: Hex): Promise<void> {
  const relayer = await world.restart()
  await world.hub.test.setAutomine(true)
  world.aheadMs += 10_000
  await world.finish(relayer)
  expect(await world.executions(guid)).toBe(1)
  expect(await executeOf(world, guid)).toMatchObject({ state: 'confirmed' })
  const { rows } = await world.pool.query<{ next_nonce: number }>(
    'SELECT next_nonce FROM relay_signers',
  )
  expect(await world.nonce()).toBe(rows[0]!.next_nonce)
  await relayer.step()
  expect(relayer.state.nonceGaps).toBe(0)
}
