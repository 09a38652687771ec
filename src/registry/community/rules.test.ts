import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { communityRules } from '../../../test/support/communityRules.js'
import { communityRulesInputCodec, communityRulesJson, findChainProblemsOfRules } from './rules.js'

const EVM = '0x00000000000000000000000000000000000000a1'
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const NETWORKS = ['1', '8453', 'solana']
function parse(input: unknown, takesPayments = (_network: string) => true) {
  const { data, error } = communityRulesInputCodec.safeParse(input)
  if (error)
    return {
      problems: error.issues.map(({ path, message }) => ({
        path: z.core.toDotPath(path),
        message,
      })),
    }
  const chains = NETWORKS.map((label) => ({
    label,
    communityPayments: takesPayments(label) ? EVM : null,
  }))
  const problems = findChainProblemsOfRules(data, chains)
  return problems.length > 0 ? { problems } : data
}
/** The faults found, as `path: message`. */
const faults = (input: unknown) => {
  const rules = parse(input)
  return 'problems' in rules ? rules.problems.map(({ path, message }) => `${path}: ${message}`) : []
}
const held = (changes: object = {}) => ({
  kind: 'token',
  network: '1',
  token: EVM,
  minimum: '1',
  ...changes,
})
const price = (changes: object = {}) => ({
  network: '1',
  token: 'native',
  amount: '10',
  recipient: EVM,
  ...changes,
})

it('allows no price on a chain without payments, but a balance there', () => {
  const takesPayments = (network: string) => network !== '8453'
  expect(
    parse({ prices: [price()], requirements: [held({ network: '8453' })] }, takesPayments),
  ).not.toHaveProperty('problems')
  expect(parse({ prices: [price({ network: '8453' })] }, takesPayments)).toEqual({
    problems: [
      { path: 'prices[0].network', message: 'takes no payments for community names here' },
    ],
  })
})

