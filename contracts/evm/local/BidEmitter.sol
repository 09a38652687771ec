// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Fills a local chain with registrations for benchmarks
/// @notice Its runtime code is put at a hub's address by `anvil_setCode`; it takes no money. It keeps its record
/// (IRecord.sol) as the hub does, continuing the hub's own hash, which goes into its first word of storage.
contract BidEmitter {
    event Bid(bytes32 from, uint256 amount, bytes32 name);

    bytes32 public recordHash;

    /// @notice Emits `count` logs like the hub's for winning bids: bid n has a name of its own ("b" and n in at least
    /// seven digits), a bidder of its own (an address derived from n) and the amount 0.01 ether.
    function emitBids(uint256 start, uint256 count) external {
        bytes32 record = recordHash;
        for (uint256 n = start; n < start + count; ++n) {
            bytes32 from = bytes32(uint256(uint160(uint256(keccak256(abi.encode(n))))));
            bytes32 name = nameOf(n);
            record = keccak256(abi.encode(record, block.timestamp, Bid.selector, from, 0.01 ether, name));
            emit Bid(from, 0.01 ether, name);
        }
        recordHash = record;
    }

    function nameOf(uint256 n) public pure returns (bytes32) {
        uint256 digits = 0;
        uint256 count = 0;
        for (uint256 rest = n; rest != 0 || count < 7; rest /= 10) {
            digits |= (0x30 + (rest % 10)) << (8 * count);
            ++count;
        }
        return bytes32((uint256(0x62) << 248) | (digits << (248 - 8 * count)));
    }
}
