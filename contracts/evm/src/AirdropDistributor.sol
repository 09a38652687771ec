// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { Ownable, Ownable2Step } from "@openzeppelin/contracts/access/Ownable2Step.sol";
import { IERC1271 } from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { ECDSA } from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import { MerkleProof } from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import { BitMaps } from "@openzeppelin/contracts/utils/structs/BitMaps.sol";
import { IAirdropDistributor } from "./interfaces/IAirdropDistributor.sol";

/// @title The distributor of one airdrop; see IAirdropDistributor for what it does
/// @dev An index is marked before its tokens leave, so that a token that calls back gets nothing twice.
contract AirdropDistributor is IAirdropDistributor, Ownable2Step {
    using SafeERC20 for IERC20;
    using BitMaps for BitMaps.BitMap;

    // EIP-712 by hand: OpenZeppelin's contracts for it and for ERC-1271 need Cancun, which not all our chains have.
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant DOMAIN_NAME = keccak256("AirdropDistributor");
    bytes32 private constant DOMAIN_VERSION = keccak256("1");
    bytes32 private constant PERMISSION_TYPEHASH =
        keccak256("ClaimPermission(uint256 index,bytes32 account,address to,uint256 deadline)");

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
        if (!_isSignedBy(signer, _digestOf(permission), signature)) revert BadPermission(signer);
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

    // ---- permissions

    /// A key signs as ECDSA has it; an account with code is asked (ERC-1271), one with code and a key (EIP-7702) may
    /// sign either way. Nobody has the key of the zero address.
    function _isSignedBy(address signer, bytes32 digest, bytes calldata signature) private view returns (bool) {
        (address recovered, ECDSA.RecoverError fault, ) = ECDSA.tryRecover(digest, signature);
        if (fault == ECDSA.RecoverError.NoError && recovered == signer) return true;
        if (signer.code.length == 0) return false;
        (bool ok, bytes memory answer) = signer.staticcall(
            abi.encodeCall(IERC1271.isValidSignature, (digest, signature))
        );
        return ok && answer.length >= 32 && bytes32(answer) == bytes32(IERC1271.isValidSignature.selector);
    }

    /// The domain names chain and contract, as both are when it is asked: a fork of the chain has its own.
    function _digestOf(bytes32 permission) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN_TYPEHASH, DOMAIN_NAME, DOMAIN_VERSION, block.chainid, address(this))
        );
        return keccak256(abi.encodePacked(hex"1901", domain, permission));
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
