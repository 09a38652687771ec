import {
  type Abi,
  encodeFunctionData,
  getAddress,
  type Hex,
  parseSignature,
  serializeSignature,
  zeroAddress,
  zeroHash,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { testSmartWalletAbi } from '../../contracts/evm/artifacts/test-doubles/TestSmartWallet.js'
import { testTokenAbi } from '../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { useWorld } from '../support/useWorld.js'
import { freshEach } from './support/chain.js'
import { claimedIn, ownerOf, startDistributorWorld } from './support/distributor.js'
import { TOKEN } from './support/payments.js'

const TO = getAddress('0x00000000000000000000000000000000000000b0')
/** The order of secp256k1's group. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const world = useWorld(() => startDistributorWorld())

freshEach(() => world)

const evm = () => world.claims[0]!
const solana = () => world.claims[1]!

/** A permission for the first Solana allocation, and the transaction that uses it. */
async function permitted(to = TO, deadlineS = world.endsAt, claim = solana()) {
  const signature = await world.sign({ index: claim.index, account: claim.account, to, deadlineS })
  return { signature, tx: world.claimForTx(claim, to, deadlineS, signature) }
}

/** Smart wallet's allocation. */
const walletsOwn = () => world.claims.at(-2)!

describe('an EVM account', () => {
  test('sends its tokens to an address of its choice, not to nobody', async () => {
    const { index, account, amount } = evm()
    expect(claimedIn(await world.succeed(world.claimToTx(evm(), TO)))).toEqual([
      [index, account, amount, TO],
    ])
    expect(await world.reasonOf(world.claimTx(evm()))).toBe('AlreadyClaimed')
    expect(await world.reasonOf(world.claimToTx(world.claims[2]!, zeroAddress))).toBe('ZeroAddress')
  })

  test('can’t be claimed for by anybody else, the operator included', async () => {
    for (const from of [world.anybody, world.owner, world.claims[2]!].map((one) =>
      typeof one === 'string' ? one : ownerOf(one.account),
    )) {
      expect(await world.reasonOf(world.claimTx(evm(), from))).toBe('NotAccount')
      expect(await world.reasonOf(world.claimToTx(evm(), from, from))).toBe('NotAccount')
    }
    const { tx } = await permitted(TO, world.endsAt, evm())
    expect(await world.reasonOf(tx)).toBe('BadPermission')
  })

  test('may be a contract, which is asked whether it signed (ERC-1271)', async () => {
    const { index, account, amount } = walletsOwn()
    const permission = { index, account, to: TO, deadlineS: world.endsAt }
    const strangers = await world.sign(permission, {}, world.keys[1])
    expect(await world.reasonOf(world.claimForTx(walletsOwn(), TO, world.endsAt, strangers))).toBe(
      'BadPermission',
    )
    const signature = await world.sign(permission, {}, world.keys[0])
    const tx = world.claimForTx(walletsOwn(), TO, world.endsAt, signature)
    for (const mode of [1, 2, 4, 5, 6]) {
      await setMode(mode)
      expect(await world.reasonOf(tx), `mode ${mode}`).toBe('BadPermission')
    }
    await setMode(0)
    expect(claimedIn(await world.succeed(tx))).toEqual([[index, account, amount, TO]])
  })

  test('has no proof in another`s, nor in its own cut short or made longer', async () => {
    const { proof } = evm()
    const others = [
      [],
      [zeroHash],
      world.claims[2]!.proof,
      proof.slice(1),
      proof.slice(0, -1),
      [...proof, zeroHash],
    ]
    for (const other of others)
      expect(await world.reasonOf(world.claimTx({ ...evm(), proof: other }))).toBe('BadProof')
  })
})

describe('a Solana account', () => {
  test('gets its tokens once, through any wallet', async () => {
    await world.succeed((await permitted()).tx)
    const throughAnother = await permitted(getAddress(world.bob))
    expect(await world.reasonOf(throughAnother.tx)).toBe('AlreadyClaimed')
  })

  test('can`t claim without a permission', async () => {
    expect(await world.reasonOf(world.claimTx(solana()))).toBe('NotAccount')
    expect(await world.reasonOf(world.claimToTx(solana(), TO, ownerOf(solana().account)))).toBe(
      'NotAccount',
    )
  })

  test('is permitted by an operator that is a contract, too', async () => {
    await world.succeed(world.call('setOperator', [world.wallet], world.owner))
    const { index, account } = solana()
    const permission = { index, account, to: TO, deadlineS: world.endsAt }
    const formers = await world.sign(permission)
    expect(await world.reasonOf(world.claimForTx(solana(), TO, world.endsAt, formers))).toBe(
      'BadPermission',
    )
    const signature = await world.sign(permission, {}, world.keys[0])
    await world.succeed(world.claimForTx(solana(), TO, world.endsAt, signature))
  })

  test('has a permission only for this index, account, address, time, chain and contract', async () => {
    const { index, account } = solana()
    const permission = { index, account, to: TO, deadlineS: world.endsAt }
    const stranger = privateKeyToAccount(generatePrivateKey())
    const wrong = [
      world.sign({ ...permission, index: 3n }),
      world.sign({ ...permission, account: world.claims[3]!.account }),
      world.sign({ ...permission, to: world.bob }),
      world.sign({ ...permission, deadlineS: world.endsAt - 1n }),
      world.sign(permission, { chainId: 1 }),
      world.sign(permission, { distributor: world.token }),
      world.sign(permission, {}, stranger),
    ]
    for (const signature of await Promise.all(wrong)) {
      expect(await world.reasonOf(world.claimForTx(solana(), TO, world.endsAt, signature))).toBe(
        'BadPermission',
      )
    }
    const right = await world.sign(permission)
    expect(
      await world.reasonOf(world.claimForTx(solana(), TO, world.endsAt, right)),
    ).toBeUndefined()
    const notTheirs = { ...solana(), amount: 1n }
    expect(await world.reasonOf(world.claimForTx(notTheirs, TO, world.endsAt, right))).toBe(
      'BadProof',
    )
  })

  test('has no permission in a signature of another form', async () => {
    const { signature } = await permitted()
    const { r, s, yParity } = parseSignature(signature)
    const high = serializeSignature({
      r,
      s: `0x${(ORDER - BigInt(s)).toString(16).padStart(64, '0')}`,
      yParity: yParity === 0 ? 1 : 0,
    })
    for (const form of [
      '0x',
      zeroHash,
      signature.slice(0, -2),
      `${signature}00`,
      high,
      `0x${'00'.repeat(65)}`,
    ]) {
      expect(await world.reasonOf(world.claimForTx(solana(), TO, world.endsAt, form as Hex))).toBe(
        'BadPermission',
      )
    }
  })

  test('has a permission until its deadline, and none of another operator', async () => {
    const { timestamp } = await world.publicClient.getBlock()
    const { tx } = await permitted(TO, timestamp + 10n)
    expect(await world.statusAt(timestamp + 10n, tx)).toBe('success')
    expect(await world.statusAt(timestamp + 11n, tx)).toBe('reverted')
    const expired = await permitted(TO, timestamp - 1n)
    expect(await world.reasonOf(expired.tx)).toBe('PermissionExpired')

    const good = await permitted()
    await world.succeed(world.call('setOperator', [world.bob], world.owner))
    expect(await world.reasonOf(good.tx)).toBe('BadPermission')
    await world.succeed(world.call('setOperator', [zeroAddress], world.owner))
    expect(await world.reasonOf(good.tx)).toBe('BadPermission')
    const garbage = `0x${'11'.repeat(64)}1b` as const
    expect(await world.reasonOf(world.claimForTx(solana(), TO, world.endsAt, garbage))).toBe(
      'BadPermission',
    )
  })
})

describe('the end', () => {
  test('lets the owner sweep the rest, and nobody before', async () => {
    await world.succeed(world.claimTx(evm()))
    expect(await world.reasonOf(world.call('sweep', [TO], world.owner))).toBe('NotEnded')
    expect(await world.statusAt(world.endsAt - 1n, world.call('sweep', [TO], world.owner))).toBe(
      'reverted',
    )
    expect(await world.statusAt(world.endsAt - 1n, world.claimTx(world.claims[2]!))).toBe('success')
    expect(await world.statusAt(world.endsAt, world.claimTx(world.claims[2]!))).toBe('reverted')

    await world.testClient.setNextBlockTimestamp({ timestamp: world.endsAt })
    await world.testClient.mine({ blocks: 1 })
    expect(await world.reasonOf(world.claimTx(world.claims[2]!))).toBe('Ended')
    expect(await world.reasonOf(world.call('sweep', [TO]))).toBe('OwnableUnauthorizedAccount')
    expect(await world.reasonOf(world.call('sweep', [zeroAddress], world.owner))).toBe(
      'ZeroAddress',
    )
    await world.succeed(world.call('sweep', [TO], world.owner))
    expect(await world.tokensOf(TO)).toBe(world.total - evm().amount)
    expect(await world.tokensOf(world.distributor)).toBe(0n)
  })

  test('must be in the future, within five years: an end in milliseconds is refused', async () => {
    const { timestamp } = await world.publicClient.getBlock()
    const fiveYears = 5n * 365n * 86_400n
    const deploy = (end: bigint) => ({
      from: world.owner,
      data: world.deployment(world.operator.address, end),
    })
    expect(await world.statusAt(timestamp + 10n, deploy(timestamp + 10n + fiveYears))).toBe(
      'success',
    )
    expect(await world.statusAt(timestamp + 10n, deploy(timestamp + 11n + fiveYears))).toBe(
      'reverted',
    )
    expect(await world.reasonOf(deploy(timestamp * 1_000n))).toBe('EndsTooLate')
    expect(await world.reasonOf(deploy(timestamp))).toBe('Ended')
  })

  test('has an owner, whose role moves in two steps and can’t be renounced', async () => {
    expect(await world.reasonOf(world.call('renounceOwnership', [], world.owner))).toBe(
      'OwnerRequired',
    )
    expect(await world.reasonOf(world.call('setOperator', [TO]))).toBe('OwnableUnauthorizedAccount')
    await world.succeed(world.call('transferOwnership', [world.bob], world.owner))
    expect(await world.reasonOf(world.call('setOperator', [TO], world.bob))).toBe(
      'OwnableUnauthorizedAccount',
    )
    await world.succeed(world.call('acceptOwnership', [], world.bob))
    await world.succeed(world.call('setOperator', [TO], world.bob))
  })
})

describe('a token', () => {
  const setToken = (functionName: string, args: readonly unknown[]) =>
    world.succeed({
      from: world.owner,
      to: world.token,
      data: encodeFunctionData<Abi, string>({ abi: testTokenAbi, functionName, args }),
    })

  test('that does not pay leaves the allocation unclaimed', async () => {
    for (const mode of [TOKEN.revert, TOKEN.sayNo]) {
      await setToken('setMode', [mode])
      expect((await world.send(world.claimTx(evm()))).status).toBe('reverted')
    }
    expect(await world.isClaimed(evm().index)).toBe(false)
    await setToken('setMode', [TOKEN.sayNothing])
    await world.succeed(world.claimTx(evm()))
    expect(await world.tokensOf(world.alice)).toBe(evm().amount)
  })

  test('that calls back gets nothing twice', async () => {
    const { index, account } = evm()
    const permission = { index, account, to: world.alice, deadlineS: world.endsAt }
    // a claim that the token itself may send
    const again = world.claimForTx(
      evm(),
      world.alice,
      world.endsAt,
      await world.sign(permission, {}, world.keys[0]),
    )
    await setToken('setCallBack', [world.distributor, again.data])
    await world.succeed(world.claimTx(evm()))
    const at = { address: world.token, abi: testTokenAbi } as const
    expect(await world.publicClient.readContract({ ...at, functionName: 'calledBack' })).toBe(false)
    expect(await world.tokensOf(world.alice)).toBe(evm().amount)
  })
})

/** Makes the smart wallet misbehave. */
const setMode = (mode: number) =>
  world.succeed({
    from: world.owner,
    to: world.wallet,
    data: encodeFunctionData({ abi: testSmartWalletAbi, functionName: 'setMode', args: [mode] }),
  })
