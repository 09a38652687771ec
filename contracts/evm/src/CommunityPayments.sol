// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { Ownable } from "@openzeppelin/contracts/access/Ownable.sol";
import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { Address } from "@openzeppelin/contracts/utils/Address.sol";
import { ReentrancyGuard } from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import { ICommunityPayments } from "./interfaces/ICommunityPayments.sol";
import { Names } from "./libraries/Names.sol";
import { Signatures } from "./libraries/Signatures.sol";
import { Record } from "./Record.sol";
import { Roles } from "./Roles.sol";

/// @title Payments for names of communities; see ICommunityPayments for what it does
/// @notice Three roles, held apart: the owner sets the roles and unpauses; the relayer refuses and releases payments;
///   the pauser can stop new payments. None of them can move money anywhere but to a payment's payer or recipient, and
///   none can keep it: a payer's way out needs nobody.
/// @dev Nothing is ever pushed to anybody, so an account that can't be paid harms itself alone. For the chain's own
///   coin and each token, balance >= owed after every call and during each, unless the token itself takes some away.
///   Money that comes in any other way (sent by mistake, forced in, a token's positive rebase) stays for good: a way
///   out of it would be a way out of what is owed. An ERC-721 "paid" by its id comes in and never goes out.
contract CommunityPayments is ICommunityPayments, Roles, ReentrancyGuard, Record {
    using SafeERC20 for IERC20;

    /// @dev Books of a token, in one word: 2^64 payments of 2^128 fit.
    struct Totals {
        uint192 owed;
        uint64 payments;
    }

    /// @notice The shortest time after which payers may reclaim.
    uint64 public constant MIN_RECLAIM_SECONDS = 1 days;

    /// @notice The longest time after which payers may reclaim.
    uint64 public constant MAX_RECLAIM_SECONDS = 30 days;

    /// @dev The chain's own coin.
    address private constant NATIVE = address(0);
    bytes32 private constant DOMAIN_NAME = keccak256("CommunityPayments");
    bytes32 private constant RELEASE_TYPEHASH = keccak256("Release(bytes32[] paymentIds)");

    /// @inheritdoc ICommunityPayments
    uint64 public immutable override reclaimSeconds;

    /// @inheritdoc ICommunityPayments
    address public override relayer;

    /// @inheritdoc ICommunityPayments
    mapping(bytes32 paymentId => Outcome) public override outcomeOf;

    /// @inheritdoc ICommunityPayments
    mapping(address account => mapping(address token => uint256)) public override creditOf;

    /// @inheritdoc ICommunityPayments
    mapping(address token => Totals) public override totalsOf;

    /// @notice Payments that nothing was paid into yet.
    /// @param owner_ sets the roles
    /// @param relayer_ refuses and releases; zero for nobody
    /// @param pauser_ stops new payments; zero for nobody
    /// @param reclaimSeconds_ how long a payer waits before it may reclaim, 1 to 30 days
    constructor(
        address owner_,
        address relayer_,
        address pauser_,
        uint64 reclaimSeconds_
    ) Ownable(owner_) Roles(pauser_) {
        if (reclaimSeconds_ < MIN_RECLAIM_SECONDS || reclaimSeconds_ > MAX_RECLAIM_SECONDS)
            revert ReclaimOutOfRange(reclaimSeconds_, MIN_RECLAIM_SECONDS, MAX_RECLAIM_SECONDS);
        reclaimSeconds = reclaimSeconds_;
        _setRelayer(relayer_);
    }

    // ---- paying

    /// @inheritdoc ICommunityPayments
    function placeBid(BidRequest calldata bid) external payable override nonReentrant whenNotPaused {
        if (!Names.isWellFormed(bid.communityName)) revert MalformedName(bid.communityName);
        if (!Names.isWellFormed(bid.walletName)) revert MalformedName(bid.walletName);
        if (bid.paymentRecipient == address(0)) revert ZeroAddress();
        if (bid.amount == 0) revert ZeroAmount();
        if (bid.amount > type(uint128).max) revert AmountTooLarge(bid.amount, type(uint128).max);
        _pull(bid.token, bid.amount);
        _hold(bid);
    }

    /// @dev An id is a hash of the whole payment and its time: after a reorg it can't mean another payment.
    function _hold(BidRequest calldata bid) private {
        Totals memory totals = totalsOf[bid.token];
        totals.owed += uint128(bid.amount);
        totals.payments += 1;
        totalsOf[bid.token] = totals;
        Payment memory payment = Payment({
            number: totals.payments,
            reclaimableAt: uint64(block.timestamp) + reclaimSeconds,
            payer: msg.sender,
            recipient: bid.paymentRecipient,
            token: bid.token,
            amount: uint128(bid.amount),
            communityName: bid.communityName,
            walletName: bid.walletName,
            referralAddress: bid.referralAddress
        });
        bytes32 paymentId = keccak256(abi.encode(payment, block.chainid, address(this)));
        outcomeOf[paymentId] = Outcome.Held;
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
        _record(Held.selector, paymentId);
        emit Held(paymentId, payment.number, payment.reclaimableAt);
    }

    /// An id is a hash of all of its payment, so its topic and itself say all that a log says.
    function _record(bytes32 topic, bytes32 id) private {
        recordHash = keccak256(abi.encode(recordHash, block.timestamp, topic, id));
    }

    // ---- what becomes of a payment

    /// @inheritdoc ICommunityPayments
    function refuse(Payment[] calldata payments) external override nonReentrant {
        if (msg.sender != relayer) revert NotRelayer(msg.sender, relayer);
        for (uint256 i = 0; i < payments.length; ++i) {
            Payment calldata payment = payments[i];
            bytes32 id = idOf(payment);
            if (_end(id, Outcome.Refused, payment, payment.payer)) {
                _record(Refused.selector, id);
                emit Refused(id, payment.payer, payment.token, payment.amount);
            }
        }
    }

    /// @inheritdoc ICommunityPayments
    function release(Payment[] calldata payments) external override nonReentrant {
        if (msg.sender != relayer) revert NotRelayer(msg.sender, relayer);
        _release(payments, _idsOf(payments));
    }

    /// @inheritdoc ICommunityPayments
    function releaseFor(Payment[] calldata payments, bytes calldata signature) external override nonReentrant {
        _releaseFor(payments, signature);
    }

    /// @inheritdoc ICommunityPayments
    function reclaim(Payment[] calldata payments) external override nonReentrant {
        _reclaim(payments);
    }

    function _releaseFor(Payment[] calldata payments, bytes calldata signature) private {
        bytes32[] memory ids = _idsOf(payments);
        bytes32 word = keccak256(abi.encode(RELEASE_TYPEHASH, keccak256(abi.encodePacked(ids))));
        bytes32 digest = Signatures.digestOf(DOMAIN_NAME, word);
        if (!Signatures.isSignedBy(relayer, digest, signature)) revert NotSigned(relayer, digest);
        _release(payments, ids);
    }

    function _release(Payment[] calldata payments, bytes32[] memory ids) private {
        for (uint256 i = 0; i < payments.length; ++i) {
            Payment calldata payment = payments[i];
            if (_end(ids[i], Outcome.Released, payment, payment.recipient)) {
                _record(Released.selector, ids[i]);
                emit Released(ids[i], payment.recipient, payment.token, payment.amount);
            }
        }
    }

    function _reclaim(Payment[] calldata payments) private {
        for (uint256 i = 0; i < payments.length; ++i) {
            Payment calldata payment = payments[i];
            if (msg.sender != payment.payer) revert NotPayer(msg.sender, payment.payer);
            if (block.timestamp < payment.reclaimableAt)
                revert NotReclaimable(uint64(block.timestamp), payment.reclaimableAt);
            bytes32 id = idOf(payment);
            if (_end(id, Outcome.Reclaimed, payment, payment.payer)) {
                _record(Reclaimed.selector, id);
                emit Reclaimed(id, payment.payer, payment.token, payment.amount);
            }
        }
    }

    /// Gives a payment to one of its sides. Answers whether it was held until now.
    function _end(bytes32 id, Outcome outcome, Payment calldata payment, address side) private returns (bool) {
        if (outcomeOf[id] != Outcome.Held) return false;
        outcomeOf[id] = outcome;
        creditOf[side][payment.token] += payment.amount;
        return true;
    }

    // ---- money

    /// @inheritdoc ICommunityPayments
    function withdraw(address token, address to) external override nonReentrant {
        _withdraw(msg.sender, token, to);
    }

    /// @inheritdoc ICommunityPayments
    function withdrawFor(address account, address token) external override nonReentrant {
        _withdraw(account, token, account);
    }

    /// @inheritdoc ICommunityPayments
    function releaseAndWithdraw(
        Payment[] calldata payments,
        bytes calldata signature,
        address token,
        address to
    ) external override nonReentrant {
        _releaseFor(payments, signature);
        _withdraw(msg.sender, token, to);
    }

    /// @inheritdoc ICommunityPayments
    function reclaimAndWithdraw(Payment[] calldata payments, address token, address to) external override nonReentrant {
        _reclaim(payments);
        _withdraw(msg.sender, token, to);
    }

    /// @dev What a token rounds off stays the account's credit.
    function _withdraw(address account, address token, address to) private {
        if (to == address(0)) revert ZeroAddress();
        uint256 credit = creditOf[account][token];
        if (credit == 0) revert NothingOwed(account, token);
        creditOf[account][token] = 0;
        totalsOf[token].owed -= uint192(credit);
        uint256 moved = _push(token, to, credit);
        if (moved < credit) {
            creditOf[account][token] = credit - moved;
            totalsOf[token].owed += uint192(credit - moved);
        }
        emit Withdrawn(account, token, to, moved);
    }

    function _pull(address token, uint256 amount) private {
        uint256 value = token == NATIVE ? amount : 0;
        if (msg.value != value) revert WrongValue(msg.value, value);
        if (token == NATIVE) return;
        uint256 before = IERC20(token).balanceOf(address(this));
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        uint256 moved = _difference(IERC20(token).balanceOf(address(this)), before);
        if (moved != amount) revert WrongTransfer(moved, amount);
    }

    /// Answers what left, at most the amount: a token that takes its fee from the sender would take it from what others
    /// are owed.
    function _push(address token, address to, uint256 amount) private returns (uint256 moved) {
        if (token == NATIVE) {
            Address.sendValue(payable(to), amount);
            return amount;
        }
        uint256 before = IERC20(token).balanceOf(address(this));
        IERC20(token).safeTransfer(to, amount);
        moved = _difference(before, IERC20(token).balanceOf(address(this)));
        if (moved == 0 || moved > amount) revert WrongTransfer(moved, amount);
    }

    function _difference(uint256 more, uint256 less) private pure returns (uint256) {
        return more < less ? 0 : more - less;
    }

    // ---- ids

    /// @inheritdoc ICommunityPayments
    function idOf(Payment calldata payment) public view override returns (bytes32) {
        return keccak256(abi.encode(payment, block.chainid, address(this)));
    }

    /// @inheritdoc ICommunityPayments
    function outcomesOf(bytes32[] calldata paymentIds) external view override returns (Outcome[] memory outcomes) {
        outcomes = new Outcome[](paymentIds.length);
        for (uint256 i = 0; i < paymentIds.length; ++i) outcomes[i] = outcomeOf[paymentIds[i]];
    }

    function _idsOf(Payment[] calldata payments) private view returns (bytes32[] memory ids) {
        ids = new bytes32[](payments.length);
        for (uint256 i = 0; i < payments.length; ++i) ids[i] = idOf(payments[i]);
    }

    // ---- settings

    /// @notice The owner's: gives the relayer role to another account. Words of the old one end with it.
    /// @param relayer_ the account; zero leaves the role empty: payments are then reclaimed
    function setRelayer(address relayer_) external onlyOwner {
        _setRelayer(relayer_);
    }

    function _setRelayer(address relayer_) private {
        relayer = relayer_;
        emit RelayerSet(relayer_);
    }
}
