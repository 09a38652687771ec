import bs58 from 'bs58'
import { expect, it } from 'vitest'
import { NodeError, RpcError } from '../../chains/rpc/errors.js'
import { type Call, NodePool } from '../../chains/rpc/nodes.js'
import { createRegistrar, registrarIdl } from '../../chains/solana/registrar.js'
import { readConfirmed } from './twoNodes.js'

const PROGRAM = '11111111111111111111111111111111'
const SLOT = 7
const LISTED = ['a']

/** An event of a payment by its sequence. */
function eventOf(kind: string, sequence: number): Buffer {
  const { discriminator } = registrarIdl.events!.find(({ name }) => name === kind)!
  const fields = Buffer.alloc(224)
  fields.writeUInt8(sequence)
  return Buffer.concat([Buffer.from('e445a52e51cb9a1d', 'hex'), Buffer.from(discriminator), fields])
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
const node = ({ event, head = SLOT, headMs = Date.now(), oldest = 0, slot = SLOT }: Told, signature = 'a'): Call => {
  const innerInstructions = event ? [{ instructions: [{ programIdIndex: 0, data: bs58.encode(event) }] }] : []
  const transaction = { signatures: [signature], message: { accountKeys: [PROGRAM] } }
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

const reader = (told: Record<string, Told | Call>, signatures = LISTED) => poolOf(told, signatures).read

function poolOf(told: Record<string, Told | Call>, signatures = LISTED) {
  const nodes = new Map(
    Object.entries(told).map(([name, one]) => [`http://${name}`, typeof one === 'function' ? one : node(one)]),
  )
  const rpc = new NodePool<string>({
    ...{ label: 'solana', urls: [...nodes.keys()], connect: (url) => nodes.get(url)!, behindBlocks: 50 },
    ...{ readGenesis: async () => 'genesis', headOf: async () => ({ height: SLOT, timeMs: null }) },
  })
  const listed = signatures.map((signature) => ({ signature, slot: SLOT }))
  const options = { rpc, registrar: createRegistrar(PROGRAM), commitment: 'finalized' as const }
  const read = () => readConfirmed(options, listed)
  /** Whether the node that is asked first has the transaction. */
  const isShown = () => rpc.onOneNode(async (call) => (await call('getTransaction', ['a'])) !== null)
  return { read, isShown }
}

const [ONE, OTHER] = [1, 2].map((sequence) => ({ event: eventOf('PaymentReclaimed', sequence) })) as [Told, Told]
const CONTRADICT = /two nodes contradict each other about a/

it.concurrent('who is contradicted is not believed alone, at no later look either', async () => {
  for (const second of [OTHER, { event: null }, { ...ONE, slot: SLOT + 1 }]) {
    const read = reader({ first: ONE, second })
    for (let look = 0; look < 4; look++) await expect(read()).rejects.toThrow(CONTRADICT)
  }
})

it.concurrent.each(['RegistrationPaid', 'CommunityPaid', 'CommunityRefused', 'CommunityReleased'])(
  'nor of a %s, which another has to show, too',
  async (kind) => {
    const [one, other] = [1, 2].map((sequence) => ({ event: eventOf(kind, sequence) })) as [Told, Told]
    for (const second of [other, { event: null }])
      await expect(reader({ first: one, second })()).rejects.toThrow(CONTRADICT)
    expect(await reader({ first: one, second: one })()).toEqual(await reader({ first: one })())
  },
)

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

/** A node that shows two transactions. */
const ofTwo = (a: Told, b: Told): Call => {
  const [onA, onB] = [node(a), node(b, 'b')]
  return (method, params) => (params?.[0] === 'b' ? onB(method, params) : onA(method, params))
}

it.concurrent('of three the third is asked, too, where two agree about one transaction alone', async () => {
  const agreed = await reader({ only: ofTwo(ONE, ONE) }, ['a', 'b'])()
  const read = reader({ first: ofTwo(ONE, ONE), second: ofTwo(ONE, OTHER), third: ofTwo(ONE, ONE) }, ['a', 'b'])
  expect(await read()).toEqual(agreed)
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

it.concurrent('of three, one that lists what the two others lack is asked after them', async () => {
  const { read, isShown } = poolOf({ first: ONE, second: {}, third: {} })
  expect(await isShown()).toBe(true)
  await expect(read()).rejects.toThrow(CONTRADICT)
  expect(await isShown()).toBe(false)
  // of two neither is passed over: the other one may be what is wrong
  const two = poolOf({ first: ONE, second: {} })
  await expect(two.read()).rejects.toThrow(CONTRADICT)
  expect(await two.isShown()).toBe(true)
}, 30_000)

/** A node that gives an error at some of its answers about transactions, by their number from 0 on. */
function failing(told: Told, fails: (nth: number) => boolean): Call {
  let nth = 0
  const call = node(told)
  return async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    if (method === 'getTransaction' && fails(nth++)) throw new RpcError('transient', 'overloaded')
    return call<T>(method, params)
  }
}

it.concurrent.each([
  // who lacks what another lists is no node with a fault, whose word would not count at the next look
  ['fails first, so that the honest one is asked for what it lacks', failing(ONE, (nth) => nth === 0), {}],
  ['has been waiting for a fault of the honest one', ONE, failing({}, (nth) => nth === 0)],
])(
  'a lie is not believed where its node %s',
  async (_, first, second) => {
    const read = reader({ first, second })
    for (let look = 0; look < 2; look++) {
      await expect(read()).rejects.toThrow()
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  },
  20_000,
)

it.concurrent('nor where one that can not tell answers while the honest one rests for a moment', async () => {
  const stopped = { head: SLOT - 1, headMs: Date.now() - 120_000 }
  const read = reader({ first: ONE, second: stopped, third: failing({}, (nth) => nth === 0) })
  await expect(read()).rejects.toThrow(CONTRADICT)
  // nor does the one that tells otherwise of another one count twice
  const third = failing(stopped, (nth) => nth === 0)
  const both = reader({ first: ofTwo(ONE, ONE), second: ofTwo(stopped, OTHER), third }, ['a', 'b'])
  expect((await both()).map(({ signature }) => signature)).toEqual(['a'])
}, 20_000)

it.concurrent('of three, one that lacks what it lists is asked after the others, and waited for at no look', async () => {
  const { read, isShown } = poolOf({ first: {}, second: ONE, third: ONE })
  const startedMs = performance.now()
  for (let look = 0; look < 2; look++) expect(await read()).toHaveLength(1)
  expect(performance.now() - startedMs).toBeLessThan(2_000)
  expect(await isShown()).toBe(true)
})

it.concurrent('the slot of what does nothing is sure where another node has it there, or none can tell', async () => {
  const plain = { event: null }
  const sure = async (told: Record<string, Told | Call>) => (await reader(told)()).map(({ isSure }) => isSure)
  const stopped = { head: SLOT - 1, headMs: Date.now() - 120_000 }
  for (const second of [plain, stopped, outdated]) expect(await sure({ first: plain, second })).toEqual([true])
  for (const second of [{}, { ...plain, slot: SLOT + 1 }]) expect(await sure({ first: plain, second })).toEqual([false])
  // a list of what two others lack ends
  await expect(reader({ first: plain, second: {}, third: {} })()).rejects.toThrow(CONTRADICT)
}, 20_000)

it.concurrent('what another node shows to be a payment is none that does nothing', async () => {
  await expect(reader({ first: { event: null }, second: ONE })()).rejects.toThrow(CONTRADICT)
  const agreed = await reader({ only: ONE })()
  expect(await reader({ first: { event: null }, second: ONE, third: ONE })()).toEqual(agreed)
})
