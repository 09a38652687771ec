import fc from 'fast-check'
import { expect } from 'vitest'
import { createEvmChain, type EvmChain, readConfirmedBlock } from '../../src/chains/evm/chain.js'
import { BID_EVENT_TOPIC } from '../../src/chains/evm/decodeLogs.js'
import type { RawLog } from '../../src/chains/evm/logs.js'
import { readAgreedRunningHashes } from '../../src/chains/evm/runningHash/prove.js'
import {
  logRangeSource,
  readAgreedHeader,
  readBlocksInRanges,
} from '../../src/chains/evm/runningHash/ranges.js'
import { createLogRangeWidth } from '../../src/chains/evm/runningHash/width.js'
import { createSmartWalletSignatureCheck } from '../../src/chains/evm/smartWallet.js'
import { createTokenBalancePort } from '../../src/chains/requirementInputs.js'
import { MissingDataError, RpcError } from '../../src/chains/rpc/errors.js'
import { toRpcQuantity } from '../../src/chains/rpc/evm.js'
import { type RpcCall, RpcPool } from '../../src/chains/rpc/nodes.js'
import { readTxByTwoNodes } from '../../src/chains/rpc/strangers.js'
import { parseChainsFile } from '../../src/config/chainsFile.js'

/**
 * Nodes with random scripts: no answer that becomes final may be accepted where fewer than two distinct nodes gave it.
 * A node answers each call by its script. Answers are of one of three chains: the true one, and two that are lies.
 */

const HUB = `0x${'11'.repeat(20)}` as const
const WALLET = `0x${'33'.repeat(20)}` as const
const BLOCK_OF_LOG = 5
const LAST_BLOCK = 9
const NEWEST_BLOCK = 20

const OUTCOMES = [
  'true',
  'lies',
  'lies otherwise',
  'waits',
  'fails',
  'is limited',
  'finds it too much',
  'refuses',
  'does not have it',
] as const
type Outcome = (typeof OUTCOMES)[number]

/** Errors by outcome. An outcome without an error is an answer. */
const ERRORS: Partial<Record<Outcome, () => RpcError>> = {
  fails: () => new RpcError('transient', 'HTTP 502'),
  'is limited': () => new RpcError('rate_limited', 'HTTP 429'),
  'finds it too much': () => new RpcError('too_much', 'HTTP 413'),
  refuses: () => new RpcError('refused', 'execution reverted'),
  'does not have it': () => new MissingDataError('header not found'),
}
const chainOf = (outcome: Outcome): number =>
  ['true', 'lies', 'lies otherwise'].indexOf(outcome === 'waits' ? 'true' : outcome)

const word = (value: number): `0x${string}` => `0x${value.toString(16).padStart(64, '0')}`
const hashOf = (chain: number, block: number) => word(1_000 * (chain + 1) + block)
const headerOf = (chain: number, block: number) => ({
  number: toRpcQuantity(block),
  hash: hashOf(chain, block),
  parentHash: hashOf(chain, block - 1),
  timestamp: toRpcQuantity(block),
})
/** Last confirmed block of each chain. */
const confirmedOf = (chain: number): number => LAST_BLOCK + chain

const logOf = (chain: number): RawLog => ({
  address: HUB,
  topics: [BID_EVENT_TOPIC],
  data: `0x${[chain + 1, 10, 1].map((value) => word(value).slice(2)).join('')}`,
  blockNumber: toRpcQuantity(BLOCK_OF_LOG),
  blockHash: hashOf(chain, BLOCK_OF_LOG),
  blockTimestamp: toRpcQuantity(BLOCK_OF_LOG),
  transactionHash: word(chain + 1),
  logIndex: '0x0',
})

/** The answer of a chain to a call. */
function answerOf(chain: number, method: string, [what]: readonly unknown[]): unknown {
  if (method === 'eth_getLogs') {
    const { blockHash } = what as { blockHash?: string }
    const log = logOf(chain)
    return !blockHash || blockHash === log.blockHash ? [log] : []
  }
  if (method !== 'eth_getBlockByNumber') return word(chain)
  if (what === 'latest') return headerOf(chain, NEWEST_BLOCK)
  return headerOf(chain, what === 'finalized' ? confirmedOf(chain) : Number(what))
}

