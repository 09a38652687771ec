import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../test/support/folder.js'
import { readDraftChainsFile } from './chainsFile.js'
import { desiredChainDeployments } from './desired.js'
import { chainPresetOf } from './presets.js'

const folder = useFolder()
const file = join(folder, 'chains.json')

const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const [OWNER, RELAYER, A, B, C] = [1, 2, 0xa, 0xb, 0xc].map(address)
const LAYER_ZERO = chainPresetOf('11155111')!.layerZero

interface Parts {
  hub?: object
  spoke?: object
  deployment?: object | undefined
}

function desired(
  { hub, spoke, deployment = { owner: OWNER, relayer: RELAYER } }: Parts,
  known = true,
) {
  const rpcUrls = ['http://127.0.0.1:1']
  // a chain with another id than its label's preset takes nothing from the preset
  const place = (n: number) => (known ? {} : { chainId: 900 + n, endpoint: address(n), eid: n })
  const chains = [
    { label: '17000', role: 'spoke', rpcUrls, ...place(2), ...spoke },
    { label: '11155111', role: 'hub', rpcUrls, ...place(1), ...hub },
  ]
  writeFileSync(
    file,
    JSON.stringify({ chains, ...(deployment && { deployment: { testnet: deployment } }) }),
  )
  return desiredChainDeployments(readDraftChainsFile(file), 'testnet')
}

describe('desired', () => {
  it('have defaults except for owner and relayer, hub first', () => {
    const [hub, spoke] = desired({})
    expect(hub).toMatchObject({
      label: '11155111',
      role: 'hub',
      owner: OWNER,
      relayer: RELAYER,
      pauser: address(0),
      hasPayments: true,
      minimumWei: 10n ** 16n,
      deliverLimitWei: 10n ** 18n,
      reclaimSeconds: 604_800n,
      contract: null,
      bridge: { requiredDvns: [LAYER_ZERO.dvn], executor: LAYER_ZERO.executor, confirmations: 64 },
    })
    expect(spoke).toMatchObject({
      label: '17000',
      endpoint: expect.stringMatching(/^0x/),
      eid: 40_217,
    })
    expect(desired({ hub: { messageLib: address(9) } }, false).map(({ bridge }) => bridge)).toEqual(
      [null, null],
    )
  })

  it('of a chain override those of its network', () => {
    const [hub, spoke] = desired({
      spoke: { deployment: { owner: B, payments: false }, confirmation: { blocks: 3 } },
    })
    expect([hub!.owner, spoke!.owner, spoke!.relayer, spoke!.hasPayments]).toEqual([
      OWNER,
      B,
      RELAYER,
      false,
    ])
    expect(spoke!.bridge!.confirmations).toBe(3)
  })

  it('list verifiers in ascending order without duplicates', () => {
    const [hub] = desired({
      hub: { bridge: { requiredDvns: [C, A, C] } },
      spoke: { bridge: { requiredDvns: [A, B] } },
    })
    expect(hub!.bridge!.requiredDvns).toEqual([A, C])
  })

  it.each<[string, Parts, string, boolean?]>([
    ['no deployment', { deployment: null as unknown as undefined }, 'has no `deployment.testnet`'],
    [
      'other verifiers at the two ends',
      { hub: { bridge: { requiredDvns: [A, B] } } },
      'names other verifiers',
    ],
    [
      'a bridge at one end',
      { hub: { bridge: { requiredDvns: [A] } } },
      'has no `sendLibrary`',
      false,
    ],
    [
      'a threshold without verifiers',
      { hub: { bridge: { optionalThreshold: 1 } } },
      'is 1 to the number',
    ],
    ['no verifiers', { hub: { bridge: { requiredDvns: [] } } }, 'names no verifiers'],
    ['another field', { hub: { bridge: { dvns: [] } } }, 'Unrecognized key'],
    [
      'a wrong time',
      { deployment: { owner: OWNER, relayer: RELAYER, reclaimDays: 31 } },
      'reclaimDays',
    ],
  ])('are refused for %s', (_, parts, sentence, known = true) => {
    expect(() => desired(parts, known)).toThrow(sentence)
  })
})
