// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { IMinimum } from "./IMinimum.sol";

/// @title The hub: where names are bid for
/// @notice The first bid of at least the minimum owns a name for good. Amounts are wei. A name is its ASCII bytes,
/// left-aligned. A bidder is a bytes32: an EVM address left-padded with zeros, or the 32 bytes of a Solana key. A
/// credit belongs to a bidder on the chain that its money came from: `eid` is LayerZero's endpoint id of that chain, 0
/// for direct calls. The same address on two chains may have two owners.
interface IHub is IMinimum {
    /// Why a bid in a message was refused.
    enum RefusalReason {
        None,
        MalformedName,
        BelowMinimum,
        Paused
    }

    /// Bids that were paid on another chain, in one payment.
    /// @param source of the payment: keccak256(genesis hash, program id) of a Solana program
    /// @param sequence number of the payment, counted by its source; each is taken once
    /// @param from the bidder, not zero
    /// @param amounts of the bids, wei
    /// @param names bid for, in the order of the amounts
    /// @param referral zero for none
    struct Delivery {
        bytes32 source;
        uint64 sequence;
        bytes32 from;
        uint256[] amounts;
        bytes32[] names;
        bytes32 referral;
    }

    /// @notice A bid, in force or not: one is emitted for each name of a call or message that was understood.
    /// @param from the bidder
    /// @param amount of the bid, wei
    /// @param name bid for, well-formed unless refused
    event Bid(bytes32 from, uint256 amount, bytes32 name);

    /// @notice The same for a bid that names a referral (a zero referral counts as no referral, and gives the form above).
    /// @param from the bidder
    /// @param amount of the bid, wei
    /// @param name bid for, well-formed unless refused
    /// @param referral as it came, not zero
    event Bid(bytes32 from, uint256 amount, bytes32 name, bytes32 referral);

    /// @notice Follows at once the `Bid` of a bridged or relayed bid that cannot count; bridged money is credited.
    /// @param from the bidder
    /// @param amount of the bid, wei
    /// @param name bid for
    /// @param reason why it cannot count; Paused only where nothing else stands against it
    event BidRefused(bytes32 indexed from, uint256 amount, bytes32 indexed name, RefusalReason reason);

    /// @notice A bridged message is no call that the hub takes from a message; all that came is credited.
    /// @param guid of the message
    /// @param from its sender; zero if it names nobody, whose money is kept
    /// @param amount that came, wei
    event MessageRefused(bytes32 indexed guid, bytes32 indexed from, uint256 amount);

    /// @notice The last log of every message, bridged or relayed.
    /// @param guid of the message; for a delivery keccak256(source, sequence as 8 bytes)
    /// @param from its sender
    /// @param bids how many of its `Bid` logs came before (0 if refused, or a withdrawal)
    event Received(bytes32 indexed guid, bytes32 indexed from, uint256 bids);

    /// @notice Money is owed to a bidder from here on: that of lost and refused bids and of refused messages.
    /// @param from the bidder
    /// @param eid of the chain that the money came from, 0 for this one
    /// @param amount added to the credit, wei
    event Credited(bytes32 indexed from, uint32 indexed eid, uint256 amount);

    /// @notice A bidder's whole credit was paid.
    /// @param from the bidder
    /// @param eid of the chain that the money came from, 0 for this one
    /// @param to where it went
    /// @param amount wei
    event RefundWithdrawn(bytes32 indexed from, uint32 indexed eid, address to, uint256 amount);

    /// @notice The owner withdrew what was kept.
    /// @param to where it went
    /// @param amount wei
    event KeptWithdrawn(address indexed to, uint256 amount);

    /// @notice The limit of deliveries changed.
    /// @param limit what deliveries may win in a day (UTC), wei
    event DeliverLimitSet(uint256 limit);

    /// @notice The relayer changed.
    /// @param relayer the only sender of deliveries; zero for none
    event RelayerSet(address indexed relayer);

    /// @notice A batch has no names, more than 100, not as many amounts as names, or a sum beyond 256 bits.
    /// @param amounts how many there are
    /// @param names how many there are
    error BadBatch(uint256 amounts, uint256 names);

    /// @notice The value sent is not the sum of the amounts.
    /// @param value sent, wei
    /// @param sum of the amounts, wei
    error WrongValue(uint256 value, uint256 sum);

    /// @notice A receiver did not take its money.
    /// @param to the receiver
    /// @param amount wei
    error PaymentFailed(address to, uint256 amount);

