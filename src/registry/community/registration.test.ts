import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FREE } from '../../../test/model/communityFold.js'
import {
  ANY_PAYMENT_PREFERENCE,
  decideRegistration,
  type PaymentPreference,
  REGISTRATION_PROBLEMS,
  type RegistrationDecisionInputs,
} from './registration.js'
import {
  areRequirementsMet,
  type RequirementInputs,
  requiredTokenKey,
  requiredTokensAndClusters,
} from './requirements.js'
import type { CommunityRequirement, CommunityRules } from './rules.js'

const WALLET = '0x00000000000000000000000000000000000000a1'
const RECIPIENT = '0x00000000000000000000000000000000000000a2'
const onMainnet = { network: '1', token: 'native', amount: 10n, recipient: WALLET }
const onBase = { ...onMainnet, network: '8453', amount: 11n }
const inUsdc = { ...onMainnet, token: WALLET, amount: 12n }
const REQUIREMENT: CommunityRequirement = { kind: 'cluster', name: 'foobar' }

const rules = (changes: Partial<CommunityRules> = {}): CommunityRules => ({ ...FREE, ...changes })
const preference = (
  changes: Partial<PaymentPreference>,
): Pick<RegistrationDecisionInputs, 'preference'> => ({
  preference: { ...ANY_PAYMENT_PREFERENCE, ...changes },
})
/** Inputs of a request for a free name in a community without a price. */
const facts = (changes: Partial<RegistrationDecisionInputs> = {}): RegistrationDecisionInputs => ({
  rules: rules(),
  preference: ANY_PAYMENT_PREFERENCE,
  isNetworkKnown: true,
  nowMs: 1_000,
  isOwner: false,
  beneficiary: 'none',
  isTaken: false,
  isHeld: false,
  areRequirementsMet: null,
  ...changes,
})
const problemOf = (changes: Partial<RegistrationDecisionInputs>) => {
  const judgement = decideRegistration(facts(changes))
  return judgement.outcome === 'refused' ? judgement.problem : judgement.outcome
}
const priceOf = (changes: Partial<RegistrationDecisionInputs>) => {
  const judgement = decideRegistration(facts(changes))
  return judgement.outcome === 'paid' ? judgement.price : judgement
}

