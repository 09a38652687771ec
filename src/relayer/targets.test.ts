import { expect, it } from 'vitest'
import { createChainRpc, createEvmChain } from '../chains/evm/chain.js'
import { parseChainsFile } from '../config/index.js'
import { relayPlanOf } from './targets.js'

const address = (byte: string) => `0x${byte.repeat(20)}`
const common = { network: 'mainnet', rpcUrls: ['http://127.0.0.1:9'], contract: address('aa') }
const hub = { ...common, label: '1', role: 'hub', chainId: 1 }
const spoke = { ...common, label: '10', role: 'spoke', chainId: 10 }
const ends = { eid: 30_101, endpoint: address('ee') }
const communityPayments = address('cc')

const planOf = (chains: readonly object[], carriesPayments = false) => {
  const open = parseChainsFile({ chains }, 'test').chains.map((config, i) => {
    const number = i + 1
    return { number, chain: createEvmChain({ config, chain: number, rpc: createChainRpc(config) }) }
  })
  const { targets: found, problem } = relayPlanOf(open, carriesPayments)
  return { targets: found.map(({ at, path }) => `${at.chain.label}${path ? ' path' : ''}`), problem }
}

it.each<[string, object[], boolean, string[]]>([
  ['nothing is carried to a hub alone', [hub], false, []],
  ['payments on Solana are', [hub], true, ['1 path']],
  [
    'messages of a spoke are',
    [
      { ...spoke, eid: 2 },
      { ...hub, ...ends },
    ],
    false,
    ['1 path'],
  ],
  [
    'nothing is carried to contracts of others',
    [
      { ...hub, watchOnly: {} },
      { ...spoke, eid: 2 },
    ],
    false,
    [],
  ],
  ['a hub that takes payments refunds them', [{ ...hub, communityPayments }], false, ['1']],
  [
    'so does a spoke, behind the hub',
    [
      { ...spoke, eid: 2, communityPayments },
      { ...hub, ...ends, communityPayments },
    ],
    false,
    ['1 path', '10'],
  ],
])('%s', (_, chains, carriesPayments, expected) => {
  expect(planOf(chains, carriesPayments)).toEqual({ targets: expected, problem: null })
})

it('refunds also where messages can not be carried', () => {
  const { targets: found, problem } = planOf([{ ...hub, communityPayments }, spoke])
  expect(found).toEqual(['1'])
  expect(problem).toMatch(/chain "1" lacks eid and endpoint in the chains file/)
})
