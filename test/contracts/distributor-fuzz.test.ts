import fc from 'fast-check'
import { type Address, getAddress, type Hex, pad, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { tagged } from '../support/arbitraries.js'
import { useWorld } from '../support/useWorld.js'
import {
  type Claim,
  claimedIn,
  isEvm,
  ownerOf,
  startDistributorWorld,
} from './support/distributor.js'

const ALLOCATIONS = 12
/** Number of runs. `FUZZ_CALLS=100000` makes a long one, `FUZZ_SEED` repeats one. */
const RUNS = Math.ceil(Number(process.env.FUZZ_CALLS ?? 200) / 20)
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))
const stranger = privateKeyToAccount(generatePrivateKey())
const RECEIVERS = [
  '0x00000000000000000000000000000000000000e0',
  '0x00000000000000000000000000000000000000e1',
].map((address) => getAddress(address))

const which = fc.nat(ALLOCATIONS - 1)
const inField = tagged('field')
/** A claim: an allocation, of which at most one field is replaced. */
const fault = fc.oneof(
  { weight: 6, arbitrary: fc.constant(null) },
  {
    weight: 4,
    arbitrary: fc.oneof(
      inField('amount', { value: fc.bigInt(0n, 2n ** 256n - 1n) }),
      inField('index', { value: fc.oneof(which.map(BigInt), fc.bigInt(0n, 2n ** 256n - 1n)) }),
      inField('account', { value: which }),
      inField('proof', { value: which }),
      inField('node', { value: fc.nat(255) }),
    ),
  },
)
/** Difference between the permission and the right one for the claim. */
const permissionFault = fc.oneof(
  { weight: 6, arbitrary: fc.constant(null) },
  { weight: 4, arbitrary: fc.constantFrom('signer', 'index', 'account', 'to', 'late', 'bytes') },
)
const step = fc.record({
  which,
  fault,
  /**
   * Kind of call. 0: by a stranger without a permission. 1 to 3: `claim`. 4 to 6: `claimTo`. 7 to 9: `claimFor` of an
   * EVM account.
   */
  by: fc.nat(9),
  to: fc.nat(1),
  permissionFault,
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Steps that cover each outcome, since a random run may miss the rarer ones. Even allocations are of EVM accounts. */
const OPENING: readonly Step[] = [
  { which: 0 },
  { which: 0 },
  { which: 1 },
  { which: 2, fault: { field: 'amount' as const, value: 1n } },
  { which: 3, permissionFault: 'signer' as const },
  { which: 3, permissionFault: 'late' as const },
  { which: 4, by: 0 },
  { which: 4, by: 4 },
  { which: 6, by: 7 },
  { which: 10, by: 7 },
].map((one) => ({ fault: null, by: 1, to: 0, permissionFault: null, ...one }))

const world = useWorld(() => startDistributorWorld(ALLOCATIONS))

test('each allocation is paid once, in full, to its owner or the permitted account, for any claims in any order', async () => {
  const seen = new Map<string, number>()
  const count = (outcome: string) => seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 10, maxLength: 30, size: 'max' }),
    (steps) => world.takenBack(() => runSteps(steps, count)),
  )
  await fc.assert(property, { seed: SEED, numRuns: RUNS, examples: [[[...OPENING]]] })
  const outcomes = [
    'paid',
    'BadProof',
    'BadPermission',
    'PermissionExpired',
    'NotAccount',
    'AlreadyClaimed',
  ]
  expect([...seen.keys()].sort()).toEqual(outcomes.sort())
}, 7_200_000)

