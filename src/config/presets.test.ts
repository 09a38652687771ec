import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../test/support/folder.js'
import { NETWORK_OF_CHAIN_LABEL } from '../registry/primitives/network.js'
import {
  chainPresetOf,
  evmChainLabelsOf,
  parseChainsFile,
  readChainsFile,
  readDraftChainsFile,
} from './index.js'

const CONTRACT = `0x${'0a'.repeat(20)}`
const rpcUrls = ['http://127.0.0.1:1']
const hub = { label: '1', role: 'hub', rpcUrls, contract: CONTRACT }
const spoke = { label: '8453', role: 'spoke', rpcUrls, contract: CONTRACT }
const chainsOf = (...chains: object[]) => parseChainsFile({ chains }, 'f').chains
const cluster = {
  rpcUrls,
  programId: 'Stake11111111111111111111111111111111111111',
  feeds: { solUsd: CONTRACT, ethUsd: CONTRACT },
}

describe('a preset', () => {
  it('is known for every EVM label of the interface', () => {
    const labels = [...evmChainLabelsOf('mainnet'), ...evmChainLabelsOf('testnet')]
    expect(labels.toSorted()).toEqual(Object.keys(NETWORK_OF_CHAIN_LABEL).toSorted())
    for (const label of labels) {
      const { network, eid, endpoint, layerZero } = chainPresetOf(label)!
      // LayerZero's endpoint ids: 30,000 and more on mainnets, 40,000 and more on testnets
      expect(Math.floor(eid / 10_000), label).toBe(network === 'mainnet' ? 3 : 4)
      for (const address of [endpoint, ...Object.values(layerZero)])
        expect(address, label).toMatch(/^0x[0-9a-f]{40}$/)
    }
    const distinct = (of: (label: string) => unknown) => new Set(labels.map(of)).size
    expect(distinct((label) => chainPresetOf(label)!.eid)).toBe(labels.length)
  })

  it('fills in missing settings: label, role, RPC URLs and the contract are enough', () => {
    const { layerZero: _, ...known } = chainPresetOf('8453')!
    expect(chainsOf(hub, spoke)[1]).toMatchObject(known)
    expect(chainsOf(hub)[0]).toMatchObject({
      network: 'mainnet',
      chainId: 1,
      eid: 30_101,
      confirmation: { kind: 'tag', tag: 'finalized' },
    })
  })

  it('is overridden by a chain’s settings', () => {
    const own = {
      genesisHash: `0x${'0b'.repeat(32)}`,
      endpoint: CONTRACT,
      eid: 7,
      confirmation: { blocks: 3 },
    }
    const more = { gasToken: { symbol: 'X', decimals: 18 }, explorer: 'https://explorer.example' }
    expect(chainsOf(hub, { ...spoke, ...own, ...more })[1]).toMatchObject({ ...own, ...more })
  })

  it('shows wallets a public RPC URL, and the operator’s only in a local world', () => {
    const rpcUrls = ['https://node.example/v2/a-key-of-the-operator']
    const shownBy = (chain: object) => chainsOf({ ...hub, rpcUrls, ...chain })[0]!
    expect(shownBy({})).toMatchObject({
      name: 'Ethereum',
      publicRpcUrls: [expect.not.stringContaining('node.example')],
    })
    expect(shownBy({ local: true }).publicRpcUrls).toEqual(shownBy({}).publicRpcUrls)
    expect(shownBy({ chainId: 5 })).toMatchObject({ name: 'Ethereum 5', publicRpcUrls: [] })
    expect(shownBy({ chainId: 5, local: true }).publicRpcUrls).toEqual(rpcUrls)
  })

  it.each([true, false])('is not used for a chain with another id (local: %s)', (local) => {
    const [, local8453] = chainsOf(hub, { ...spoke, chainId: 900_008_453, local })
    expect(local8453).toMatchObject({
      network: 'mainnet',
      chainId: 900_008_453,
      confirmation: { kind: 'depth', blocks: 10 },
      genesisHash: undefined,
      endpoint: undefined,
      eid: undefined,
      explorer: undefined,
    })
    const [bnb] = chainsOf({ ...hub, label: '56', chainId: 5 })
    expect(bnb!.gasToken.symbol).toBe('ETH')
  })

  it('makes a hub on any chain wait for finality', () => {
    expect(chainsOf({ ...hub, label: '8453' })[0]!.confirmation).toEqual({
      kind: 'tag',
      tag: 'finalized',
    })
    expect(chainsOf({ ...hub, confirmation: 'safe' })[0]!.confirmation).toEqual({
      kind: 'tag',
      tag: 'safe',
    })
  })

  it('has the genesis of Solana’s own cluster only beside a public hub', () => {
    const genesisOf = (chain: object, more = {}) =>
      parseChainsFile({ chains: [chain], solana: { mainnet: { ...cluster, ...more } } }, 'f').solana
        .mainnet!.genesisHash
    expect(genesisOf(hub)).toMatch(/^5eykt4/)
    expect(genesisOf(hub, { genesisHash: cluster.programId })).toBe(cluster.programId)
    expect(genesisOf({ ...hub, chainId: 31_337 })).toBeUndefined()
    expect(genesisOf({ ...hub, local: true })).toBeUndefined()
  })

  it('has the price feeds of Ethereum for a cluster without configured ones', () => {
    const { feeds: _, ...bare } = cluster
    const feedsOf = (section: object) =>
      parseChainsFile({ chains: [hub], solana: { mainnet: section } }, 'f').solana.mainnet!.feeds
    expect(feedsOf(bare)).toMatchObject({ maxAgeSeconds: { solUsd: 90_000, ethUsd: 5_400 } })
    expect(feedsOf(cluster).solUsd).toBe(CONTRACT)
  })
})

describe('a draft', () => {
  const folder = useFolder()
  const fileOf = (content: object) => {
    const file = join(folder, 'chains.json')
    writeFileSync(file, JSON.stringify(content))
    return file
  }
  const { contract: _, ...undeployed } = hub

  it('may omit contracts, the program and the feeds, and a start names the commands that create them', () => {
    const file = fileOf({
      chains: [{ ...undeployed, chainId: 9_001 }, spoke],
      solana: { mainnet: { rpcUrls } },
    })
    expect(readDraftChainsFile(file).chains.map(({ contract }) => contract)).toEqual([
      undefined,
      CONTRACT,
    ])
    expect(() => readChainsFile(file)).toThrow(
      /no contract is named for "1": `clusterd contracts deploy` .*\n.*programId is missing: `clusterd solana deploy`.*\n.*feeds is missing/,
    )
    expect(() => readChainsFile(fileOf({ chains: [undeployed] }))).toThrow(
      /^In the chains file .*, no contract .* it\.$/,
    )
  })
})
