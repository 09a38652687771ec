import bs58 from 'bs58'
import { getAddress, type Hex, toCoinType, toHex, zeroAddress } from 'viem'
import { normalize } from 'viem/ens'
import { describe, expect, it } from 'vitest'
import { createEnsGateway } from '../../src/ens/gateway.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { bid, randomAddress, secondApi } from '../api/support.js'
import { encode } from '../contracts/support/ens.js'
import { ensKey, nextEnsKey, parentsWith, strangersKey } from '../support/ens.js'
import { useWorld } from '../support/useWorld.js'
import { startEnsWorld } from './world.js'

/** viem with ENS's universal resolver, and ethers with its registry, both as published on npm, on the complete path. */
const world = useWorld(() => startEnsWorld())

const SOLANA = 501n
const addressBy = {
  viem: (name: string) => world.viem.getEnsAddress({ name: normalize(name) }),
  ethers: (name: string) => world.ethers.resolveName(name),
}
const rawOf = (solana: string): Hex => toHex(bs58.decode(solana))

describe.each(['viem', 'ethers'] as const)('%s resolves', (library) => {
  const resolve = (name: string) => addressBy[library](name)

  it('names of the hub and of testnet, wallets, and names below communities', async () => {
    const { alice, late, hot, bob } = world.people
    expect(await resolve('seedling.bundles.eth')).toBe(getAddress(late.address))
    expect(await resolve('Seedling.Bundles.eth')).toBe(getAddress(late.address))
    expect(await resolve('first.seedling.bundles.eth')).toBe(getAddress(alice.address))
    expect(await resolve('bob.seedling.bundles.eth')).toBe(getAddress(bob.address))
    // its wallet main is on Solana
    expect(await resolve('sunny.bundles.eth')).toBe(getAddress(hot.address))
    expect(await resolve('tester.testers.eth')).toBe(getAddress(bob.address))
  })

  it.each([
    'free.bundles.eth',
    'secret.seedling.bundles.eth',
    'unverified.seedling.bundles.eth',
    'sol.seedling.bundles.eth',
    'main.sunny.bundles.eth',
    'a.b.seedling.bundles.eth',
    'é.bundles.eth',
    'bundles.eth',
    'tester.bundles.eth',
    'seedling.testers.eth',
  ])(
    'what is free, private, unverified, of another kind or no name of ours to null: %s',
    async (name) => {
      expect(await resolve(name)).toBeNull()
    },
  )
})

describe('addresses on other chains', () => {
  const addressOf = (name: string, coinType: bigint) =>
    world.viem.getEnsAddress({ name: `${name}.bundles.eth`, coinType })

  it('are those of wallets of their kind', async () => {
    const { late, sol, payer } = world.people
    expect(await addressOf('seedling', toCoinType(8453))).toBe(late.address)
    expect(await addressOf('seedling', SOLANA)).toBe(rawOf(sol.address))
    expect(await addressOf('sol.seedling', SOLANA)).toBe(rawOf(sol.address))
    expect(await addressOf('sunny', SOLANA)).toBe(rawOf(payer.address))
    const resolver = await world.ethers.getResolver('seedling.bundles.eth')
    expect(await resolver!.getAddress(8453)).toBe(getAddress(late.address))
  })

  it.each([
    ['sol.seedling', toCoinType(8453)],
    ['main.seedling', SOLANA],
    ['seedling', 0n],
    ['seedling', 2n ** 32n],
  ])('are empty for wallets of another kind: %s, coin type %d', async (name, coin) => {
    expect(await addressOf(name, coin)).toBeNull()
  })
})