describe('a registration in a community', () => {
  it('is free without rules', () => {
    expect(decideRegistration(facts())).toEqual({ outcome: 'free' })
    expect(problemOf(preference({ network: '8453', token: 'native', payer: 'solana' }))).toBe(
      'free',
    )
  })

  it('is refused for each reason', () => {
    expect(
      problemOf({ rules: rules({ prices: [onMainnet] }), ...preference({ network: '8453' }) }),
    ).toBe('invalid_chain_id')
    expect(problemOf({ rules: rules({ startsAtMs: 1_001 }) })).toBe('not_active')
    expect(problemOf({ rules: rules({ startsAtMs: 1_000 }) })).toBe('free')
    expect(problemOf({ rules: rules({ ownersOnly: true }), beneficiary: 'own' })).toBe(
      'not_verified',
    )
    expect(problemOf({ beneficiary: 'other' })).toBe('not_verified')
    const ofOwner = { rules: rules({ ownersOnly: true }), isOwner: true }
    expect(problemOf({ ...ofOwner, beneficiary: 'own' })).toBe('free')
    expect(problemOf({ ...ofOwner, beneficiary: 'other' })).toBe('free')
    expect(problemOf({ isTaken: true })).toBe('not_available')
    expect(problemOf({ areRequirementsMet: false })).toBe('requirements_not_met')
  })

  describe('is refused for the first applicable reason, in the order of the interface', () => {
    const ALL: Record<
      (typeof REGISTRATION_PROBLEMS)[number],
      Partial<RegistrationDecisionInputs>
    > = {
      not_found: { rules: null },
      invalid_chain_id: {
        ...preference({ network: '8453' }),
        rules: rules({ prices: [onMainnet], startsAtMs: 2_000 }),
        beneficiary: 'other',
      },
      not_active: { rules: rules({ ownersOnly: true, startsAtMs: 2_000 }) },
      not_verified: { rules: rules({ ownersOnly: true }) },
      no_walletAddress_found: { isOwner: true, rules: rules({ ownersOnly: true }) },
      not_available: { isTaken: true },
      requirements_not_met: { areRequirementsMet: false },
    }
    const worst = { isTaken: true, areRequirementsMet: false }

    it.each(REGISTRATION_PROBLEMS.slice(0, 6))('%s', (problem) => {
      expect(problemOf({ ...worst, ...ALL[problem] })).toBe(problem)
    })
  })

  it('never reports a later reason before an earlier one', () => {
    const anyFacts = fc.record({
      rules: fc.option(
        fc.record({
          prices: fc.constantFrom([], [onMainnet], [onMainnet, onBase]),
          ownersOnly: fc.boolean(),
          startsAtMs: fc.constantFrom(null, 999, 1_000, 1_001),
          requirements: fc.constantFrom([], [REQUIREMENT]),
        }),
      ),
      preference: fc.record({
        network: fc.constantFrom(null, '1', '8453', '10'),
        token: fc.constantFrom(null, 'native', WALLET),
        payer: fc.constantFrom(null, 'evm' as const, 'solana' as const),
      }),
      isNetworkKnown: fc.boolean(),
      nowMs: fc.constant(1_000),
      isOwner: fc.boolean(),
      beneficiary: fc.constantFrom('none' as const, 'own' as const, 'other' as const),
      isTaken: fc.boolean(),
      isHeld: fc.boolean(),
      areRequirementsMet: fc.constantFrom(null, true, false),
    })
    const rank = (changes: Partial<RegistrationDecisionInputs>) => {
      const at = (REGISTRATION_PROBLEMS as readonly string[]).indexOf(problemOf(changes))
      return at === -1 ? REGISTRATION_PROBLEMS.length : at
    }
    fc.assert(
      fc.property(anyFacts, (given) => {
        // correcting one input never leads to an earlier reason
        expect(rank({ ...given, isTaken: false })).toBeGreaterThanOrEqual(rank(given))
        expect(rank({ ...given, areRequirementsMet: true })).toBeGreaterThanOrEqual(rank(given))
        // a registration by an owner for another wallet is free; for itself it has a price, which its wallet may not
        // be able to pay
        if (!(given.isOwner && given.beneficiary === 'other'))
          expect(rank({ ...given, isOwner: true, beneficiary: 'own' })).toBeGreaterThanOrEqual(
            Math.min(rank(given), 5),
          )
        // a name is never paid for twice, and a free name never has a price
        const judgement = decideRegistration(given)
        if (judgement.outcome === 'paid') expect(given.rules?.prices).toContain(judgement.price)
        if (judgement.outcome === 'free') {
          expect(
            given.rules?.prices.length === 0 || (given.isOwner && given.beneficiary === 'other'),
          ).toBe(true)
        }
      }),
    )
  })

  it.each<{ name: string; given: Partial<RegistrationDecisionInputs>; price: typeof onMainnet }>([
    { name: 'no network', given: {}, price: inUsdc },
    { name: 'a network of two prices', given: preference({ network: '1' }), price: inUsdc },
    { name: 'no network, for the owner', given: { isOwner: true }, price: inUsdc },
    { name: 'a network of one price', given: preference({ network: '8453' }), price: onBase },
  ])(
    'costs the first price of the network, of the community where none is named: $name',
    ({ given, price }) => {
      const paid = rules({ prices: [inUsdc, onMainnet, onBase] })
      expect(priceOf({ rules: paid, ...given })).toEqual(price)
    },
  )

  it('has the requested price, or a price that its wallet can pay', () => {
    const onSolana = { ...onMainnet, network: 'solana', token: 'native' }
    const paid = rules({ prices: [inUsdc, onMainnet, onSolana] })
    const priceFor = (changes: Partial<PaymentPreference>) =>
      priceOf({ rules: paid, ...preference(changes) })
    const fault = (of: string) => ({ outcome: 'refused', problem: 'invalid_chain_id', fault: of })
    expect(priceFor({ network: '1', token: 'native' })).toEqual(onMainnet)
    expect(priceFor({ token: WALLET })).toEqual(inUsdc)
    expect(priceFor({ payer: 'solana' })).toEqual(onSolana)
    expect(priceFor({ network: '1', token: RECIPIENT })).toEqual(fault('no_price'))
    expect(priceFor({ network: '1', payer: 'solana' })).toEqual(fault('other_payer'))
    expect(priceFor({ network: 'solana', payer: 'evm' })).toEqual(fault('other_payer'))
  })

  it.each([
    { name: 'costs something', asked: rules({ prices: [onMainnet] }) },
    { name: 'is free', asked: rules() },
  ])('is refused for an unknown network label where a name $name', ({ asked }) => {
    expect(decideRegistration(facts({ rules: asked, isNetworkKnown: false }))).toEqual({
      outcome: 'refused',
      problem: 'invalid_chain_id',
      fault: 'no_network',
    })
  })

  it.each([
    { name: 'is free', asked: rules() },
    { name: 'costs something', asked: rules({ prices: [onMainnet] }) },
  ])('is granted again to the holder of the name, where it $name', ({ asked }) => {
    expect(problemOf({ rules: asked, isTaken: true, isHeld: true })).toBe('held')
  })

  it('is not granted again to another wallet', () => {
    expect(problemOf({ isTaken: true, isHeld: true, beneficiary: 'other' })).toBe('not_verified')
  })

  it('by an owner for another wallet has no price', () => {
    const given = {
      rules: rules({ prices: [onMainnet] }),
      isOwner: true,
      beneficiary: 'other' as const,
    }
    expect(problemOf(given)).toBe('free')
    expect(problemOf({ ...given, ...preference({ network: '8453' }) })).toBe('invalid_chain_id')
    expect(problemOf({ ...given, isOwner: false })).toBe('not_verified')
  })

  it('reads requirements only when no other reason applies', () => {
    const asking = rules({ requirements: [REQUIREMENT] })
    expect(problemOf({ rules: asking })).toBe('open')
    expect(problemOf({ rules: asking, areRequirementsMet: true })).toBe('free')
    expect(problemOf({ rules: asking, isTaken: true })).toBe('not_available')
  })
})

