import bs58 from 'bs58'
import { expect, it } from 'vitest'
import { NodeError, RpcError } from '../../chains/rpc/errors.js'
import { type Call, NodePool } from '../../chains/rpc/nodes.js'
import type { ReadTransaction } from '../../chains/solana/reads.js'
import { createRegistrar } from '../../chains/solana/registrar.js'
import { readConfirmed } from './twoNodes.js'

const PROGRAM = '11111111111111111111111111111111'
const SLOT = 7
const listed = [{ signature: 'a', slot: SLOT }]

/** The event PaymentReclaimed of a payment by its sequence. */
function reclaimed(sequence: number): Buffer {
  const event = Buffer.alloc(96)
  Buffer.from('e445a52e51cb9a1d4d9b0a403e14105d', 'hex').copy(event)
  event.writeUInt8(sequence, 16)
  return event
}

interface Told {
  event?: Buffer | null
  head?: number
  headMs?: number
  oldest?: number
  /** Block in which it has the transaction. */
  slot?: number
}

/** A node that shows one transaction with an event, or without, or lacks it. */
const node = ({ event, head = SLOT, headMs = Date.now(), oldest = 0, slot = SLOT }: Told): Call => {
  const innerInstructions = event ? [{ instructions: [{ programIdIndex: 0, data: bs58.encode(event) }] }] : []
  const transaction = { signatures: ['a'], message: { accountKeys: [PROGRAM] } }
  const answers: Record<string, unknown> = {
    getTransaction:
      event === undefined ? null : { slot, blockTime: 1, meta: { err: null, innerInstructions }, transaction },
    getFirstAvailableBlock: oldest,
    getSlot: head,
    getBlockTime: headMs / 1_000,
  }
  return async <T>(method: string) => answers[method] as T
}

/** A node that does not know the transaction's version. */
const outdated: Call = async () => {
  const cause = new NodeError({ code: -32_015, message: 'Transaction version (1) is not supported' })
  throw new RpcError('refused', cause.message, null, { cause })
}

function reader(told: Record<string, Told | Call>): () => Promise<ReadTransaction[]> {
  const nodes = new Map(
    Object.entries(told).map(([name, one]) => [`http://${name}`, typeof one === 'function' ? one : node(one)]),
  )
  const rpc = new NodePool<string>({
    ...{ label: 'solana', urls: [...nodes.keys()], connect: (url) => nodes.get(url)!, behindBlocks: 50 },
    ...{ readGenesis: async () => 'genesis', headOf: async () => ({ height: SLOT, timeMs: null }) },
  })
  return () => readConfirmed({ rpc, registrar: createRegistrar(PROGRAM), commitment: 'finalized' }, listed)
}

const [ONE, OTHER] = [{ event: reclaimed(1) }, { event: reclaimed(2) }]
const CONTRADICT = /two nodes contradict each other about a/

it.concurrent('who is contradicted is not believed alone, at no later look either', async () => {
  for (const second of [OTHER, { event: null }, { ...ONE, slot: SLOT + 1 }]) {
    const read = reader({ first: ONE, second })
    for (let look = 0; look < 4; look++) await expect(read()).rejects.toThrow(CONTRADICT)
  }
})

it.concurrent('nor where the other one lacks the transaction', async () => {
  const read = reader({ first: ONE, second: {} })
  for (let look = 0; look < 2; look++) {
    await expect(read()).rejects.toThrow()
    // the least pause of a worker after a failure
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}, 20_000)

it.concurrent.each([
  { first: OTHER, second: ONE, third: ONE },
  { first: ONE, second: OTHER, third: ONE },
  { first: ONE, second: ONE, third: OTHER },
])('of three the two that agree are believed', async (told) => {
  const agreed = await reader({ third: ONE })()
  const read = reader(told)
  for (let look = 0; look < 2; look++) expect(await read()).toEqual(agreed)
})

it.concurrent('a node that came to a stop before a transaction denies nothing, one that goes on does', async () => {
  const behind = { head: SLOT - 1 }
  const stopped = { ...behind, headMs: Date.now() - 120_000 }
  expect(await reader({ first: ONE, second: stopped })()).toEqual(await reader({ first: ONE })())
  const denying = [behind, { ...stopped, head: SLOT }].map((second) => reader({ first: ONE, second })())
  for (const read of denying) await expect(read).rejects.toThrow(CONTRADICT)
}, 10_000)

it.concurrent.each([
  ['came to a stop before it', { head: SLOT - 1, headMs: Date.now() - 120_000 }],
  ['keeps but what is newer', { oldest: SLOT + 1 }],
])('of three, one that %s leaves it to the third to confirm or contradict', async (_, second) => {
  expect(await reader({ first: ONE, second, third: ONE })()).toEqual(await reader({ first: ONE })())
  for (const third of [OTHER, { event: null }])
    await expect(reader({ first: ONE, second, third })()).rejects.toThrow(CONTRADICT)
})

it.concurrent('a node that can’t read a transaction denies nothing', async () => {
  expect(await reader({ first: ONE, second: outdated })()).toEqual(await reader({ first: ONE })())
})