/** Names of what a node stated by an answer: each part of an accepted answer has such a name. */
const nameOf = (chain: number, method: string, [what]: readonly unknown[]): string =>
  method === 'eth_getBlockByNumber' && what !== 'finalized'
    ? `block ${Number(what)} of ${chain}`
    : `${method} of ${chain}`

/** What nodes stated, with the nodes that stated it. */
type Stated = Map<string, Set<number>>

function poolOf(scripts: readonly (readonly Outcome[])[], stated: Stated): RpcPool<`0x${string}`> {
  return new RpcPool({
    label: '1',
    urls: scripts.map((_, i) => `http://${i}`),
    behindBlocks: 3,
    readGenesis: async () => '0x00' as const,
    connect: (url): RpcCall => {
      const node = Number(url.at(-1))
      const script = scripts[node]!
      let calls = 0
      return async <T>(method: string, params: readonly unknown[]) => {
        const outcome = script[Math.min(calls, script.length - 1)]!
        calls += 1
        if (outcome === 'waits') await new Promise(setImmediate)
        const error = ERRORS[outcome]?.()
        if (error) throw error
        const chain = chainOf(outcome)
        const name = nameOf(chain, method, params)
        stated.set(name, (stated.get(name) ?? new Set()).add(node))
        return answerOf(chain, method, params) as T
      }
    },
    headOf: async () => ({ height: 1, timeMs: null }),
  })
}

const [config] = parseChainsFile(
  {
    chains: [
      {
        label: '1',
        role: 'hub',
        chainId: 5,
        rpcUrls: ['http://0', 'http://1', 'http://2'],
        contract: HUB,
        confirmation: 'finalized',
      },
    ],
  },
  'chains.json',
).chains

const evmChainOf = (rpc: RpcPool<`0x${string}`>): EvmChain =>
  createEvmChain({ config: config!, chain: 0, rpc })

type Ask = (rpc: RpcPool<`0x${string}`>) => Promise<string[]>

const call = (rpc: RpcPool<`0x${string}`>) => (ask: RpcCall) => ask<string>('eth_call', [rpc.label])

/** Questions whose answers become final, each with the names of the parts of the answer that was accepted. */
const QUESTIONS: Record<string, Ask> = {
  agreed: async (rpc) => {
    const { answer, givers } = await rpc.agreed(call(rpc))
    expect(new Set(givers).size).toBe(givers.length)
    return [`eth_call of ${Number(answer)}`]
  },
  quorum: async (rpc) => [`eth_call of ${Number(await rpc.quorum(call(rpc)))}`],
  'a smaller question after a first answer': async (rpc) => {
    const { answer } = await rpc.agreed<string>(async (ask, first) => {
      const own = await call(rpc)(ask)
      return first === own ? first : own
    })
    return [`eth_call of ${Number(answer)}`]
  },
  'logs of a range': async (rpc) => {
    const source = logRangeSource(evmChainOf(rpc), createLogRangeWidth())
    const ranges = await readBlocksInRanges(source, 1, LAST_BLOCK)
    return ranges.flatMap(({ answer: { to, lastHash, decoded } }) => {
      const logs = decoded.entries.map(({ body }) => `eth_getLogs of ${body.readUInt8(31) - 1}`)
      const chain = Math.floor(Number(`0x${lastHash.toString('hex')}`) / 1_000) - 1
      return [`block ${to} of ${chain}`, ...logs]
    })
  },
  'running hashes': async (rpc) => {
    const block = { number: LAST_BLOCK, hash: hashOf(0, LAST_BLOCK) }
    const { answer } = await readAgreedRunningHashes(evmChainOf(rpc), block)
    return [`eth_call of ${answer[0]!.readUInt8(31)}`]
  },
  'hash of the cursor’s block': async (rpc) => {
    const { hash } = await readAgreedHeader(evmChainOf(rpc), LAST_BLOCK)
    return [`block ${LAST_BLOCK} of ${Math.floor(Number(hash) / 1_000) - 1}`]
  },
  'payment or transaction': async (rpc) => {
    const read = async (ask: RpcCall) => {
      const block = Number(await call(rpc)(ask))
      const sent = { isOurs: false, sender: null, nonce: null }
      const mined = { state: 'mined', block, succeeded: true, isRegistration: false } as const
      const confirmations = { have: 1, need: 1 }
      return { ...sent, ...mined, confirmations, isConfirmed: true }
    }
    return [`eth_call of ${(await readTxByTwoNodes(rpc, read)).block}`]
  },
  'balance of a requirement': async (rpc) => {
    const port = createTokenBalancePort(rpc, async (ask) => BigInt(await call(rpc)(ask)))
    return [`eth_call of ${await port.tokenBalance('', '')}`]
  },
  'signature of a smart wallet': async (rpc) => {
    const isValid = createSmartWalletSignatureCheck(rpc)
    const signature = `0x${'01'.repeat(65)}` as const
    const question = {
      wallet: WALLET,
      hash: word(7),
      signature,
      deployment: null,
      onCall() {},
    }
    return (await isValid(question)) ? ['eth_call of 1'] : []
  },
}

