import type { Hex } from 'viem'
import { beforeAll, expect, it } from 'vitest'
import type { EvmChain } from '../../src/chains/evm/chain.js'
import { getBlockHeader } from '../../src/chains/evm/logs.js'
import { assertOwnersOnHub } from '../../src/chains/evm/owners.js'
import { readRunningHashes } from '../../src/chains/evm/runningHash/hashes.js'
import { logRangeSource } from '../../src/chains/evm/runningHash/ranges.js'
import { createLogRangeWidth } from '../../src/chains/evm/runningHash/width.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { startHubWorld } from '../support/hubWorld.js'
import { type OnCall, startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'
import { failing } from './silentNodes.js'

/** Single reads from a node that changes its fork between two answers. */

const world = useWorld(() => startHubWorld())
let onCall: OnCall = async () => undefined
const node = useWorld(() =>
  startRpcProxy(world.anvil.rpcUrl, (method, body) => onCall(method, body)),
)
let chain: EvmChain
beforeAll(async () => {
  ;({ chain } = await world.open({ rpcUrls: [node.url] }))
})

it('refuses a record read by block number if the block is replaced between the two calls', async () => {
  await world.bid(1, ['ann'])
  const { hash, number } = (await getBlockHeader(chain.rpc.call, 'latest'))!
  const read = () =>
    chain.rpc.onOneNode((call) => readRunningHashes(call, chain.config, { hash, number }))
  let replaces = false
  onCall = async (method, body) => {
    if (method !== 'eth_call') return undefined
    if (body.includes('blockHash')) return failing(-32_602, 'invalid argument 1')
    if (replaces) {
      await world.test.request({ method: 'anvil_rollback' as never, params: [1] as never })
      await world.test.increaseTime({ seconds: 100 })
      await world.test.mine({ blocks: 1 })
    }
    return undefined
  }
  const [record] = await read()
  expect(record!.equals(Buffer.alloc(32))).toBe(false)
  replaces = true
  await expect(read()).rejects.toThrow(`the node has another block ${number} than ${hash}`)
  onCall = async () => undefined
})

it('does not date a log by a header of another fork', async () => {
  await world.test.mine({ blocks: 1 })
  const first = Number(await world.public.getBlockNumber())
  await world.bid(1, ['bob'])
  await world.test.mine({ blocks: 20 })
  const source = logRangeSource(chain, createLogRangeWidth(), false)
  const read = () => chain.rpc.onOneNode((call) => source.read(call, first, first + 10))
  expect((await read()).decoded.places).toHaveLength(1)
  const ofBlock = `"0x${(first + 1).toString(16)}",false`
  onCall = async (method, body) =>
    method === 'eth_getBlockByNumber' && body.includes(ofBlock)
      ? (answer) => answer.replace(/"hash":"0x[0-9a-f]{64}"/, `"hash":"0x${'7'.repeat(64)}"`)
      : undefined
  await expect(read()).rejects.toThrow(`logs of block ${first + 1} are of another fork`)
  onCall = async () => undefined
})

it('refuses a registration by the zero address of a name that the hub does not have', async () => {
  const block = (await getBlockHeader(chain.rpc.call, 'latest'))!
  const bodyOf = (from: Hex, name: string) =>
    Buffer.concat([
      Buffer.alloc(32),
      Buffer.from(from.slice(2).padStart(64, '0'), 'hex'),
      Buffer.alloc(32),
      nameToWord(name),
    ])
  await assertOwnersOnHub(chain, block, [bodyOf(world.wallet(1).address, 'bob')])
  await expect(assertOwnersOnHub(chain, block, [bodyOf('0x0', 'free')])).rejects.toThrow(
    'the hub did not give "free" to 0x0000000000000000000000000000000000000000',
  )
})
