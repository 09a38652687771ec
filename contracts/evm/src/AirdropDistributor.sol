// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import { Ownable, Ownable2Step } from "@openzeppelin/contracts/access/Ownable2Step.sol";
import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { ECDSA } from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import { MerkleProof } from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import { BitMaps } from "@openzeppelin/contracts/utils/structs/BitMaps.sol";

/// @title Gives out the tokens of one airdrop
/// @notice Who gets what stands in a Merkle tree of `@openzeppelin/merkle-tree`, leaves `[uint256 index, bytes32
///   account, uint256 amount]`. An account is a bytes32: an EVM address left-padded with zeros, or the 32 bytes of a
///   Solana key. An EVM account's tokens go to that account, whoever sends the claim. A Solana account's go to the
///   address that a permission names, signed (EIP-712) by the operator, who knows which wallets belong together.
/// @dev Each index is claimed once. Claims are taken before `endsAt`, the rest may be swept from then on: never both.
contract AirdropDistributor is Ownable2Step {
    using SafeERC20 for IERC20;
    using BitMaps for BitMaps.BitMap;

    // EIP-712 by hand: OpenZeppelin's contract for it asks for rules (Cancun) that not all our chains have.
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant DOMAIN_NAME = keccak256("AirdropDistributor");
    bytes32 private constant DOMAIN_VERSION = keccak256("1");
    bytes32 private constant PERMISSION_TYPEHASH =
        keccak256("ClaimPermission(uint256 index,bytes32 account,address to,uint256 deadline)");

    event Claimed(uint256 index, bytes32 account, uint256 amount, address to);
    event Swept(address to, uint256 amount);
    event OperatorSet(address operator);

    error AlreadyClaimed(uint256 index);
    error BadProof();

    /// `claim` is for EVM accounts, `claimFor` for Solana accounts.
    error WrongAccountType(bytes32 account);
    error BadPermission();
    error PermissionExpired(uint256 deadline);
    error Ended(uint256 endsAt);
    error NotEnded(uint256 endsAt);
    error ZeroAddress();
    error OwnerRequired();

    IERC20 public immutable token;
    bytes32 public immutable merkleRoot;

    /// @notice Unix time, seconds.
    uint256 public immutable endsAt;

    /// @notice Whose permissions count; the zero address for nobody's.
    address public operator;

    BitMaps.BitMap private _claimed;

    /// @param endsAt_ Unix time, seconds; in the future
    constructor(
        IERC20 token_,
        bytes32 merkleRoot_,
        uint256 endsAt_,
        address owner_,
        address operator_
    ) Ownable(owner_) {
        if (endsAt_ <= block.timestamp) revert Ended(endsAt_);
        if (address(token_) == address(0)) revert ZeroAddress();
        token = token_;
        merkleRoot = merkleRoot_;
        endsAt = endsAt_;
        _setOperator(operator_);
    }

    /// @notice Claims for an EVM account; anybody may send it, the tokens go to the account.
    function claim(uint256 index, bytes32 account, uint256 amount, bytes32[] calldata proof) external {
        if (!_isEvm(account)) revert WrongAccountType(account);
        _claim(index, account, amount, proof, address(uint160(uint256(account))));
    }

    /// @notice Claims for a Solana account, to the address in the operator's permission; anybody may send it.
    /// @param deadline Unix time, seconds, up to which the permission is good
    /// @param signature of the operator over the typed data `ClaimPermission`, 65 bytes
    function claimFor(
        uint256 index,
        bytes32 account,
        uint256 amount,
        bytes32[] calldata proof,
        address to,
        uint256 deadline,
        bytes calldata signature
    ) external {
        if (_isEvm(account)) revert WrongAccountType(account);
        if (block.timestamp > deadline) revert PermissionExpired(deadline);
        bytes32 permission = keccak256(abi.encode(PERMISSION_TYPEHASH, index, account, to, deadline));
        (address signer, ECDSA.RecoverError fault, ) = ECDSA.tryRecover(_digestOf(permission), signature);
        if (fault != ECDSA.RecoverError.NoError || signer != operator) revert BadPermission();
        _claim(index, account, amount, proof, to);
    }

    function isClaimed(uint256 index) external view returns (bool) {
        return _claimed.get(index);
    }

    function _claim(uint256 index, bytes32 account, uint256 amount, bytes32[] calldata proof, address to) private {
        if (block.timestamp >= endsAt) revert Ended(endsAt);
        if (to == address(0)) revert ZeroAddress();
        if (_claimed.get(index)) revert AlreadyClaimed(index);
        bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(index, account, amount))));
        if (!MerkleProof.verifyCalldata(proof, merkleRoot, leaf)) revert BadProof();
        _claimed.set(index);
        emit Claimed(index, account, amount, to);
        token.safeTransfer(to, amount);
    }

    /// The domain names chain and contract, as both are when it is asked: a fork of the chain has its own.
    function _digestOf(bytes32 permission) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN_TYPEHASH, DOMAIN_NAME, DOMAIN_VERSION, block.chainid, address(this))
        );
        return keccak256(abi.encodePacked(hex"1901", domain, permission));
    }

    function _isEvm(bytes32 account) private pure returns (bool) {
        return uint256(account) >> 160 == 0;
    }

    // ---- the owner's

    /// @notice Takes what nobody claimed, once the time for claims is over.
    function sweep(address to) external onlyOwner {
        if (block.timestamp < endsAt) revert NotEnded(endsAt);
        if (to == address(0)) revert ZeroAddress();
        uint256 amount = token.balanceOf(address(this));
        emit Swept(to, amount);
        token.safeTransfer(to, amount);
    }

    function setOperator(address operator_) external onlyOwner {
        _setOperator(operator_);
    }

    /// @notice Refused: without an owner what nobody claims would be lost.
    function renounceOwnership() public view override onlyOwner {
        revert OwnerRequired();
    }

    function _setOperator(address operator_) private {
        operator = operator_;
        emit OperatorSet(operator_);
    }
}
