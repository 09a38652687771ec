import { expect, it } from 'vitest'
import { createChainRpc, createEvmChain } from '../chains/evm/chain.js'
import { parseChains } from '../config/index.js'
import { placesOf } from './route.js'

const address = (byte: string) => `0x${byte.repeat(20)}`
const common = { network: 'mainnet', rpcUrls: ['http://127.0.0.1:9'], contract: address('aa') }
const hub = { ...common, label: '1', role: 'hub', chainId: 1 }
const spoke = { ...common, label: '10', role: 'spoke', chainId: 10 }
const ends = { eid: 30_101, endpoint: address('ee') }
const communityPayments = address('cc')

const places = (chains: readonly object[], carriesPayments = false) => {
  const open = parseChains({ chains }, 'test').map((config, i) => {
    const number = i + 1
    return { number, chain: createEvmChain({ config, chain: number, rpc: createChainRpc(config) }) }
  })
  const { places: found, problem } = placesOf(open, carriesPayments)
  return { places: found.map(({ at, road }) => `${at.chain.label}${road ? ' road' : ''}`), problem }
}

it.each<[string, object[], boolean, string[]]>([
  ['nothing is carried to a hub alone', [hub], false, []],
  ['payments on Solana are', [hub], true, ['1 road']],
  [
    'messages of a spoke are',
    [
      { ...spoke, eid: 2 },
      { ...hub, ...ends },
    ],
    false,
    ['1 road'],
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
  ['a hub that takes payments gives them back', [{ ...hub, communityPayments }], false, ['1']],
  [
    'so does a spoke, behind the hub',
    [
      { ...spoke, eid: 2, communityPayments },
      { ...hub, ...ends, communityPayments },
    ],
    false,
    ['1 road', '10'],
  ],
])('%s', (_, chains, carriesPayments, expected) => {
  expect(places(chains, carriesPayments)).toEqual({ places: expected, problem: null })
})

it('gives back also where messages can not be carried', () => {
  const { places: found, problem } = places([{ ...hub, communityPayments }, spoke])
  expect(found).toEqual(['1'])
  expect(problem).toMatch(/chain "1" lacks eid and endpoint in the chains file/)
})
