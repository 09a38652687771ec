// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A checksum of a contract's logs, kept by the contract itself
/// @notice Each log that decides something changes one word of state. A reader of the logs computes the same hash and
/// compares it with the contract's at the same block. Logs that are left out, added, changed, reordered or re-timed give
/// another hash, so a node that reports them has to report a false hash too.
/// @dev The hub: keccak256(abi.encode(recordHash, block.timestamp, topics..., data words...)) for each `Bid`,
/// `BidRefused`, `MinimumSet`, `Received`, `Credited` and `RefundWithdrawn`. The payments contract:
/// keccak256(abi.encode(recordHash, block.timestamp, topic, paymentId)) for each `Held`, `Refused`, `Released` and
/// `Reclaimed`; an id is a hash of all of its payment.
interface IRecord {
    /// @notice The hash over all of the record so far; zero before its first log.
    function recordHash() external view returns (bytes32);
}
