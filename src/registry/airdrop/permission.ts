import { toHex } from '../primitives/bytes.js'

/**
 * Permission to pay an airdrop's allocation to an address. An EVM account signs its own permission. For an
 * account of another chain the operator signs.
 */
export interface ClaimPermission {
  /** EIP-155 id of the distributor's chain. */
  chainId: number
  distributor: `0x${string}`
  /** Index of the allocation in the airdrop, from 0. */
  index: bigint
  /** Account of the allocation, as bytes32. */
  account: Buffer
  to: `0x${string}`
  /** Time until which the permission is valid, Unix seconds. */
  deadlineS: bigint
}

/**
 * Typed data (EIP-712, viem's form) to sign for `claimFor` of the distributor. It needs no amount, because the tree
 * fixes the amount of each index, and the distributor pays each index once.
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
