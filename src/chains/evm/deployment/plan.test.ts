import fc from 'fast-check'
import { decodeAbiParameters, decodeFunctionData, type Hex, pad, parseAbiParameters } from 'viem'
import { describe, expect, it } from 'vitest'
import type { BridgeWishes, ChainWishes } from '../../../config/deployment.js'
import { hubAbi, libraryManagerAbi } from '../contracts/index.js'
import { appCreation, DEPLOYMENT_PROXY, paymentsCreation } from './creation.js'
import { RANK, type Side, type Step, stepsOf } from './item.js'
import { itemsOf } from './plan.js'
import { type ChainState, ZERO_ADDRESS } from './state.js'

const address = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`
const [OWNER, PAUSER, RELAYER, ENDPOINT, OTHER] = [1, 2, 3, 4, 5].map((n) => address(0xa0 + n)) as Hex[]
const EIDS: Record<string, number> = { '1': 30_101, '10': 30_111, '8453': 30_184 }

const BRIDGE: BridgeWishes = {
  ...{ sendLibrary: address(0xb1), receiveLibrary: address(0xb2), executor: address(0xb3), maxMessageSize: 10_000 },
  ...{ requiredDvns: [address(0xd1), address(0xd2)], optionalDvns: [], optionalThreshold: 0, confirmations: 15 },
}

const wishesOf = (label: string, changes: Partial<ChainWishes> = {}): ChainWishes => ({
  ...{ label, role: label === '1' ? 'hub' : 'spoke', eid: EIDS[label]!, endpoint: ENDPOINT!, owner: OWNER! },
  ...{ pauser: PAUSER!, relayer: RELAYER!, minimumWei: 10n ** 16n, deliverLimitWei: 10n ** 18n },
  ...{ reclaimSeconds: 604_800n, salt: pad('0x'), contract: null, communityPayments: null, hasPayments: true },
  bridge: BRIDGE,
  ...changes,
})

const NO_ULN = {
  ...{ confirmations: 0n, requiredCount: 0, requiredDvns: [], optionalCount: 0, optionalThreshold: 0 },
  optionalDvns: [],
}

/** A chain with LayerZero's contracts alone, as `readChainState` shows it. */
function emptyState(wishes: ChainWishes, far: readonly number[]): ChainState {
  const { owner, pauser, relayer, minimumWei, deliverLimitWei, role } = wishes
  const roles = { owner, pendingOwner: ZERO_ADDRESS, pauser, relayer, isPaused: false, code: 'none' as const }
  const isHub = role === 'hub'
  return {
    ...{ hasProxy: true, endpointEid: wishes.eid, strangers: [] },
    app: {
      ...{ ...roles, relayer: isHub ? relayer : null, deliverLimitWei: isHub ? deliverLimitWei : null },
      ...{ address: appCreation(wishes, EIDS['1']!).address, minimumWei, delegate: owner },
    },
    payments: { ...roles, address: paymentsCreation(wishes).address },
    paths: far.map((eid) => ({
      ...{ eid, peer: pad('0x'), library: { address: address(0xef), isDefault: true }, uln: NO_ULN },
      executor: isHub ? null : { address: ZERO_ADDRESS, maxMessageSize: 0 },
    })),
  }
}

const labels = ['1', '10', '8453']
const network = (changes: Partial<ChainWishes> = {}): Side[] =>
  labels.map((label) => {
    const wishes = wishesOf(label, changes)
    const far = label === '1' ? [EIDS['10']!, EIDS['8453']!] : [EIDS['1']!]
    return { wishes, state: emptyState(wishes, far) }
  })

/** What a chain does with a step: the contracts' rules, as far as states show them. */
function carryOut(sides: readonly Side[], { chain, to, data, by }: Step): void {
  const { state } = sides.find(({ wishes }) => wishes.label === chain)!
  const { app, payments, paths } = state
  if (to === DEPLOYMENT_PROXY) {
    const made = [app, payments!].find(({ address: at }) => data.length > 0 && codeIn(sides, chain, at) === data)!
    expect(made.code).toBe('none')
    made.code = 'ours'
    return
  }
  if (to === ENDPOINT) {
    configure(paths, data)
    return
  }
  const contract = [app, payments!].find(({ address: at }) => at === to)!
  expect([contract.code, by === contract.owner || by === contract.pendingOwner]).toEqual(['ours', true])
  const { functionName, args = [] } = decodeFunctionData({ abi: hubAbi, data })
  const value = args[0] as never
  const lower = String(value).toLowerCase() as Hex
  if (functionName === 'setPauser') contract.pauser = lower
  else if (functionName === 'setRelayer') contract.relayer = lower
  else if (functionName === 'transferOwnership') contract.pendingOwner = lower
  else if (functionName === 'acceptOwnership') {
    Object.assign(contract, { owner: contract.pendingOwner, pendingOwner: ZERO_ADDRESS })
    app.delegate = app.owner
  } else if (functionName === 'setMinimum') app.minimumWei = value
  else if (functionName === 'setDeliverLimit') app.deliverLimitWei = value
  else if (functionName === 'setDelegate') app.delegate = lower
  else if (functionName === 'setPeer') paths.find(({ eid }) => eid === value)!.peer = args[1] as Hex
  else throw new Error(`an unexpected call: ${functionName}`)
}

function codeIn(sides: readonly Side[], chain: string, at: Hex): Hex | undefined {
  const { wishes } = sides.find((side) => side.wishes.label === chain)!
  return [appCreation(wishes, EIDS['1']!), paymentsCreation(wishes)].find((made) => made.address === at)?.data
}

const ULN = parseAbiParameters('(uint64 c, uint8 r, uint8 o, uint8 t, address[] required, address[] optional)')

function configure(paths: ChainState['paths'], data: Hex): void {
  const { functionName, args } = decodeFunctionData({ abi: libraryManagerAbi, data })
  const at = (eid: number) => paths.find((path) => path.eid === eid)!
  const lower = (all: readonly string[]) => all.map((one) => one.toLowerCase() as Hex)
  if (functionName === 'setSendLibrary' || functionName === 'setReceiveLibrary')
    at(args[1]).library = { address: args[2].toLowerCase() as Hex, isDefault: false }
  else if (functionName === 'setConfig') {
    const [{ eid, configType, config }] = args[2] as [{ eid: number; configType: number; config: Hex }]
    if (configType === 1) {
      const [size, executor] = decodeAbiParameters(parseAbiParameters('uint32, address'), config)
      at(eid).executor = { address: executor.toLowerCase() as Hex, maxMessageSize: size }
    } else {
      const [{ c, r, o, t, required, optional }] = decodeAbiParameters(ULN, config)
      at(eid).uln = {
        ...{ confirmations: c, requiredCount: r, optionalCount: o, optionalThreshold: t },
        ...{ requiredDvns: lower(required), optionalDvns: lower(optional) },
      }
    }
  } else throw new Error(`an unexpected call: ${functionName}`)
}

describe('the plan of a network', () => {
  it('deploys first and opens the bridge last', () => {
    const sides = network()
    const items = itemsOf(sides)
    const steps = stepsOf(items)
    expect(steps.slice(0, 6).map(({ by, to }) => [by, to])).toEqual(Array(6).fill([null, DEPLOYMENT_PROXY]))
    expect(steps.slice(-4).every(({ id }) => id.includes('.peer.'))).toBe(true)
    expect(steps.filter(({ to }) => to === ENDPOINT)).toHaveLength(2 * 2 + 2 * 3)
    expect(stepsOf(items, (rank) => rank === RANK.deploy)).toHaveLength(6)
    expect(new Set(steps.map(({ id }) => id)).size).toBe(steps.length)
  })

  it('carried out up to any step and made anew is the rest, and nothing once it is done', () => {
    fc.assert(
      fc.property(fc.nat(30), fc.boolean(), (count, isOptional) => {
        const changes = isOptional
          ? { bridge: { ...BRIDGE, requiredDvns: [], optionalDvns: [address(7), address(8)], optionalThreshold: 1 } }
          : {}
        const sides = network(changes)
        const whole = stepsOf(itemsOf(sides))
        for (const step of whole.slice(0, count)) carryOut(sides, step)
        const rest = stepsOf(itemsOf(sides))
        expect(rest).toEqual(whole.slice(count))
        for (const step of rest) carryOut(sides, step)
        expect(itemsOf(sides).filter(({ isRight }) => !isRight)).toEqual([])
      }),
      { numRuns: 20 },
    )
  })

  it('mends whatever is changed on a chain, by who can', () => {
    const sides = network()
    for (const step of stepsOf(itemsOf(sides))) carryOut(sides, step)
    const [hub, spoke] = sides.map(({ state }) => state)
    Object.assign(hub!.app, { relayer: OTHER, minimumWei: 1n, deliverLimitWei: 0n, delegate: OTHER, owner: OTHER })
    spoke!.payments!.pauser = OTHER!
    spoke!.paths[0]!.uln = { ...spoke!.paths[0]!.uln, confirmations: 1n }
    const first = stepsOf(itemsOf(sides))
    expect(first.map(({ id, by }) => `${id} ${by}`).sort()).toEqual(
      [
        ...['owner', 'delegate', 'limit', 'relayer', 'minimum'].map((field) => `1.hub.${field} ${OTHER}`),
        ...['payments.pauser', 'spoke.verifiers.30101'].map((field) => `10.${field} ${OWNER}`),
      ].sort(),
    )
    for (const step of first) carryOut(sides, step)
    expect(stepsOf(itemsOf(sides)).map(({ id, by }) => [id, by])).toEqual([['1.hub.accept', OWNER]])
    for (const step of stepsOf(itemsOf(sides))) carryOut(sides, step)
    expect(itemsOf(sides).every(({ isRight }) => isRight)).toBe(true)
  })

  it('raises the minimum on the spokes first, and lowers it on the hub first', () => {
    const done = (minimumWei: bigint) => {
      const sides = network()
      for (const step of stepsOf(itemsOf(sides))) carryOut(sides, step)
      return stepsOf(
        itemsOf(sides.map(({ wishes, state }) => ({ wishes: addressed({ wishes, state }, { minimumWei }), state }))),
      )
    }
    expect(done(2n * 10n ** 16n).map(({ chain }) => chain)).toEqual(['10', '8453', '1'])
    expect(done(1n).map(({ chain }) => chain)).toEqual(['1', '10', '8453'])
  })

  it('says of a contract that is not ours that alone, and makes it nobody’s peer', () => {
    const sides = network()
    sides[1]!.state.app.code = 'another'
    const items = itemsOf(sides)
    expect(
      items.filter(({ chain }) => chain === '10').map(({ about, isRight }) => [about.slice(0, 8), isRight]),
    ).toEqual([
      ['endpoint', true],
      ['spoke, c', false],
      ['payments', false],
    ])
    expect(stepsOf(items).some(({ id }) => id === '1.hub.peer.30111')).toBe(false)
    expect(stepsOf(items).some(({ id }) => id === '1.hub.peer.30184')).toBe(true)
  })

  it('deploys nothing where the proxy, or the endpoint, is missing, and removes peers that no chain has', () => {
    const sides = network()
    sides[0]!.state.hasProxy = false
    sides[1]!.state.endpointEid = null
    sides[2]!.state.strangers = [30_999]
    const items = itemsOf(sides)
    expect(
      stepsOf(items)
        .filter(({ to }) => to === DEPLOYMENT_PROXY)
        .map(({ chain }) => chain),
    ).toEqual(['8453', '8453'])
    expect(items.find(({ about }) => about.startsWith('hub, code'))?.advice).toContain('deterministic deployment proxy')
    expect(stepsOf(items).map(({ id }) => id)).toContain('8453.spoke.peer.30999')
  })

  it('advises two verifiers', () => {
    const one = itemsOf(network({ bridge: { ...BRIDGE, requiredDvns: [address(0xd1)] } }))
    expect(one.filter(({ advice }) => advice?.includes('two or more'))).toHaveLength(4)
    expect(itemsOf(network()).some(({ advice }) => advice?.includes('two or more'))).toBe(false)
  })
})

/** Wishes that name the contracts which stand. */
const addressed = ({ wishes, state }: Side, changes: Partial<ChainWishes>): ChainWishes => ({
  ...{ ...wishes, contract: state.app.address, communityPayments: state.payments!.address },
  ...changes,
})