async function runSteps(steps: readonly Step[], count: (outcome: string) => void) {
  const paid = new Map<string, bigint>()
  const claimed = new Set<bigint>()
  let out = 0n
  for (const step of steps) {
    const claim = distort(world.claims[step.which]!, step.fault)
    const way = wayOf(claim, step)
    const to = way === 'claim' ? ownerOf(claim.account) : RECEIVERS[step.to]!
    const tx = await txOf(way, claim, step, to)
    const expected = judge(claim, step, claimed)
    expect(await world.reasonOf(tx), JSON.stringify(step, text)).toBe(expected)
    count(expected ?? 'paid')
    const receipt = await world.send(tx)
    expect(receipt.status).toBe(expected ? 'reverted' : 'success')
    if (expected) continue
    claimed.add(claim.index)
    expect(claimedIn(receipt)).toEqual([[claim.index, claim.account, claim.amount, to]])
    paid.set(to, (paid.get(to) ?? 0n) + claim.amount)
    out += claim.amount
  }
  for (const [to, amount] of paid) expect(await world.tokensOf(getAddress(to))).toBe(amount)
  expect(await world.tokensOf(world.distributor)).toBe(world.total - out)
  const open = await Promise.all(world.claims.map(({ index }) => world.isClaimed(index)))
  expect(open).toEqual(world.claims.map(({ index }) => claimed.has(index)))
}

type Way = 'stranger' | 'claim' | 'claimTo' | 'claimFor'
function wayOf({ account }: Claim, { by }: Step): Way {
  if (by === 0) return 'stranger'
  if (!isEvm(account) || by > 6) return 'claimFor'
  return by > 3 ? 'claimTo' : 'claim'
}

async function txOf(way: Way, claim: Claim, step: Step, to: Address) {
  if (way === 'stranger') return world.claimTx(claim, world.anybody)
  if (way === 'claim') return world.claimTx(claim)
  return way === 'claimTo' ? world.claimToTx(claim, to) : withPermission(claim, step, to)
}

/** Expected outcome, by the contract's description. */
function judge(claim: Claim, step: Step, claimed: ReadonlySet<bigint>): string | undefined {
  const way = wayOf(claim, step)
  if (way === 'stranger') return 'NotAccount'
  if (way === 'claimFor') {
    if (step.permissionFault === 'late') return 'PermissionExpired'
    if (step.permissionFault !== null) return 'BadPermission'
  }
  if (claimed.has(claim.index)) return 'AlreadyClaimed'
  const { index, account, amount, proof } = world.claims[step.which]!
  const isRight =
    claim.index === index &&
    claim.account === account &&
    claim.amount === amount &&
    `${claim.proof}` === `${proof}`
  return isRight ? undefined : 'BadProof'
}

function distort(claim: Claim, fault: Step['fault']): Claim {
  switch (fault?.field) {
    case 'amount':
      return { ...claim, amount: fault.value }
    case 'index':
      return { ...claim, index: fault.value }
    case 'account':
      return { ...claim, account: world.claims[fault.value]!.account }
    case 'proof':
      return { ...claim, proof: world.claims[fault.value]!.proof }
    case 'node':
      return {
        ...claim,
        proof: [...claim.proof.slice(0, -1), pad(toHex(fault.value), { size: 32 })],
      }
    default:
      return claim
  }
}

async function withPermission(claim: Claim, { permissionFault }: Step, to: Address) {
  const deadlineS = permissionFault === 'late' ? 1n : world.endsAt
  const right = { index: claim.index, account: claim.account, to, deadlineS }
  const signed = {
    ...right,
    ...(permissionFault === 'index' && { index: claim.index ^ 1n }),
    ...(permissionFault === 'account' && { account: pad('0x01', { size: 32 }) }),
    ...(permissionFault === 'to' && { to: stranger.address }),
  }
  const owner = world.keys.find(
    ({ address }) => isEvm(claim.account) && address === ownerOf(claim.account),
  )
  const signer = isEvm(claim.account) ? (owner ?? world.keys[0]!) : world.operator
  const signature = await world.sign(signed, {}, permissionFault === 'signer' ? stranger : signer)
  return world.claimForTx(
    claim,
    to,
    deadlineS,
    permissionFault === 'bytes' ? flipped(signature) : signature,
  )
}

/** A signature with one bit of r flipped. */
const flipped = (signature: Hex): Hex =>
  `0x${(BigInt(signature) ^ (1n << 400n)).toString(16).padStart(130, '0')}`
const text = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)