    /// @notice A delivery names nobody.
    /// @param source of the delivery
    /// @param sequence of the delivery
    error ZeroSender(bytes32 source, uint64 sequence);

    /// @notice Money can't be paid to the zero address.
    error ZeroAddress();

    /// @notice Nothing is owed for direct calls.
    /// @param account whose credit was asked for
    error NothingOwed(address account);

    /// @notice Only the relayer delivers.
    /// @param caller who tried
    /// @param relayer who may
    error NotRelayer(address caller, address relayer);

    /// @notice A delivery wins more than the day has left. Where `won` alone is above the limit, no day takes it.
    /// @param won by the delivery, wei
    /// @param today won by the deliveries before it, wei
    /// @param limit of a day, wei
    error DeliverLimitExceeded(uint256 won, uint256 today, uint256 limit);

    /// @notice Bids msg.value for a name, in the caller's own name; a bid that comes too late is credited.
    /// @param name bid for
    function placeBid(bytes32 name) external payable;

    /// @notice The same with a referral.
    /// @param name bid for
    /// @param referral zero for none
    function placeBid(bytes32 name, bytes32 referral) external payable;

    /// @notice Bids amounts[i] for names[i], 1 to 100 of them, all or nothing in form, each judged alone as to who was
    /// first; msg.value is their sum.
    /// @param amounts of the bids, wei
    /// @param names bid for, in the order of the amounts
    function placeBids(uint256[] calldata amounts, bytes32[] calldata names) external payable;

    /// @notice The same with a referral.
    /// @param amounts of the bids, wei
    /// @param names bid for, in the order of the amounts
    /// @param referral zero for none
    function placeBids(uint256[] calldata amounts, bytes32[] calldata names, bytes32 referral) external payable;

    /// @notice Places bids that were paid on another chain, judged as those of a bridged message; only for the relayer,
    /// while not paused. No money comes and none is credited: a refund is paid where the payment was made. What was
    /// delivered before is skipped; everything else counts, or the whole batch reverts.
    /// @param deliveries in the order in which they are to count
    function deliver(Delivery[] calldata deliveries) external;

    /// @notice Pays all that is owed to the caller for direct calls to `to`; reverts if nothing is owed or `to` does
    /// not take it. Works while the hub is paused. In a message from a spoke it pays what is owed to the message's
    /// sender for what came from that spoke's chain.
    /// @param to receiver, not zero
    function withdrawRefund(address to) external;

    /// @notice Pays an account what is owed to it for direct calls. Anybody may send this; the money goes nowhere else.
    /// @param account paid
    function withdrawRefundFor(address account) external;

    /// @notice Pays what is kept to `to`; only for the owner, also while paused.
    /// @param to receiver, not zero
    function withdrawKept(address to) external;

    /// @notice Sets what deliveries may win in a day; zero stops every delivery that would win something. Only for the
    /// owner.
    /// @param weiPerDay of a day (UTC)
    function setDeliverLimit(uint256 weiPerDay) external;

    /// @notice Sets who delivers; only for the owner.
    /// @param relayer_ the zero address leaves the role empty
    function setRelayer(address relayer_) external;

    /// @notice Who owns a name.
    /// @param name well-formed or not
    /// @return the bidder; zero if nobody does
    function ownerOf(bytes32 name) external view returns (bytes32);

    /// @notice What is owed to a bidder.
    /// @param eid of the chain that the money came from, 0 for direct calls
    /// @param from the bidder
    /// @return wei
    function refundOf(uint32 eid, bytes32 from) external view returns (uint256);

    /// @notice What is owed to nobody and may be withdrawn by the owner: money of winning bids, what came otherwise.
    /// @return wei: the balance without what is owed
    function kept() external view returns (uint256);

    /// @notice Sum of all refunds owed; the balance is never below.
    /// @return wei
    function owed() external view returns (uint256);

    /// @notice What deliveries may win in a day (UTC).
    /// @return wei
    function deliverLimit() external view returns (uint256);

    /// @notice What deliveries won on a day.
    /// @param day block.timestamp / 86400
    /// @return wei
    function deliveredOn(uint256 day) external view returns (uint256);

    /// @notice Who delivers.
    /// @return zero for nobody
    function relayer() external view returns (address);

    /// @notice Whether a payment was delivered.
    /// @param source of the payment
    /// @param sequence of the payment
    /// @return true from its delivery on
    function isDelivered(bytes32 source, uint64 sequence) external view returns (bool);
}
