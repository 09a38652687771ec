import { expect, it } from 'vitest'
import type { RpcCall } from '../../rpc/evm.js'
import { readRunningHashes } from './hashes.js'

const HUB = `0x${'11'.repeat(20)}` as const
const PAYMENTS = `0x${'22'.repeat(20)}` as const

it('the running hashes of a hub and of its payments contract are read at once, in their order', async () => {
  const asked: { address: string; answer(): void }[] = []
  const call: RpcCall = <T>(_: string, [what]: readonly unknown[]) =>
    new Promise<T>((resolve) => {
      const { to } = what as { to: string }
      const answer = () => resolve(`0x${to.slice(2, 4).repeat(32)}` as T)
      asked.push({ address: to, answer })
    })
  const contracts = { role: 'hub', contract: HUB, communityPayments: PAYMENTS } as const
  const block = { number: 7, hash: `0x${'77'.repeat(32)}` } as const
  const hashes = readRunningHashes(call, contracts, block)
  expect(asked.map(({ address }) => address)).toEqual([HUB, PAYMENTS])
  for (const { answer } of asked.toReversed()) answer()
  expect(await hashes).toEqual([Buffer.alloc(32, 0x11), Buffer.alloc(32, 0x22)])
})
