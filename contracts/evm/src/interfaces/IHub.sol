// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title The hub: where names are bid for
/// @notice The first bid of at least the minimum owns a name for good. Amounts are wei. A name is its ASCII bytes,
/// left-aligned. A bidder is a bytes32: an EVM address left-padded with zeros, or the 32 bytes of a Solana key.
interface IHub {
    /// A bid, in force or not: one is emitted for each name of a call or message that was understood.
    event Bid(bytes32 from, uint256 amount, bytes32 name);

    /// The same for a bid that names a referral (a zero referral is none and gives the form above).
    event Bid(bytes32 from, uint256 amount, bytes32 name, bytes32 referral);

    /// Follows the `Bid` of a bridged or relayed bid that cannot count: reason 1, malformed name; 2, below the minimum.
    /// Bridged money is credited to the sender.
    event BidRefused(bytes32 from, uint256 amount, bytes32 name, uint8 reason);

    /// A bridged message that is no call the hub takes from a message; `amount`, all that came, is credited.
    event MessageRefused(bytes32 guid, bytes32 from, uint256 amount);

    /// The last log of every message, bridged or relayed; `bids` of its `Bid` logs came before it (0 if refused, or a
    /// withdrawal).
    event Received(bytes32 guid, bytes32 from, uint256 bids);

    event RefundWithdrawn(bytes32 from, address to, uint256 amount);

    /// A withdrawal that came in a message could not be paid to `to`; the credit stands.
    event PayoutFailed(bytes32 guid, bytes32 from, address to, uint256 amount);

    event KeptWithdrawn(address to, uint256 amount);
    event MinimumSet(uint256 minimum);
    event DeliverLimitSet(uint256 weiPerDay);
    event RelayerSet(address relayer);

    error MalformedName(bytes32 name);
    error BelowMinimum(uint256 amount, uint256 minimum);

    /// No names, more than 100, not as many amounts as names, or a sum beyond 256 bits.
    error BadBatch();

    /// The value sent is not the sum of the amounts.
    error WrongValue(uint256 value, uint256 sum);

    /// Given with less gas than a payout has to have; the same message with more gas goes through.
    error TooLittleGas();
    error ZeroSender();
    error ZeroAddress();
    error NothingOwed();
    error NotRelayer(address caller);
    error AlreadyDelivered(bytes32 messageId);
    error DeliverLimitExceeded(uint256 wouldBe, uint256 limit);

    /// @notice Bids msg.value for a name in the caller's own name; a bid that comes too late is credited.
    function placeBid(bytes32 name) external payable;

    function placeBid(bytes32 name, bytes32 referral) external payable;

    /// @notice Bids amounts[i] for names[i], 1 to 100 of them, all or nothing in form, each judged alone as to who was
    /// first; msg.value is the sum of the amounts.
    function placeBids(uint256[] calldata amounts, bytes32[] calldata names) external payable;

    function placeBids(uint256[] calldata amounts, bytes32[] calldata names, bytes32 referral) external payable;

    /// @notice Bids that were paid on another chain, judged as those of a bridged message; only for the relayer.
    /// No money comes and none is credited: a refund is paid where the payment was made.
    /// @param messageId taken once
    /// @param from the bidder, not zero
    function deliver(
        bytes32 messageId,
        bytes32 from,
        uint256[] calldata amounts,
        bytes32[] calldata names,
        bytes32 referral
    ) external;

    /// @notice Pays all that is owed to the caller to `to`; reverts if nothing is owed or `to` does not take it. Works
    /// while the hub is paused: a pause stops bids, it holds nobody's money.
    function withdrawRefund(address to) external;

    /// @notice Pays what winning bids brought to `to`; only for the owner, also while paused.
    function withdrawKept(address to) external;

    /// @notice Who owns a name; zero if nobody does.
    function ownerOf(bytes32 name) external view returns (bytes32);

    /// @notice What is owed to a bidder, wei.
    function refundOf(bytes32 from) external view returns (uint256);

    /// @notice Money of winning bids not yet withdrawn, wei. The balance is never below kept + owed.
    function kept() external view returns (uint256);

    /// @notice Sum of all refunds owed, wei.
    function owed() external view returns (uint256);

    /// @notice The least that a bid may be, wei.
    function minimum() external view returns (uint256);

    /// @notice What deliveries may win in a day (UTC), wei.
    function deliverLimit() external view returns (uint256);

    /// @notice What deliveries won on a day, wei; the day is block.timestamp / 86400.
    function deliveredOn(uint256 day) external view returns (uint256);

    function isDelivered(bytes32 messageId) external view returns (bool);
}
