// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import { Ownable2Step } from "@openzeppelin/contracts/access/Ownable2Step.sol";
import { Pausable } from "@openzeppelin/contracts/utils/Pausable.sol";

/// @title The roles that our contracts have in common
/// @notice An owner whose role moves in two steps and is never given up, and a pauser who can stop the contract and
/// nothing else: only the owner lets it go on, so that a pauser gone astray can be replaced first.
abstract contract Roles is Ownable2Step, Pausable {
    event PauserSet(address pauser);

    error NotPauser(address caller);
    error OwnerRequired();

    address public pauser;

    constructor(address pauser_) {
        _setPauser(pauser_);
    }

    /// @notice The pauser or the owner may.
    function pause() external {
        if (msg.sender != pauser && msg.sender != owner()) revert NotPauser(msg.sender);
        _pause();
    }

    function unpause() external onlyOwner {
        _unpause();
    }

    /// @notice The zero address leaves the role empty; the owner can pause all the same.
    function setPauser(address pauser_) external onlyOwner {
        _setPauser(pauser_);
    }

    /// @notice Refused: without an owner a pause would be for good, and money kept could not be withdrawn.
    function renounceOwnership() public view virtual override onlyOwner {
        revert OwnerRequired();
    }

    function _setPauser(address pauser_) private {
        pauser = pauser_;
        emit PauserSet(pauser_);
    }
}
