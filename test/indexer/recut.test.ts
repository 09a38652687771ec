import type { Hex } from 'viem'
import { expect, it } from 'vitest'
import { BID_EVENT_TOPIC } from '../../src/chains/evm/decodeLogs.js'
import type { RawLog } from '../../src/chains/evm/logs.js'
import { findOwnedNames } from '../../src/db/registry/owners.js'
import { parseWalletOrNull } from '../../src/registry/primitives/address.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import type { OnCall } from '../support/rpcProxy.js'
import { answering, failing, useSilentNodes } from './silentNodes.js'

/** Logs with the hub's words in another shape. If they were skipped, a bid would be lost unnoticed. */

const { world, node, open, drive, journalled, onChain, confirmed } = useSilentNodes()

/** Moves the bidder's word to a second topic: the words, and so a hash over them, do not change. */
const cutElsewhere = (log: RawLog): RawLog =>
  log.topics[0] === BID_EVENT_TOPIC && log.topics.length === 1
    ? {
        ...log,
        topics: [...log.topics, log.data.slice(0, 66) as Hex],
        data: `0x${log.data.slice(66)}`,
      }
    : log

/** A node that is honest about the hub's record. */
const recutting =
  (lie: { isOn: boolean }): OnCall =>
  async (method) =>
    lie.isOn && method === 'eth_getLogs'
      ? answering(({ result }) =>
          result ? { result: (result as RawLog[]).map(cutElsewhere) } : {},
        )
      : undefined

const bidsFor = (bids: readonly string[], name: string): number =>
  bids.filter((bid) => bid.includes(Buffer.from(nameToWord(name)).toString('hex'))).length

/** Names in the registry of one of the world's accounts. */
async function namesOf({ pool }: Awaited<ReturnType<typeof open>>, account: number) {
  const address = parseWalletOrNull(world.wallet(account).address)!
  const page = { after: 0, limit: 100 }
  return (await findOwnedNames(pool, 'mainnet', address.bytes, page)).map(({ name }) => name)
}

it('a bid that the only node reshapes is missing, and is indexed once the node is honest', async () => {
  const lie = { isOn: false }
  const lone = await open({ rpcUrls: [await node(recutting(lie))] })
  await drive(lone, 40)
  lie.isOn = true
  await world.bid(3, ['cut-alone'])
  await world.test.mine({ blocks: 3 })

  const errors = await drive(lone, 6)
  expect(errors[0]?.message).toContain(`is not one that ${world.hub} emits`)
  expect(bidsFor(await journalled(lone), 'cut-alone')).toBe(0)
  expect(lone.indexer.state.nextBlock).toBeLessThanOrEqual(await confirmed())

  lie.isOn = false
  await expect.poll(() => drive(lone, 3), { timeout: 10_000 }).toEqual([])
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  expect(bidsFor(await journalled(lone), 'cut-alone')).toBe(1)
})

it('a first bid that one of two nodes reshapes wins its name, although the other node fails once', async () => {
  const lie = { isOn: false }
  let failures = 0
  const honest = await node(async (method) =>
    method === 'eth_getLogs' && failures-- > 0 ? failing(429, 'Too many requests') : undefined,
  )
  const lone = await open({ rpcUrls: [await node(recutting(lie)), honest] })
  await drive(lone, 40)
  lie.isOn = true
  failures = 1
  await world.bid(1, ['cut-first'])
  await world.test.mine({ blocks: 3 })
  await drive(lone, 3)
  await world.bid(2, ['cut-first'])
  await world.test.mine({ blocks: 3 })

  // the liar continues: its logs are refuted by their shape, and the other node's match the record
  const left = async () =>
    (await drive(lone, 3)).length + (await confirmed()) + 1 - lone.indexer.state.nextBlock
  await expect.poll(left, { timeout: 10_000 }).toBe(0)
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  expect(bidsFor(await journalled(lone), 'cut-first')).toBe(2)
  expect(await namesOf(lone, 1)).toContain('cut-first')
  expect(await namesOf(lone, 2)).not.toContain('cut-first')
})