/** Heights are no parts: a node that has confirmed a block has confirmed all blocks before it. */
async function askConfirmedHead(rpc: RpcPool<`0x${string}`>, stated: Stated): Promise<void> {
  const chain = evmChainOf(rpc)
  const head = await readConfirmedBlock(chain, await chain.heads())
  const nodes = [0, 1, 2]
    .filter((one) => confirmedOf(one) >= head.confirmed)
    .flatMap((one) => [...(stated.get(`eth_getBlockByNumber of ${one}`) ?? [])])
  expect(new Set(nodes).size).toBeGreaterThanOrEqual(2)
  if (head.confirmedHash === null) return
  const stating = `eth_getBlockByNumber of ${head.confirmed - LAST_BLOCK}`
  expect(stated.get(stating)!.size).toBeGreaterThanOrEqual(2)
}

/** Errors by which a question ends without an answer. Any other error is a fault of ours. */
const isUnanswered = (error: Error): boolean =>
  /^(NoQuorumError|NodesDisagreeError|NodesSilentError|ChainUnavailableError|RpcError)$/.test(
    error.name,
  ) || /^getting logs of blocks/.test(error.message)

const unanswered = (error: Error): null => {
  if (!isUnanswered(error)) throw error
  return null
}

/** Answers, and the faults after which a node is asked again, are more frequent than other outcomes. */
const outcome = fc.oneof(
  fc.constantFrom<Outcome>('true', 'lies'),
  fc.constantFrom<Outcome>('fails', 'finds it too much'),
  fc.constantFrom(...OUTCOMES),
)
const scripts = fc.array(fc.array(outcome, { minLength: 1, maxLength: 6 }), {
  minLength: 2,
  maxLength: 3,
})

/** Asks random nodes random questions. @returns the number of accepted answers, by question */
export async function checkNodeVotes(numRuns: number): Promise<Record<string, number>> {
  const accepted: Record<string, number> = {}
  const names = [...Object.keys(QUESTIONS), 'confirmed head']
  const property = fc.asyncProperty(scripts, fc.constantFrom(...names), async (nodes, name) => {
    const stated: Stated = new Map()
    const rpc = poolOf(nodes, stated)
    const ask = QUESTIONS[name]
    const parts = ask
      ? await ask(rpc).catch(unanswered)
      : await askConfirmedHead(rpc, stated).then(() => ['a head'], unanswered)
    if (!parts || parts.length === 0) return
    accepted[name] = (accepted[name] ?? 0) + 1
    for (const part of ask ? parts : [])
      expect(stated.get(part)?.size ?? 0, `${name}: ${part}`).toBeGreaterThanOrEqual(2)
  })
  await fc.assert(property, { numRuns })
  expect(Object.keys(accepted).sort()).toEqual(names.sort())
  return accepted
}
