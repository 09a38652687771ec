import { describe, expect, it } from 'vitest'
import { createEvmChain, createEvmChainRpc } from '../chains/evm/chain.js'
import { parseChainsFile } from '../config/index.js'
import { relayPlanOf } from './targets.js'

const address = (byte: string) => `0x${byte.repeat(20)}`
const common = { network: 'mainnet', rpcUrls: ['http://127.0.0.1:9'], contract: address('aa') }
// other ids than those of public chains, so no presets apply
const hub = { ...common, label: '1', role: 'hub', chainId: 9_001 }
const spoke = { ...common, label: '10', role: 'spoke', chainId: 9_010 }
const ends = { eid: 30_101, endpoint: address('ee') }
const communityPayments = address('cc')
/** Chains between which messages are carried. */
const linkedHub = { ...hub, ...ends }
const linkedSpoke = { ...spoke, eid: 2 }

const pathOf = (chains: readonly object[], carriesPayments = false) => {
  const open = parseChainsFile({ chains }, 'test').chains.map((config, i) =>
    createEvmChain({ config, chain: i + 1, rpc: createEvmChainRpc(config) }),
  )
  return relayPlanOf(open, carriesPayments)
}
const planOf = (chains: readonly object[], carriesPayments = false) => {
  const { targets: found, problem } = pathOf(chains, carriesPayments)
  return { targets: found.map(({ at, path }) => `${at.label}${path ? ' path' : ''}`), problem }
}

it.each<[string, object[], boolean, string[]]>([
  ['nothing is carried to a hub alone', [hub], false, []],
  ['payments on Solana are', [hub], true, ['1 path']],
  ['messages of a spoke are', [linkedSpoke, linkedHub], false, ['1 path']],
  [
    'nothing is carried to contracts of others',
    [{ ...hub, watchOnly: {} }, linkedSpoke],
    false,
    [],
  ],
  ['a hub that takes payments refunds them', [{ ...hub, communityPayments }], false, ['1']],
  [
    'so does a spoke, behind the hub',
    [linkedSpoke, linkedHub].map((chain) => ({ ...chain, communityPayments })),
    false,
    ['1 path', '10'],
  ],
])('%s', (_, chains, carriesPayments, expected) => {
  expect(planOf(chains, carriesPayments)).toEqual({ targets: expected, problem: null })
})

describe('the path to a hub', () => {
  const messageLib = address('dd')
  const base = { ...spoke, label: '8453', chainId: 9_453, eid: 3, contract: address('bb') }

  it('has both ends of every lane, spokes by their numbers', () => {
    const { targets } = pathOf([linkedSpoke, linkedHub, base])
    expect(targets[0]!.path).toEqual({
      lane: {
        hub: { eid: ends.eid, contract: common.contract, isLocal: false },
        spokes: [
          { chain: 1, eid: 2, contract: common.contract },
          { chain: 3, eid: 3, contract: base.contract },
        ],
      },
      endpoint: ends.endpoint,
      messageLib: null,
    })
  })

  it('has no endpoint if it is only for payments', () => {
    expect(pathOf([hub], true).targets[0]!.path).toEqual({
      lane: { hub: { eid: 0, contract: common.contract, isLocal: false }, spokes: [] },
      endpoint: null,
      messageLib: null,
    })
  })

  it.each([
    [true, messageLib, true],
    [true, undefined, false],
    [false, messageLib, false],
  ])('is a local one where chain (%s) and library (%s) are: %s', (local, library, isLocal) => {
    const chain = { ...linkedHub, local, ...(library && { messageLib: library }) }
    const { path } = pathOf([chain, base]).targets[0]!
    expect([path!.lane.hub.isLocal, path!.messageLib]).toEqual([
      isLocal,
      isLocal ? messageLib : null,
    ])
  })

  it.each<[object, object, string]>([
    [{ ...hub, eid: 1 }, base, 'chain "1" has no eid and endpoint'],
    [{ ...hub, endpoint: ends.endpoint }, base, 'chain "1" has no eid and endpoint'],
    [linkedHub, spoke, 'chain "10" has no eid'],
  ])('does not exist where an end is unknown: %#', (first, second, lack) => {
    const { targets, problem } = pathOf([first, second])
    expect(targets).toEqual([])
    expect(problem).toBe(`no messages are delivered on mainnet: ${lack} in the chains file`)
  })
})

it.each<[string, object, object]>([
  ['an eid and an endpoint of the hub', hub, linkedSpoke],
  ['an eid of the spoke', linkedHub, spoke],
])(
  'carries payments on Solana also where messages can not be for want of %s',
  (_, first, second) => {
    const { targets, problem } = pathOf([first, second], true)
    expect(targets.map(({ at, path }) => [at.label, path!.lane.spokes])).toEqual([['1', []]])
    expect(problem).toMatch(/no messages are delivered/)
    expect(planOf([first, second]).targets).toEqual([])
  },
)

it('refunds also where messages can not be carried', () => {
  const { targets: found, problem } = planOf([{ ...hub, communityPayments }, spoke])
  expect(found).toEqual(['1'])
  expect(problem).toMatch(/chain "1" has no eid and endpoint in the chains file/)
})