describe('texts', () => {
  it('have picture, page and registered name', async () => {
    const { url, viem, ethers } = world
    const text = (name: string, key: string) =>
      viem.getEnsText({ name: `${name}.bundles.eth`, key })
    expect(await viem.getEnsAvatar({ name: 'seedling.bundles.eth' })).toBe(
      `${url}/image/seedling.svg`,
    )
    // getAvatar of ethers accepts only https
    const resolver = await ethers.getResolver('seedling.bundles.eth')
    expect(await resolver!.getText('avatar')).toBe(`${url}/image/seedling.svg`)
    expect(await text('seedling', 'url')).toBe(`${url}/seedling`)
    expect(await text('seedling', 'description')).toBe('seedling/')
    expect(await text('sol.seedling', 'description')).toBe('seedling/sol')
    for (const name of ['free', 'secret.seedling', 'unverified.seedling'])
      expect(await text(name, 'url'), name).toBeNull()
    expect(await text('seedling', 'com.twitter')).toBeNull()
    expect(await resolver!.getContentHash()).toBeNull()
  })
})

it('a name resolves as soon as it is registered', async () => {
  const name = 'fresh.bundles.eth'
  const from = randomAddress()
  expect(await addressBy.viem(name)).toBeNull()
  await world.api.append('mainnet', [bid({ from, name: 'fresh' })])
  expect(await addressBy.viem(name)).toBe(getAddress(from))
})

it('a forged or expired answer, or one for another name or resolver, does not resolve', async () => {
  const parents = parentsWith(world.resolver)
  const sign = ensKey.signTypedData
  const right = createEnsGateway(parents, sign)
  let replayed: Hex = '0x'
  world.serve(async (...asked) => (replayed = await right(...asked)))
  await addressBy.viem('seedling.bundles.eth')
  const gateways = {
    forged: createEnsGateway(parents, strangersKey.signTypedData),
    expired: createEnsGateway(parents, sign, () => Date.now() - 600_000),
    'of another resolver': createEnsGateway(parentsWith(zeroAddress), sign),
    'of another name': async () => replayed,
  }
  for (const [wrong, gateway] of Object.entries(gateways)) {
    world.serve(gateway)
    await expect(addressBy.viem('sunny.bundles.eth'), wrong).rejects.toThrow()
    expect(await addressBy.ethers('sunny.bundles.eth'), wrong).toBeNull()
  }
  world.serve(right)
  expect(await addressBy.viem('sunny.bundles.eth')).not.toBeNull()
})

it('names of both networks resolve through a second process with the key while the first is down', async () => {
  const gateway = createEnsGateway(parentsWith(world.resolver), ensKey.signTypedData)
  const second = await secondApi(world.api, { ens: gateway })
  const { contracts, url } = world
  const sendTo = (...urls: string[]) =>
    contracts.succeed(contracts.tx(encode('setUrls', [urls]), contracts.owner))
  // the last gateway URL takes a POST
  await sendTo(
    `http://127.0.0.1:${await chooseFreePort()}/{sender}/{data}.json`,
    `${second.url}/ens`,
  )
  for (const name of ['seedling.bundles.eth', 'tester.testers.eth'])
    for (const [library, resolve] of Object.entries(addressBy))
      expect(await resolve(name), `${name} by ${library}`).not.toBeNull()
  await Promise.all([second.stop(), sendTo(`${url}/ens/{sender}/{data}.json`)])
})

it('a signer can be replaced while names keep resolving', async () => {
  const parents = parentsWith(world.resolver)
  const [before, after] = [ensKey, nextEnsKey].map((key) =>
    createEnsGateway(parents, key.signTypedData),
  )
  const { set, succeed } = world.contracts
  const resolves = async (by: typeof before) => {
    world.serve(by)
    return addressBy.viem('seedling.bundles.eth').then(Boolean, () => false)
  }
  expect([await resolves(before), await resolves(after)]).toEqual([true, false])
  await succeed(set(1n, nextEnsKey.address))
  expect([await resolves(before), await resolves(after)]).toEqual([true, true])
  await succeed(set(0n, zeroAddress))
  expect([await resolves(before), await resolves(after)]).toEqual([false, true])
  expect(await addressBy.ethers('seedling.bundles.eth')).toBe(getAddress(world.people.late.address))
})
