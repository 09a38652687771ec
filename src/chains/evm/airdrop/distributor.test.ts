import fc from 'fast-check'
import {
  checksumAddress,
  decodeFunctionData,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionResult,
  type Hex,
  parseAbiParameters,
  recoverTypedDataAddress,
} from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { claimPermissionTypedData } from '../../../registry/airdrop/permission.js'
import { toHex } from '../../../registry/primitives/bytes.js'
import type { RpcCall } from '../../rpc/evm.js'
import { airdropDistributorAbi } from '../contracts/index.js'
import type { RawLog } from '../logs.js'
import {
  CLAIMED_EVENT_TOPIC,
  createClaimPermissionSigner,
  decodeClaimedLog,
  readDistributorTerms,
} from './distributor.js'

const bytesArbitrary = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((raw) => Buffer.from(raw))
const amountArbitrary = fc.bigInt(0n, 2n ** 256n - 1n)
const decodeCalldata = (data: Hex) => decodeFunctionData({ abi: airdropDistributorAbi, data })

describe('Claimed', () => {
  it('is decoded from its topics and data', () => {
    fc.assert(
      fc.property(
        amountArbitrary,
        bytesArbitrary(32),
        amountArbitrary,
        bytesArbitrary(20),
        (index, account, value, to) => {
          const topics = encodeEventTopics({
            abi: airdropDistributorAbi,
            eventName: 'Claimed',
            args: { index, account: toHex(account) },
          }) as Hex[]
          const data = encodeAbiParameters(parseAbiParameters('uint256, address'), [
            value,
            toHex(to),
          ])
          expect(decodeClaimedLog({ topics, data } as RawLog)).toMatchObject({
            index,
            to: checksumAddress(toHex(to)),
          })
        },
      ),
    )
    expect(CLAIMED_EVENT_TOPIC).toMatch(/^0x[0-9a-f]{64}$/)
  })

  it('of another form is refused', () => {
    const words = (count: number): Hex => `0x${'00'.repeat(32 * count)}`
    const indexed = [CLAIMED_EVENT_TOPIC, words(1), words(1)]
    const read = (topics: Hex[], data: Hex) => decodeClaimedLog({ topics, data } as RawLog)
    expect(read(indexed, words(2))).not.toBeNull()
    expect(read(indexed, words(1))).toBeNull()
    expect(read(indexed.slice(0, 2), words(2))).toBeNull()
    expect(read([CLAIMED_EVENT_TOPIC], words(4))).toBeNull()
  })
})

describe('a permission', () => {
  it('is signed by the key, and an equal one is signed only once', async () => {
    const signer = createClaimPermissionSigner(generatePrivateKey())
    const permission = {
      chainId: 1,
      distributor: toHex(Buffer.alloc(20, 7)),
      index: 3n,
      account: Buffer.alloc(32, 9),
      to: toHex(Buffer.alloc(20, 8)),
      deadlineS: 1_800_000_000n,
    }
    const signature = await signer.sign(permission)
    const signed = await recoverTypedDataAddress({
      ...claimPermissionTypedData(permission),
      signature,
    })
    expect(signed.toLowerCase()).toBe(signer.address)
    // an equal permission is read once, for its key in the cache, and not again for a signature
    let reads = 0
    const equal = Object.defineProperty({ ...permission }, 'account', {
      get: () => {
        reads += 1
        return permission.account
      },
    })
    expect([await signer.sign(equal), reads]).toEqual([signature, 1])
    expect(await signer.sign({ ...permission, deadlineS: 1_800_000_001n })).not.toBe(signature)
  })
})

describe('a contract', () => {
  const address = `0x${'d1'.repeat(20)}` as const
  const nodeOf =
    (endsAt: bigint): RpcCall =>
    async <T>(_method: string, [tx]: readonly unknown[]) => {
      const { functionName } = decodeCalldata((tx as { data: Hex }).data)
      const results: Record<string, unknown> = { merkleRoot: `0x${'00'.repeat(32)}`, endsAt }
      const answer = {
        abi: airdropDistributorAbi,
        functionName,
        result: results[functionName] ?? address,
      }
      return encodeFunctionResult(answer as Parameters<typeof encodeFunctionResult>[0]) as T
    }
  const last = 8_640_000_000_000n

  it('whose claims end at the last date is a distributor', async () => {
    const state = await readDistributorTerms(nodeOf(last), address)
    expect(new Date(state!.endsAtS * 1_000).toISOString()).toBe('+275760-09-13T00:00:00.000Z')
  })

  it.each([last + 1n, 2n ** 53n, 2n ** 63n, 2n ** 255n, 2n ** 256n - 1n])(
    'whose claims end later than any date is no distributor: %d',
    async (endsAt) => {
      expect(await readDistributorTerms(nodeOf(endsAt), address)).toBeNull()
    },
  )
})
