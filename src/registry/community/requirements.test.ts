import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { communityRules as rules } from '../../../test/support/communityRules.js'
import { requirementsHash } from './requirements.js'
import {
  type CommunityRequirement,
  type CommunityRules,
  communityRulesInputCodec,
} from './rules.js'

const EVM = '0x00000000000000000000000000000000000000a1'
const TOKEN = '0x00000000000000000000000000000000000000b2'

describe('the hash of requirements', () => {
  const hashOf = (given: CommunityRules) => requirementsHash(given.requirements).toString('hex')

  it('depends only on the requirements, and on no other rules', () => {
    fc.assert(
      fc.property(rules, rules, (a, b) => {
        expect(requirementsHash(a.requirements)).toHaveLength(32)
        expect(hashOf({ ...b, requirements: a.requirements })).toBe(hashOf(a))
        const isSame = JSON.stringify(plain(a)) === JSON.stringify(plain(b))
        expect(hashOf(a) === hashOf(b)).toBe(isSame)
      }),
    )
  })

  it('is the same for every notation of the same rules', () => {
    const read = (requirements: unknown) => hashOf(communityRulesInputCodec.parse({ requirements }))
    const upper = `0x${TOKEN.slice(2).toUpperCase()}`
    expect(read([{ kind: 'token', network: '1', token: upper, minimum: '5' }])).toBe(
      read([{ minimum: '5', token: TOKEN, network: '1', kind: 'token' }]),
    )
    expect(read([{ kind: 'cluster', name: 'FooBar/' }])).toBe(
      read([{ kind: 'cluster', name: 'foobar' }]),
    )
    expect(read([{ kind: 'allowlist', addresses: [EVM, EVM] }])).toBe(
      read([{ kind: 'allowlist', addresses: [EVM] }]),
    )
  })

  it('changes with each part of the requirements', () => {
    const token = { kind: 'token', network: '1', token: TOKEN, minimum: 5n } as const
    const all: CommunityRequirement[][] = [
      [],
      [token],
      [{ ...token, network: '8453' }],
      [{ ...token, token: EVM }],
      [{ ...token, minimum: 6n }],
      [token, token],
      [{ kind: 'allowlist', addresses: [EVM] }],
      [{ kind: 'allowlist', addresses: [EVM, TOKEN] }],
      [{ kind: 'cluster', name: 'foo' }],
      [{ kind: 'cluster', name: 'bar' }],
    ]
    expect(new Set(all.map((one) => requirementsHash(one).toString('hex'))).size).toBe(all.length)
  })
})

const plain = ({ requirements }: CommunityRules) =>
  requirements.map((one) =>
    one.kind === 'token'
      ? [one.kind, one.network, one.token, String(one.minimum)]
      : [one.kind, one.kind === 'cluster' ? one.name : one.addresses],
  )
