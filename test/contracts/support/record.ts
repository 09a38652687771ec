import type { Address, Hex, PublicClient } from 'viem'
import { expect } from 'vitest'
import { logFilterOfContracts } from '../../../src/chains/evm/decodeLogs.js'
import type { RawLog } from '../../../src/chains/evm/logs.js'
import {
  extendRunningHashes,
  initialRunningHashes,
  readRunningHashes,
  runningHashInputs,
} from '../../../src/chains/evm/runningHash/hashes.js'

/** Checks that a contract's record is the fold of its logs, and that the fold differs without any one of the logs. */
export async function expectRecord(
  client: PublicClient,
  contracts: { hub?: Address; payments?: Address },
) {
  const lower = (address?: Address) => address?.toLowerCase() as Hex | undefined
  const communityPayments = lower(contracts.payments)
  const contract = lower(contracts.hub)
  const role = contract ? 'hub' : 'spoke'
  const chain = { role, contract, communityPayments, chainId: client.chain!.id } as const
  const ours = {
    role: 'hub',
    contract: (contract ?? communityPayments)!,
    communityPayments,
  } as const
  const { addresses, topics } = logFilterOfContracts(ours)
  const ask = <T>(method: string, params: readonly unknown[]) =>
    client.request({ method, params } as never) as Promise<T>
  const filter = { address: addresses, topics: [topics], fromBlock: '0x0', toBlock: 'latest' }
  const logs = await ask<RawLog[]>('eth_getLogs', [filter])
  const fold = (some: readonly RawLog[]) =>
    extendRunningHashes(
      initialRunningHashes(chain),
      runningHashInputs(chain, some, ({ blockTimestamp }) => Number(blockTimestamp) * 1_000),
    )
  const { hash, number } = await client.getBlock()
  const kept = await readRunningHashes(ask, chain, { hash, number: Number(number) })
  expect(fold(logs)).toEqual(kept)
  const ends = contract ? logs : logs.filter(({ topics: [, id] }) => id !== undefined)
  const one = ends[Math.floor(Math.random() * ends.length)]
  if (!one) return
  const without = () => fold(logs.filter((log) => log !== one))
  const late = () =>
    fold(logs.map((log) => (log === one ? { ...log, blockTimestamp: '0x1' } : log)))
  for (const lie of [without, late]) expect(lie()).not.toEqual(kept)
}
