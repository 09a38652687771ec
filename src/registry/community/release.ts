import { toHex } from '../primitives/bytes.js'

/**
 * Approval that the contract pays held payments for community names to their recipients. The relayer's key signs it.
 */
export interface PaymentReleaseApproval {
  /** EIP-155 id of the payments contract's chain. */
  chainId: number
  contract: `0x${string}`
  /** Ids of the payments, in the order of the contract call. */
  paymentIds: readonly Buffer[]
}

/** Typed data (EIP-712, viem's form) to sign for `releaseFor` of the payments contract. */
export const paymentReleaseTypedData = ({
  chainId,
  contract,
  paymentIds,
}: PaymentReleaseApproval) =>
  ({
    domain: { name: 'CommunityPayments', version: '1', chainId, verifyingContract: contract },
    types: { Release: [{ name: 'paymentIds', type: 'bytes32[]' }] },
    primaryType: 'Release',
    message: { paymentIds: paymentIds.map(toHex) },
  }) as const
