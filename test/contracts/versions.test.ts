import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Abi } from 'viem'
import { describe, expect, test } from 'vitest'
import { ensResolverAbi } from '../../contracts/evm/artifacts/EnsResolver.js'
import {
  airdropDistributorAbi,
  communityPaymentsAbi,
  hubAbi,
  spokeAbi,
} from '../../src/chains/evm/contracts/index.js'

/**
 * Checks the versions of deployed contracts in contracts/versions.json: an interface never changes unnoticed. After an
 * intended change, raise the version there. Then `UPDATE_VERSIONS=1 npx vitest run test/contracts/versions.test.ts`
 * writes the hashes of contracts whose version was raised.
 */
const CONTRACTS = join(import.meta.dirname, '../../contracts')
const FILE = join(CONTRACTS, 'versions.json')

interface Version {
  /** Semantic version: major where a call, event or error changes or goes, minor where one is added. */
  version: string
  /** SHA-256 of the interface. */
  interface: string
  /** The version whose interface was hashed. */
  hashed: string
  /** Where it is deployed: EVM chain ids, or Solana's genesis hashes, with addresses. */
  addresses: Record<string, string>
}

const idl = JSON.parse(readFileSync(join(CONTRACTS, 'solana/registrar/idl.json'), 'utf8'))
const interfaces: Record<string, unknown> = {
  Hub: inOrder(hubAbi),
  Spoke: inOrder(spokeAbi),
  CommunityPayments: inOrder(communityPaymentsAbi),
  AirdropDistributor: inOrder(airdropDistributorAbi),
  EnsResolver: inOrder(ensResolverAbi),
  registrar: { ...idl, address: undefined },
}

/** Items in an order that moving a function in the source doesn't change. */
function inOrder(abi: Abi): string[] {
  return abi.map((item) => JSON.stringify(item)).sort()
}

/** Texts for people are not part of the interface. */
const withoutTexts = (key: string, value: unknown) =>
  key === 'msg' || key === 'docs' ? undefined : value
const hashOf = (name: string) =>
  createHash('sha256').update(JSON.stringify(interfaces[name], withoutTexts)).digest('hex')
const versions: Record<string, Version> = JSON.parse(readFileSync(FILE, 'utf8'))
if (process.env.UPDATE_VERSIONS) {
  for (const [name, one] of Object.entries(versions))
    if (one.hashed !== one.version)
      Object.assign(one, { interface: hashOf(name), hashed: one.version })
  writeFileSync(FILE, `${JSON.stringify(versions, null, 2)}\n`)
}

describe('versions', () => {
  test('there is one for each contract that is deployed, and for the program', () => {
    expect(Object.keys(versions).sort()).toEqual(Object.keys(interfaces).sort())
  })

  test.each(Object.keys(interfaces))('the interface of %s is the one of its version', (name) => {
    const { version, interface: hash, hashed } = versions[name]!
    expect([hashed, hash], 'raise its version in contracts/versions.json').toEqual([
      version,
      hashOf(name),
    ])
  })

  test('the program contains its version', () => {
    expect(idl.metadata.version).toBe(versions.registrar!.version)
  })
})
