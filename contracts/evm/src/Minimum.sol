// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { Ownable2Step } from "@openzeppelin/contracts/access/Ownable2Step.sol";
import { Pausable } from "@openzeppelin/contracts/utils/Pausable.sol";
import { IMinimum } from "./interfaces/IMinimum.sol";
import { Names } from "./libraries/Names.sol";

/// @title What hub and spoke ask of a bid
/// @notice A well-formed name and a least amount.
/// @dev The minimum stands right behind `_paused`, in the same slot, since every bid reads both.
abstract contract Minimum is IMinimum, Ownable2Step, Pausable {
    uint88 private _minimum;

    /// @inheritdoc IMinimum
    function minimum() public view override returns (uint256) {
        return _minimum;
    }

    /// @inheritdoc IMinimum
    function setMinimum(uint256 minimum_) external override onlyOwner {
        _setMinimum(minimum_);
    }

    function _setMinimum(uint256 minimum_) internal virtual {
        if (minimum_ > type(uint88).max) revert MinimumTooHigh(minimum_, type(uint88).max);
        _minimum = uint88(minimum_);
        emit MinimumSet(minimum_);
    }

    /// Reverts for a bid that cannot count.
    function _requireSound(uint256 amount, bytes32 name, uint256 least) internal pure {
        if (!Names.isWellFormed(name)) revert MalformedName(name);
        if (amount < least) revert BelowMinimum(amount, least);
    }
}
