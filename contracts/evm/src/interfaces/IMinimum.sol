// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What hub and spoke ask of a bid
/// @notice The least amount, which the owner sets.
interface IMinimum {
    /// @notice The minimum changed.
    /// @param minimum least bid from here on, wei on the hub
    event MinimumSet(uint256 minimum);

    /// @notice Not a name (Names.sol).
    /// @param name the word as it came
    error MalformedName(bytes32 name);

    /// @notice A bid is too low.
    /// @param amount of the bid, wei
    /// @param minimum least bid, wei
    error BelowMinimum(uint256 amount, uint256 minimum);

    /// @notice A minimum that is asked for is more than can be stored.
    /// @param minimum asked for, wei
    /// @param highest minimum possible, wei
    error MinimumTooHigh(uint256 minimum, uint256 highest);

    /// @notice Sets the least that a bid may be; only for the owner. To raise it, raise it on the spokes first, wait
    /// until what they sent before has arrived, then raise it on the hub: what is under way would be refused there.
    /// @param minimum_ wei on the hub, below 2^88
    function setMinimum(uint256 minimum_) external;

    /// @notice The least that a bid may be.
    /// @return wei on the hub
    function minimum() external view returns (uint256);
}
