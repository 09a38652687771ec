// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { Ownable, Ownable2Step } from "@openzeppelin/contracts/access/Ownable2Step.sol";
import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { MerkleProof } from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import { BitMaps } from "@openzeppelin/contracts/utils/structs/BitMaps.sol";
import { IAirdropDistributor } from "./interfaces/IAirdropDistributor.sol";
import { Signatures } from "./libraries/Signatures.sol";

/// @title The distributor of one airdrop
/// @notice See IAirdropDistributor for what it does.
/// @dev An index is marked before its tokens leave, so that a token that calls back gets nothing twice.
contract AirdropDistributor is IAirdropDistributor, Ownable2Step {
    using SafeERC20 for IERC20;
    using BitMaps for BitMaps.BitMap;

    bytes32 private constant DOMAIN_NAME = keccak256("AirdropDistributor");
    bytes32 private constant PERMISSION_TYPEHASH = keccak256(
        "ClaimPermission(uint256 index,bytes32 account,address to,uint256 deadline)"
    );

    /// @notice The longest time for claims: five years. An end in milliseconds would be out of reach for ever.
    uint256 public constant MAX_DURATION = 5 * 365 days;

    /// @inheritdoc IAirdropDistributor
    IERC20 public immutable override token;

    /// @inheritdoc IAirdropDistributor
    bytes32 public immutable override merkleRoot;

    /// @inheritdoc IAirdropDistributor
    uint256 public immutable override endsAt;

    /// @inheritdoc IAirdropDistributor
    address public override operator;

    BitMaps.BitMap private _claimed;

    /// @notice A distributor of one tree; the tokens are sent to it.
    /// @param token_ that is given out
    /// @param merkleRoot_ of the tree of allocations
    /// @param endsAt_ Unix time, seconds; in the future, at most MAX_DURATION away
    /// @param owner_ who names the operator and sweeps
    /// @param operator_ whose permissions count for Solana accounts; zero for nobody's
    constructor(
        IERC20 token_,
        bytes32 merkleRoot_,
        uint256 endsAt_,
        address owner_,
        address operator_
    ) Ownable(owner_) {
        if (endsAt_ <= block.timestamp) revert Ended(endsAt_);
        uint256 latest = block.timestamp + MAX_DURATION;
        if (endsAt_ > latest) revert EndsTooLate(endsAt_, latest);
        if (address(token_) == address(0)) revert ZeroAddress();
        token = token_;
        merkleRoot = merkleRoot_;
        endsAt = endsAt_;
        _setOperator(operator_);
    }

    // ---- claims

    /// @inheritdoc IAirdropDistributor
    function claim(uint256 index, bytes32 account, uint256 amount, bytes32[] calldata proof) external override {
        claimTo(index, account, amount, proof, msg.sender);
    }

    /// @inheritdoc IAirdropDistributor
    function claimTo(
        uint256 index,
        bytes32 account,
        uint256 amount,
        bytes32[] calldata proof,
        address to
    ) public override {
        if (account != bytes32(uint256(uint160(msg.sender)))) revert NotAccount(msg.sender, account);
        _claim(index, account, amount, proof, to);
    }

    /// @inheritdoc IAirdropDistributor
    function claimFor(
        uint256 index,
        bytes32 account,
        uint256 amount,
        bytes32[] calldata proof,
        address to,
        uint256 deadline,
        bytes calldata signature
    ) external override {
        if (block.timestamp > deadline) revert PermissionExpired(deadline);
        bool isEvm = uint256(account) >> 160 == 0;
        address signer = isEvm ? address(uint160(uint256(account))) : operator;
        bytes32 permission = keccak256(abi.encode(PERMISSION_TYPEHASH, index, account, to, deadline));
        if (!Signatures.isSignedBy(signer, Signatures.digestOf(DOMAIN_NAME, permission), signature)) {
            revert BadPermission(signer);
        }
        _claim(index, account, amount, proof, to);
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

    /// @inheritdoc IAirdropDistributor
    function isClaimed(uint256 index) external view override returns (bool) {
        return _claimed.get(index);
    }

    // ---- the owner's

    /// @inheritdoc IAirdropDistributor
    function sweep(address to) external override onlyOwner {
        if (block.timestamp < endsAt) revert NotEnded(endsAt);
        if (to == address(0)) revert ZeroAddress();
        uint256 amount = token.balanceOf(address(this));
        emit Swept(to, amount);
        token.safeTransfer(to, amount);
    }

    /// @inheritdoc IAirdropDistributor
    function setOperator(address operator_) external override onlyOwner {
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
