import { encodeFunctionData, type Hex } from 'viem'
import { encodePlaceBidsCalldata } from '../../../src/chains/evm/bridge/calls.js'
import { hubAbi } from '../../../src/chains/evm/contracts/index.js'
import { type ChainConfig, parseChainsFile } from '../../../src/config/index.js'
import { integerBetween } from '../../../src/testing/faultProxy/random.js'
import { type CommunityWorld, startCommunityWorld } from '../../communities/communityWorld.js'
import { MINIMUM_WEI } from '../../support/bridgeWorld.js'
import { seededRandomSequence } from '../../support/random.js'
import { waitForReceipt } from '../../support/receipt.js'
import { type Recording, record } from './recording.js'

/** More than are followed one by one. */
const GAP = 70
const PRICE = 1_000n
const BUSY_BLOCKS = 14

/** How a history's transactions are spread over its blocks. */
const SHAPES = ['dense', 'sparse', 'with a gap'] as const
type Shape = (typeof SHAPES)[number]

export type Side = 'hub' | 'spoke'

export interface History {
  shape: Shape
  sides: Readonly<Record<Side, Recording>>
  /** Blocks that have transactions, ascending. */
  busy: Readonly<Record<Side, readonly number[]>>
}

/** A world whose histories are recorded, with the tables from before them. */
export async function recordHistories(seed: number) {
  const at = await startCommunityWorld(['club'])
  const { world } = at
  const rules = { prices: [at.price('1', PRICE), at.price('8453', PRICE)] }
  await at.configure('club', rules)
  for (const side of [world.hub, world.spoke]) await side.test.mine({ blocks: 4 })
  await world.index()
  const epoch = world.epochOf('index')!
  await world.releaseIndex()
  // from here on the chains are reset repeatedly: the recordings are indexed, not the chains
  world.index = async () => {}

  const [hubConfig, spokeConfig] = parseChainsFile(world.file, 'test').chains as [
    ChainConfig,
    ChainConfig,
  ]
  const hubUrl = world.hub.anvil.rpcUrl
  const spokeUrl = world.spoke.anvil.rpcUrl
  // indexed as public chains are
  const asPublic = { local: false, pollMs: 2_000 }
  const before = {
    hub: await record(hubUrl, { ...hubConfig, ...asPublic }),
    spoke: await record(spokeUrl, { ...spokeConfig, ...asPublic }),
  }
  const histories: History[] = []
  for (const shape of SHAPES) {
    const ids = [await world.hub.test.snapshot(), await world.spoke.test.snapshot()] as const
    await play(at, shape, seededRandomSequence(seed, shape))
    const sides = {
      hub: await record(hubUrl, before.hub.config, before.hub),
      spoke: await record(spokeUrl, before.spoke.config, before.spoke),
    }
    const busyOn = (side: Side): number[] => {
      const blocks = sides[side].logs.map(({ blockNumber }) => Number(blockNumber))
      return [...new Set(blocks)].filter((block) => block >= before[side].blocks.length)
    }
    histories.push({ shape, sides, busy: { hub: busyOn('hub'), spoke: busyOn('spoke') } })
    await world.hub.test.revert({ id: ids[0] })
    await world.spoke.test.revert({ id: ids[1] })
  }
  return {
    pool: at.pool,
    chains: at.chains,
    epoch,
    histories,
    /** Numbers of the first blocks that are not in the tables. */
    start: { hub: before.hub.blocks.length, spoke: before.spoke.blocks.length },
    stop: at.stop,
  }
}

/** Bids, messages and payments, some of which lose or are refused; then a gap. */
async function play(at: CommunityWorld, shape: Shape, random: () => number): Promise<void> {
  const { world } = at
  const mine = async (blocks: number) => {
    for (const side of [world.hub, world.spoke]) await side.test.mine({ blocks })
  }
  for (let i = 0; i < BUSY_BLOCKS; i++) {
    await onHub(at, i, random)
    await onSpoke(at, i, random)
    if (shape === 'sparse') await mine(integerBetween(random(), 0, 6))
    if (shape === 'with a gap' && i === BUSY_BLOCKS / 2) await mine(GAP)
  }
  await mine(GAP)
}

async function onHub(at: CommunityWorld, i: number, random: () => number): Promise<void> {
  const { hub, contracts } = at.world
  const send = async (account: number, data: Hex, value = 0n) => {
    const call = { to: contracts.hub, data, value, gas: 1_000_000n }
    await waitForReceipt(hub.public, await hub.walletClient(account).sendTransaction(call))
  }
  const chance = random()
  if (chance < 0.15) {
    await at.pay({
      name: `paid-${integerBetween(random(), 0, 9)}`,
      by: integerBetween(random(), 1, 5),
    })
    return
  }
  if (chance < 0.25) {
    const minimum = MINIMUM_WEI + BigInt(i)
    const args = [minimum] as const
    await send(9, encodeFunctionData({ abi: hubAbi, functionName: 'setMinimum', args }))
    return
  }
  const names = Array.from({ length: integerBetween(random(), 1, 3) }, (_, j) => ({
    // some names are bid for twice, and some bids are below the minimum
    name: random() < 0.3 ? `wanted-${integerBetween(random(), 0, 2)}-${j}` : `name-${i}-${j}`,
    amountWei: random() < 0.2 ? 1n : 2n * MINIMUM_WEI,
  }))
  const referral = random() < 0.3 ? Buffer.alloc(32, i + 1) : null
  const value = names.reduce((sum, { amountWei }) => sum + amountWei, 0n)
  await send(integerBetween(random(), 0, 5), encodePlaceBidsCalldata(names, referral), value)
}

async function onSpoke(at: CommunityWorld, i: number, random: () => number): Promise<void> {
  if (random() < 0.3) {
    await at.world.send(integerBetween(random(), 0, 5), [`sent-${i}`])
    return
  }
  await at.pay({
    on: '8453',
    name: random() < 0.3 ? 'wanted' : `spoke-${i}`,
    by: integerBetween(random(), 1, 5),
    amount: random() < 0.2 ? PRICE - 1n : PRICE,
  })
}
