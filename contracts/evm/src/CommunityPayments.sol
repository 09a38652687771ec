// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import { Ownable } from "@openzeppelin/contracts/access/Ownable.sol";
import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { Address } from "@openzeppelin/contracts/utils/Address.sol";
import { ReentrancyGuard } from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import { ICommunityPayments } from "./interfaces/ICommunityPayments.sol";
import { Names } from "./libraries/Names.sol";
import { Roles } from "./Roles.sol";

/// @title Payments for names of communities; see ICommunityPayments for what it does
/// @notice Three roles, held apart: the owner sets the hold and the roles, reopens names and unpauses; the relayer
/// refuses payments; the pauser can stop new payments. None of them can move money anywhere but to its payer.
/// @dev Nothing is ever pushed to anybody, so an account that can't be paid harms itself alone. For the chain's own
///   coin and each token, balance >= held + credited after every call and during each, unless the token itself takes
///   some away.
contract CommunityPayments is ICommunityPayments, Roles, ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// The chain's own coin.
    address private constant NATIVE = address(0);
    uint64 public constant MAX_HOLD_SECONDS = 7 days;

    mapping(bytes32 paymentId => Payment) public payments;
    mapping(address account => mapping(address token => uint256)) public override creditOf;
    mapping(address token => uint256) public override held;
    mapping(address token => uint256) public override credited;

    mapping(bytes32 nameKey => bytes32 paymentId) private _paymentOf;
    uint256 private _count;

    uint64 public holdSeconds;
    address public relayer;

    /// @param holdSeconds_ how long payments are held, at most MAX_HOLD_SECONDS
    constructor(address owner_, address relayer_, address pauser_, uint64 holdSeconds_) Ownable(owner_) Roles(pauser_) {
        _setRelayer(relayer_);
        _setHold(holdSeconds_);
    }

    // ---- paying

    /// @inheritdoc ICommunityPayments
    function placeBid(BidRequest calldata bid) external payable override nonReentrant whenNotPaused {
        if (!Names.isWellFormed(bid.communityName)) revert MalformedName(bid.communityName);
        if (!Names.isWellFormed(bid.walletName)) revert MalformedName(bid.walletName);
        if (bid.paymentRecipient == address(0)) revert ZeroAddress();
        if (bid.amount == 0) revert ZeroAmount();
        bytes32 nameKey = _nameKey(bid.communityName, bid.walletName);
        if (_paymentOf[nameKey] != bytes32(0)) revert NameTaken(_paymentOf[nameKey]);

        uint64 heldUntil = uint64(block.timestamp) + holdSeconds;
        bytes32 paymentId = _newPaymentId(bid);
        _paymentOf[nameKey] = paymentId;
        payments[paymentId] = Payment({
            payer: msg.sender,
            heldUntil: heldUntil,
            recipient: bid.paymentRecipient,
            token: bid.token,
            amount: bid.amount,
            nameKey: nameKey
        });
        _pull(bid.token, bid.amount);
        held[bid.token] += bid.amount;
        // Last, so that nothing a token logs or does can come between the two.
        emit Bid(
            bytes32(uint256(uint160(msg.sender))),
            block.chainid,
            bid.token,
            bid.amount,
            bid.paymentRecipient,
            bid.communityName,
            bid.walletName,
            bid.referralAddress
        );
        emit Held(paymentId, heldUntil);
    }

    /// An id tells what was paid: after a reorganisation of the chain it can't mean another payment, and a refusal that
    /// comes late can't hit the next payment for the name.
    function _newPaymentId(BidRequest calldata bid) private returns (bytes32) {
        return keccak256(abi.encode(++_count, block.chainid, address(this), msg.sender, block.timestamp, bid));
    }

    // ---- what becomes of a payment

    /// @inheritdoc ICommunityPayments
    function refuse(bytes32 paymentId) external override nonReentrant {
        if (msg.sender != relayer) revert NotRelayer(msg.sender);
        Payment memory payment = _take(paymentId);
        if (block.timestamp >= payment.heldUntil) revert HoldOver(payment.heldUntil);
        delete _paymentOf[payment.nameKey];
        _credit(payment.payer, payment.token, payment.amount);
        emit Refused(paymentId, payment.payer, payment.token, payment.amount);
    }

    /// @inheritdoc ICommunityPayments
    function release(bytes32[] calldata paymentIds) external override nonReentrant {
        _release(paymentIds);
    }

    /// @notice Lets a name be paid for again whose payment bought nothing, yet was not refused in time. Moves no money.
    function reopen(bytes32 communityName, bytes32 walletName) external onlyOwner {
        bytes32 nameKey = _nameKey(communityName, walletName);
        bytes32 paymentId = _paymentOf[nameKey];
        if (paymentId == bytes32(0)) revert NoPayment();
        uint64 heldUntil = payments[paymentId].heldUntil;
        if (block.timestamp < heldUntil) revert StillHeld(heldUntil);
        delete _paymentOf[nameKey];
        emit Reopened(communityName, walletName, paymentId);
    }

    function _release(bytes32[] calldata paymentIds) private {
        for (uint256 i = 0; i < paymentIds.length; ++i) {
            Payment memory payment = _take(paymentIds[i]);
            if (block.timestamp < payment.heldUntil) revert StillHeld(payment.heldUntil);
            _credit(payment.recipient, payment.token, payment.amount);
            emit Released(paymentIds[i], payment.recipient, payment.token, payment.amount);
        }
    }

    /// A payment, held no more.
    function _take(bytes32 paymentId) private returns (Payment memory payment) {
        payment = payments[paymentId];
        if (payment.amount == 0) revert NotHeld(paymentId);
        delete payments[paymentId];
        held[payment.token] -= payment.amount;
    }

    // ---- money

    /// @inheritdoc ICommunityPayments
    function withdraw(address token, address to) external override nonReentrant {
        _withdraw(token, to);
    }

    /// @inheritdoc ICommunityPayments
    function releaseAndWithdraw(bytes32[] calldata paymentIds, address token, address to) external override nonReentrant {
        _release(paymentIds);
        _withdraw(token, to);
    }

    function _withdraw(address token, address to) private {
        if (to == address(0)) revert ZeroAddress();
        uint256 amount = creditOf[msg.sender][token];
        if (amount == 0) revert NothingOwed();
        creditOf[msg.sender][token] = 0;
        credited[token] -= amount;
        emit Withdrawn(msg.sender, token, to, amount);
        _push(token, to, amount);
    }

    function _credit(address account, address token, uint256 amount) private {
        creditOf[account][token] += amount;
        credited[token] += amount;
    }

    function _pull(address token, uint256 amount) private {
        uint256 value = token == NATIVE ? amount : 0;
        if (msg.value != value) revert WrongValue(msg.value, value);
        if (token == NATIVE) return;
        uint256 before = IERC20(token).balanceOf(address(this));
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        _requireMoved(before, IERC20(token).balanceOf(address(this)), amount);
    }

    function _push(address token, address to, uint256 amount) private {
        if (token == NATIVE) {
            Address.sendValue(payable(to), amount);
            return;
        }
        // A token that takes its fee from the sender would take it from what others are owed.
        uint256 before = IERC20(token).balanceOf(address(this));
        IERC20(token).safeTransfer(to, amount);
        _requireMoved(IERC20(token).balanceOf(address(this)), before, amount);
    }

    function _requireMoved(uint256 less, uint256 more, uint256 amount) private pure {
        uint256 moved = more < less ? 0 : more - less;
        if (moved != amount) revert WrongTransfer(moved, amount);
    }

    // ---- names

    /// @inheritdoc ICommunityPayments
    function paymentOf(bytes32 communityName, bytes32 walletName) external view override returns (bytes32) {
        return _paymentOf[_nameKey(communityName, walletName)];
    }

    function _nameKey(bytes32 communityName, bytes32 walletName) private pure returns (bytes32) {
        return keccak256(abi.encode(communityName, walletName));
    }

    // ---- settings

    /// @notice For payments to come; those that are held keep their time.
    function setHold(uint64 holdSeconds_) external onlyOwner {
        _setHold(holdSeconds_);
    }

    /// @notice The zero address leaves the role empty: no payment is refused then.
    function setRelayer(address relayer_) external onlyOwner {
        _setRelayer(relayer_);
    }

    function _setHold(uint64 holdSeconds_) private {
        if (holdSeconds_ > MAX_HOLD_SECONDS) revert HoldTooLong(holdSeconds_, MAX_HOLD_SECONDS);
        holdSeconds = holdSeconds_;
        emit HoldSet(holdSeconds_);
    }

    function _setRelayer(address relayer_) private {
        relayer = relayer_;
        emit RelayerSet(relayer_);
    }
}
