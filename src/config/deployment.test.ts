import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readDraft } from './chainsFile.js'
import { type GivenBridge, wishesOf } from './deployment.js'
import { editChains } from './editChains.js'

const folder = mkdtempSync(join(tmpdir(), 'clusterd-deployment-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'chains.json')

const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const [OWNER, RELAYER, A, B, C] = [1, 2, 0xa, 0xb, 0xc].map(address)
const LAYER_ZERO: GivenBridge = {
  ...{ sendLibrary: address(0x51), receiveLibrary: address(0x52), executor: address(0x53), dvn: address(0x54) },
}

interface Parts {
  hub?: object
  spoke?: object
  deployment?: object | undefined
}

function wishes({ hub, spoke, deployment = { owner: OWNER, relayer: RELAYER } }: Parts, known = true) {
  const rpcUrls = ['http://127.0.0.1:1']
  const chains = [
    { label: '17000', role: 'spoke', rpcUrls, ...spoke },
    { label: '11155111', role: 'hub', rpcUrls, ...hub },
  ]
  writeFileSync(file, JSON.stringify({ chains, ...(deployment && { deployment: { testnet: deployment } }) }))
  return wishesOf(readDraft(file), 'testnet', () => (known ? LAYER_ZERO : undefined))
}

describe('wishes', () => {
  it('have defaults for all but owner and relayer, hub first', () => {
    const [hub, spoke] = wishes({})
    expect(hub).toMatchObject({
      ...{ label: '11155111', role: 'hub', owner: OWNER, relayer: RELAYER, pauser: address(0), hasPayments: true },
      ...{ minimumWei: 10n ** 16n, deliverLimitWei: 10n ** 18n, reclaimSeconds: 604_800n, contract: null },
      bridge: { requiredDvns: [LAYER_ZERO.dvn], executor: LAYER_ZERO.executor, confirmations: 64 },
    })
    expect(spoke).toMatchObject({ label: '17000', endpoint: expect.stringMatching(/^0x/), eid: 40_217 })
    expect(wishes({ hub: { messageLib: address(9) } }, false).map(({ bridge }) => bridge)).toEqual([null, null])
  })

  it('of a chain come before those of its network', () => {
    const [hub, spoke] = wishes({ spoke: { deployment: { owner: B, payments: false }, confirmation: { blocks: 3 } } })
    expect([hub!.owner, spoke!.owner, spoke!.relayer, spoke!.hasPayments]).toEqual([OWNER, B, RELAYER, false])
    expect(spoke!.bridge!.confirmations).toBe(3)
  })

  it('name verifiers once each, ascending', () => {
    const [hub] = wishes({ hub: { bridge: { requiredDvns: [C, A, C] } }, spoke: { bridge: { requiredDvns: [A, B] } } })
    expect(hub!.bridge!.requiredDvns).toEqual([A, C])
  })

  it.each<[string, Parts, string, boolean?]>([
    ['no deployment', { deployment: null as unknown as undefined }, 'has no `deployment.testnet`'],
    ['other verifiers at the two ends', { hub: { bridge: { requiredDvns: [A, B] } } }, 'names other verifiers'],
    ['a bridge at one end', { hub: { bridge: { requiredDvns: [A] } } }, 'has no `sendLibrary`', false],
    ['a threshold without verifiers', { hub: { bridge: { optionalThreshold: 1 } } }, 'is 1 to the number'],
    ['no verifiers', { hub: { bridge: { requiredDvns: [] } } }, 'names no verifiers'],
    ['another field', { hub: { bridge: { dvns: [] } } }, 'Unrecognized key'],
    ['a wrong time', { deployment: { owner: OWNER, relayer: RELAYER, reclaimDays: 31 } }, 'reclaimDays'],
  ])('are refused for %s', (_, parts, sentence, known = true) => {
    expect(() => wishes(parts, known)).toThrow(sentence)
  })
})

describe('an edit of the chains file', () => {
  it('sets fields and leaves order, indentation, rights and everything else', () => {
    const chains = [{ label: '1', note: 'x', rpcUrls: [] }, { label: '10' }]
    writeFileSync(file, `${JSON.stringify({ extra: true, chains, solana: { mainnet: { a: 1 } } }, null, '\t')}\n`)
    const { mode } = statSync(file)
    editChains(file, {
      chains: { '1': { contract: A }, '137': { contract: B } },
      solana: { mainnet: { programId: 'p' } },
    })
    const edited = [{ ...chains[0], contract: A }, chains[1]]
    expect(readFileSync(file, 'utf8')).toBe(
      `${JSON.stringify({ extra: true, chains: edited, solana: { mainnet: { a: 1, programId: 'p' } } }, null, '\t')}\n`,
    )
    expect(statSync(file).mode).toBe(mode)
  })
})
