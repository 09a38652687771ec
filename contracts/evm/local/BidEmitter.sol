// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Fills a local chain with registrations for benchmarks
/// @notice Its runtime code is put at a hub's address by `anvil_setCode`; it keeps nothing and takes no money.
contract BidEmitter {
    event Bid(bytes32 from, uint256 amount, bytes32 name);

    /// @notice Emits `count` logs like the hub's for winning bids: bid n has a name of its own ("b" and n in at least
    /// seven digits), a bidder of its own (an address derived from n) and the amount 0.01 ether.
    function emitBids(uint256 start, uint256 count) external {
        for (uint256 n = start; n < start + count; ++n) {
            emit Bid(bytes32(uint256(uint160(uint256(keccak256(abi.encode(n)))))), 0.01 ether, nameOf(n));
        }
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
