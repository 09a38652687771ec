import { afterAll, beforeAll, expect, it } from 'vitest'
import { ChainUnavailableError } from '../../src/chains/chain.js'
import { type CommunityWorld, startCommunityWorld } from './communityWorld.js'

/** More than the judge takes in two steps, after which the first ones are due again. */
const WAITING = 210
/** Two Solana nodes that say nothing, each asked for 20 s, eight payments at once. */
const MS_A_PAYMENT = (2 * 20_000) / 8
/** A step that lasts longer ends the lead of the whole network (src/ops/worker.ts). */
const STEP_LIMIT_MS = 5 * 60_000

let at: CommunityWorld
beforeAll(async () => {
  at = await startCommunityWorld(['club', 'gated'])
})
afterAll(() => at?.stop())

it('payments that wait for a chain that hangs delay no other, however many they are', async () => {
  const token = await at.deployToken('8453')
  const prices = [at.price('1', 1_000n)]
  await at.configure('club', { prices })
  const holders = [{ kind: 'token', network: '8453', token, minimum: '1' }]
  await at.configure('gated', { prices, requirements: holders })
  for (let i = 0; i < WAITING; i++) await at.pay({ community: 'gated', name: `n${i}`, amount: 1n })
  let nowMs = Date.now()
  const hangs = async () => {
    nowMs += MS_A_PAYMENT
    throw new ChainUnavailableError('no RPC URL answers')
  }
  await at.confirm()
  const judge = at.judgeOf({ ports: [{ label: '8453', tokenBalance: hangs }], nowMs: () => nowMs })
  const startMs = nowMs
  await judge.step()
  await at.pay({ name: 'ann' })
  await at.confirm()
  expect(nowMs - startMs).toBeLessThan(STEP_LIMIT_MS)
  for (let i = 0; i < 20 && (await at.ownerOf('club', 'ann')) === null; i++) await judge.step()
  expect(await at.ownerOf('club', 'ann')).toBe(at.addressOf(1))
})
