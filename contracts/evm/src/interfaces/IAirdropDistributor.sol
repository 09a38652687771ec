// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title Gives out the tokens of one airdrop
/// @notice Who gets what stands in a Merkle tree of `@openzeppelin/merkle-tree`, leaves `[uint256 index, bytes32
///   account, uint256 amount]`. An account is a bytes32: an EVM address left-padded with zeros, or the 32 bytes of a
///   Solana key. Each index is paid once: to the account that asks for it, or to the address in a permission (EIP-712,
///   ERC-1271), signed by the EVM account itself or, for a Solana account, by the operator, who knows which wallets
///   belong together. Claims are taken before `endsAt`, the rest may be swept from then on: never both.
interface IAirdropDistributor {
    /// @notice An allocation was paid.
    /// @param index place in the tree
    /// @param account that the allocation belongs to
    /// @param amount base units of the token
    /// @param to who was paid
    event Claimed(uint256 indexed index, bytes32 indexed account, uint256 amount, address to);

    /// @notice What nobody claimed was taken out.
    /// @param to who was paid
    /// @param amount base units of the token
    event Swept(address indexed to, uint256 amount);

    /// @notice The signer of permissions for Solana accounts changed.
    /// @param operator the new one; zero for none
    event OperatorSet(address indexed operator);

    /// @notice The index was paid before.
    /// @param index place in the tree
    error AlreadyClaimed(uint256 index);

    /// @notice The tree has no such leaf under this proof.
    error BadProof();

    /// @notice Only the account itself claims without a permission.
    /// @param caller who called
    /// @param account that the allocation belongs to
    error NotAccount(address caller, bytes32 account);

    /// @notice The signature is not that of the account, or for a Solana account of the operator.
    /// @param signer whose signature it has to be
    error BadPermission(address signer);

    /// @notice The permission is out of date.
    /// @param deadline Unix time, seconds, of its last second
    error PermissionExpired(uint256 deadline);

    /// @notice The time for claims is over.
    /// @param endsAt Unix time, seconds
    error Ended(uint256 endsAt);

    /// @notice The time for claims would be so long that what nobody claims were lost in effect.
    /// @param endsAt Unix time, seconds, that was asked for
    /// @param latest Unix time, seconds, that is taken
    error EndsTooLate(uint256 endsAt, uint256 latest);

    /// @notice The time for claims is not over yet.
    /// @param endsAt Unix time, seconds
    error NotEnded(uint256 endsAt);

    /// @notice The zero address is nobody to pay.
    error ZeroAddress();

    /// @notice The role of the owner is not given up: what nobody claims would be lost.
    error OwnerRequired();

    /// @notice Claims the caller's own allocation to itself.
    /// @param index place in the tree
    /// @param account the caller, left-padded
    /// @param amount base units of the token
    /// @param proof hashes from leaf to root
    function claim(uint256 index, bytes32 account, uint256 amount, bytes32[] calldata proof) external;

    /// @notice Claims the caller's own allocation to an address of its choice.
    /// @param index place in the tree
    /// @param account the caller, left-padded
    /// @param amount base units of the token
    /// @param proof hashes from leaf to root
    /// @param to who is paid
    function claimTo(uint256 index, bytes32 account, uint256 amount, bytes32[] calldata proof, address to) external;

    /// @notice Claims to the address in a permission; anybody may send it.
    /// @param index place in the tree
    /// @param account that the allocation belongs to
    /// @param amount base units of the token
    /// @param proof hashes from leaf to root
    /// @param to who is paid
    /// @param deadline Unix time, seconds: the last second in which the permission is good
    /// @param signature over `ClaimPermission(uint256 index,bytes32 account,address to,uint256 deadline)` (EIP-712)
    ///   of the EVM account, or of the operator for a Solana account: 65 bytes, or whatever a contract wallet takes
    function claimFor(
        uint256 index,
        bytes32 account,
        uint256 amount,
        bytes32[] calldata proof,
        address to,
        uint256 deadline,
        bytes calldata signature
    ) external;

    /// @notice Takes what nobody claimed, once the time for claims is over; the owner's.
    /// @param to who is paid
    function sweep(address to) external;

    /// @notice Names the signer of permissions for Solana accounts; the owner's. Those of the one before are void.
    /// @param operator_ an account with a key, or a contract wallet; zero for none
    function setOperator(address operator_) external;

    /// @notice Whether an allocation was paid.
    /// @param index place in the tree
    /// @return whether it was
    function isClaimed(uint256 index) external view returns (bool);

    /// @notice The token that is given out.
    /// @return its contract
    function token() external view returns (IERC20);

    /// @notice The root of the tree of allocations.
    /// @return its hash
    function merkleRoot() external view returns (bytes32);

    /// @notice When claims end and the rest may be swept.
    /// @return Unix time, seconds
    function endsAt() external view returns (uint256);

    /// @notice Whose permissions count for Solana accounts.
    /// @return an account, or zero for none
    function operator() external view returns (address);
}