describe('requirements', () => {
  const token = { kind: 'token', network: '1', token: WALLET, minimum: 5n } as const
  const wallet = (changes: Partial<RequirementInputs> = {}): RequirementInputs => ({
    address: WALLET,
    balances: new Map([[requiredTokenKey(token), 5n]]),
    verifiedIn: new Set(['foobar']),
    ...changes,
  })

  it('are a balance, an allowlist, or a cluster', () => {
    const balance = (amount: bigint) => wallet({ balances: new Map([[`1/${WALLET}`, amount]]) })
    expect(areRequirementsMet([token], balance(5n))).toBe(true)
    expect(areRequirementsMet([token], balance(4n))).toBe(false)
    expect(areRequirementsMet([{ kind: 'allowlist', addresses: [WALLET] }], wallet())).toBe(true)
    expect(areRequirementsMet([{ kind: 'allowlist', addresses: ['x'] }], wallet())).toBe(false)
    expect(areRequirementsMet([REQUIREMENT], wallet())).toBe(true)
    expect(areRequirementsMet([REQUIREMENT], wallet({ verifiedIn: new Set() }))).toBe(false)
  })

  it('all have to be met, and an empty list is met', () => {
    expect(areRequirementsMet([], wallet({ verifiedIn: new Set() }))).toBe(true)
    expect(areRequirementsMet([token, REQUIREMENT], wallet())).toBe(true)
    expect(areRequirementsMet([token, REQUIREMENT], wallet({ verifiedIn: new Set() }))).toBe(false)
  })

  it('list the needed inputs without duplicates, and throw for a missing input', () => {
    const all = [
      token,
      { ...token, minimum: 9n },
      REQUIREMENT,
      REQUIREMENT,
      { ...token, network: '8453' },
    ]
    expect(requiredTokensAndClusters(all)).toEqual({
      tokens: [
        { network: '1', token: WALLET },
        { network: '8453', token: WALLET },
      ],
      clusters: ['foobar'],
    })
    expect(() => areRequirementsMet([token], wallet({ balances: new Map() }))).toThrow(
      `the balance of 1/${WALLET} was not read`,
    )
  })
})