describe('the rules of a community', () => {
  it('are free and open by default', () => {
    expect(parse({})).toEqual({ prices: [], ownersOnly: false, startsAtMs: null, requirements: [] })
  })

  it('survive JSON unchanged, for any rules', () => {
    fc.assert(
      fc.property(communityRules, (rules) => {
        const json = JSON.stringify(communityRulesJson(rules))
        expect(parse(JSON.parse(json))).toEqual(rules)
      }),
    )
  })

  it('are converted to a canonical form', () => {
    const checksummed = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
    expect(
      parse({
        prices: [price({ token: checksummed, recipient: checksummed })],
        startsAt: '2026-11-20T08:00:00Z',
        requirements: [
          { kind: 'allowlist', addresses: [checksummed, checksummed.toLowerCase(), MINT] },
          { kind: 'cluster', name: 'FooBar/' },
        ],
      }),
    ).toEqual({
      prices: [
        {
          network: '1',
          token: checksummed.toLowerCase(),
          amount: 10n,
          recipient: checksummed.toLowerCase(),
        },
      ],
      ownersOnly: false,
      startsAtMs: Date.UTC(2026, 10, 20, 8),
      requirements: [
        { kind: 'allowlist', addresses: [checksummed.toLowerCase(), MINT] },
        { kind: 'cluster', name: 'foobar' },
      ],
    })
  })

  it.each([
    [null, ': must be an object'],
    [[], ': must be an object'],
    ['{}', ': must be an object'],
    [{ ownerOnly: true }, ': has an unknown field "ownerOnly"'],
    [JSON.parse('{"__proto__": {"prices": []}}'), ': has an unknown field "__proto__"'],
    [{ prices: {} }, 'prices: must be a list of at most 20'],
    [{ prices: Array(21).fill(price()) }, 'prices: must be a list of at most 20'],
    [{ prices: [price(), price({ amount: '20' })] }, 'prices: must name a token of a network once'],
    [{ prices: [null] }, 'prices[0]: must be an object'],
    [{ prices: [price({ chainId: 1 })] }, 'prices[0]: has an unknown field "chainId"'],
    [{ prices: [price({ network: '10' })] }, 'prices[0].network: is no network of this community'],
    [{ prices: [price({ network: 1 })] }, 'prices[0].network: is no network of this community'],
    [{ prices: [price({ token: 'NATIVE' })] }, 'prices[0].token: must be an address'],
    [{ prices: [price({ token: MINT })] }, 'prices[0].token: must be an address of its network'],
    [
      { prices: [price({ network: 'solana', recipient: MINT, token: EVM })] },
      'prices[0].token: must be an address of its network',
    ],
    [
      { prices: [price({ token: `0x${'0'.repeat(40)}` })] },
      'prices[0].token: must not be the zero address',
    ],
    [
      { prices: [price({ recipient: `0x${'0'.repeat(40)}` })] },
      'prices[0].recipient: must not be the zero address',
    ],
    [
      { prices: [price({ recipient: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eb48' })] },
      'prices[0].recipient: has a wrong checksum (EIP-55)',
    ],
    [{ prices: [price({ recipient: undefined })] }, 'prices[0].recipient: must be an address'],
    [{ ownersOnly: 'true' }, 'ownersOnly: must be true or false'],
    [{ ownersOnly: true, prices: [price()] }, 'ownersOnly: can not stand together with prices'],
    [{ requirements: [{}] }, 'requirements[0].kind: must be of kind token, allowlist or cluster'],
    [{ requirements: ['token'] }, 'requirements[0]: must be of kind token, allowlist or cluster'],
    [
      { requirements: [{ kind: 'nft' }] },
      'requirements[0].kind: must be of kind token, allowlist or cluster',
    ],
    [{ requirements: [held({ token: 'native' })] }, 'requirements[0].token: must be an address'],
    [
      { requirements: [{ kind: 'allowlist', addresses: [] }] },
      'requirements[0].addresses: must name an address',
    ],
    [{ requirements: [{ kind: 'allowlist' }] }, 'requirements[0].addresses: must name an address'],
    [
      { requirements: [{ kind: 'allowlist', addresses: [EVM, 'x'] }] },
      'requirements[0].addresses[1]: must be an address',
    ],
    [
      { requirements: [{ kind: 'cluster', name: 'foo bar' }] },
      'requirements[0].name: must be the name of a cluster',
    ],
    [
      { requirements: [{ kind: 'cluster' }] },
      'requirements[0].name: must be the name of a cluster',
    ],
    [
      { requirements: [held({ network: '10' })] },
      'requirements[0].network: is no network of this community',
    ],
    [
      { requirements: [held({ token: MINT })] },
      'requirements[0].token: must be an address of its network',
    ],
    [
      {
        requirements: [
          { kind: 'cluster', name: 'a' },
          held({ network: 'solana', token: MINT, minimum: `${2n ** 64n}` }),
        ],
      },
      'requirements[1].minimum: must be below 2^64 on Solana',
    ],
    [{ ['a'.repeat(50)]: 1 }, `: has an unknown field "${'a'.repeat(40)}"`],
  ])('are refused with the faulty path for %j', (input, fault) => {
    expect(faults(input)).toEqual([fault])
  })

  it.each(['0', '', '-1', '01', '1.5', '1e3', '0x10', 1, 10n, null, undefined, `${2n ** 256n}`])(
    'cannot have the price %s',
    (amount) => {
      expect(faults({ prices: [price({ amount })] })).toEqual([
        'prices[0].amount: must be a whole number of base units above zero, as a string',
      ])
    },
  )

  it('limit an amount on Solana to 64 bits', () => {
    const on = (amount: bigint) => ({
      prices: [price({ network: 'solana', recipient: MINT, amount: `${amount}` })],
    })
    expect(faults(on(2n ** 64n - 1n))).toEqual([])
    expect(faults(on(2n ** 64n))).toEqual(['prices[0].amount: must be below 2^64 on Solana'])
  })

  it('limit an EVM price to what the contract accepts, but not a balance', () => {
    const on = (amount: bigint) => ({
      prices: [price(), price({ token: EVM, amount: `${amount}` })],
    })
    expect(faults(on(2n ** 128n - 1n))).toEqual([])
    expect(faults(on(2n ** 128n))).toEqual([
      'prices[1].amount: must be below 2^128 on an EVM chain',
    ])
    expect(faults({ requirements: [held({ minimum: `${2n ** 256n - 1n}` })] })).toEqual([])
  })

  it.each([
    '2026-11-20',
    '2026-11-20T08:00Z',
    '2026-11-20T08:00:00',
    '2026-11-20T08:00:00+01:00',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-20T25:00:00Z',
    '2026-11-20T24:00:00Z',
    ' 2026-11-20T08:00:00Z',
    '',
    0,
    1_763_625_600_000,
    true,
    {},
  ])('cannot start at %j', (startsAt) => {
    expect(faults({ startsAt })).toEqual([
      'startsAt: must be a date of the form 2026-11-20T08:00:00Z, or null',
    ])
  })

  it('have up to 20 prices and requirements, and lists of up to 1,000', () => {
    const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
    const upTo = (count: number) => Array.from({ length: count }, (_, i) => address(i + 1))
    const prices = upTo(20).map((token) => price({ token }))
    const cluster = { kind: 'cluster', name: 'a' }
    const all = { kind: 'allowlist', addresses: upTo(1_000) }
    expect(faults({ prices, requirements: [all, ...Array(19).fill(cluster)] })).toEqual([])
    expect(faults({ requirements: Array(21).fill(cluster) })).toEqual([
      'requirements: must be a list of at most 20',
    ])
    expect(faults({ requirements: [{ ...all, addresses: upTo(1_001) }] })).toEqual([
      'requirements[0].addresses: must be a list of at most 1000',
    ])
    const split = [{ ...all, addresses: upTo(600) }, cluster, { ...all, addresses: upTo(401) }]
    expect(faults({ requirements: split })).toEqual([
      'requirements: must name at most 1000 addresses in all',
    ])
    expect(faults({ requirements: split.slice(0, 2) })).toEqual([])
  })

  it('are refused with all faults', () => {
    expect(
      faults({ prices: [price({ amount: '0', recipient: 'x' })], ownersOnly: true, startsAt: 'x' }),
    ).toHaveLength(3)
  })

  it('never throw, for any input', () => {
    const keys = fc.constantFrom(
      'prices',
      'ownersOnly',
      'startsAt',
      'requirements',
      'kind',
      'network',
      'token',
      'addresses',
    )
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        fc.array(tie('value'), { maxLength: 3 }),
        tie('object'),
      ),
      object: fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
    }))
    fc.assert(
      fc.property(json.value, (input) => {
        const rules = parse(input)
        if ('problems' in rules) expect(rules.problems.length).toBeGreaterThan(0)
        else expect(parse(communityRulesJson(rules))).toEqual(rules)
      }),
      { numRuns: 500 },
    )
  })
})
