import bs58 from 'bs58'
import { afterEach, expect, it } from 'vitest'
import { type SolanaProxy, startSolanaProxy } from './solanaProxy.js'
import { useSolanaWorld } from './solanaWorld.js'
import { settle } from './support.js'

/** A node that shows payments nobody made, beside an honest one that falters: nothing is accepted by one answer. */

const world = await useSolanaWorld()
let honest: SolanaProxy | null = null
afterEach(async () => {
  world.proxy.alter = null
  await honest?.stop()
})

/** Answers about a transaction with another name in the payment. */
const renaming = (from: string, to: string) => (method: string, _: unknown, result: unknown) => {
  if (method !== 'getTransaction' || !result) return result
  const told = structuredClone(result) as {
    meta: { innerInstructions: { instructions: { data: string }[] }[] }
  }
  for (const { instructions } of told.meta.innerInstructions)
    for (const instruction of instructions) {
      const data = Buffer.from(bs58.decode(instruction.data))
      const at = data.indexOf(from)
      if (at >= 0) data.write(to, at)
      instruction.data = bs58.encode(data)
    }
  return told
}

it.each([
  ['fails once', -32_000, 'Internal error', 1],
  ['is rate limited once', 429, 'Too many requests', 1],
  ['is rate limited', -32_005, 'Node is behind; request rate exceeded', 1_000],
  ['refuses by its plan', -32_601, 'method getTransaction is not available on your plan', 1_000],
  ['knows no such version', -32_015, 'Transaction version (0) is not supported', 1_000],
])(
  'a payment of another name never enters beside a node that %s',
  async (how, code, message, times) => {
    let left = times
    honest = await startSolanaProxy(world.solana.rpcUrl)
    const { rpc } = (await world.open({ rpcUrls: [world.proxy.url, honest.url] })).chain
    const watching = await world.watcher({ rpc })
    await settle(watching)
    const name = `true-${how.replaceAll(' ', '-')}`.slice(0, 20)
    const forged = name.replace('true', 'fake')
    world.proxy.alter = renaming(name, forged)
    honest.errorOf = (method) =>
      method === 'getTransaction' && left-- > 0 ? { code, message } : undefined
    await world.pay(world.payer(0), name)
    for (let i = 0; i < 3; i++) await watching.step().catch(() => {})
    expect((await world.rows()).map((row) => row.name)).not.toContain(forged)
    world.proxy.alter = null
    honest.errorOf = null
    const step = async () => {
      await watching.step().catch(() => {})
      return (await world.rows()).map((row) => row.name)
    }
    await expect.poll(step, { timeout: 10_000 }).toContain(name)
  },
)
