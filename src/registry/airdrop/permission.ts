import { toHex } from '../primitives/bytes.js'

/** What the operator permits: that an allocation of a Solana account is paid to an EVM wallet of the same bundle. */
export interface ClaimPermission {
  /** EIP-155 id of the distributor's chain. */
  chainId: number
  distributor: `0x${string}`
  index: bigint
  /** The Solana key that the allocation is for. */
  account: Buffer
  to: `0x${string}`
  /** Unix time, seconds: the last at which the permission is good. */
  deadlineS: bigint
}

/**
 * The typed data (EIP-712) that the operator's key signs for `claimFor` of the airdrop distributor, in viem's form. It
 * names no amount: the tree does, and an index is paid once.
 */
export const claimPermissionTypedData = (permission: ClaimPermission) =>
  ({
    domain: {
      name: 'AirdropDistributor',
      version: '1',
      chainId: permission.chainId,
      verifyingContract: permission.distributor,
    },
    types: {
      ClaimPermission: [
        { name: 'index', type: 'uint256' },
        { name: 'account', type: 'bytes32' },
        { name: 'to', type: 'address' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'ClaimPermission',
    message: {
      index: permission.index,
      account: toHex(permission.account),
      to: permission.to,
      deadline: permission.deadlineS,
    },
  }) as const
