// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { Ownable2Step } from "@openzeppelin/contracts/access/Ownable2Step.sol";
import { Pausable } from "@openzeppelin/contracts/utils/Pausable.sol";

/// @title The roles that our contracts have in common
/// @notice An owner whose role moves in two steps and is never given up, and a pauser who can stop the contract and
/// nothing else: only the owner lets it go on, so that a pauser gone astray can be replaced first.
abstract contract Roles is Ownable2Step, Pausable {
    /// @notice The pauser changed.
    /// @param pauser may pause; zero for the owner alone
    event PauserSet(address indexed pauser);

    /// @notice Only the pauser and the owner pause.
    /// @param caller who tried
    /// @param pauser who may, beside the owner
    error NotPauser(address caller, address pauser);

    /// @notice The ownership can't be given up.
    error OwnerRequired();

    /// @notice May pause; zero for the owner alone.
    address public pauser;

    constructor(address pauser_) {
        _setPauser(pauser_);
    }

    /// @notice Stops what the contract stops while paused; for the pauser and the owner.
    function pause() external {
        if (msg.sender != pauser && msg.sender != owner()) revert NotPauser(msg.sender, pauser);
        _pause();
    }

    /// @notice Lets the contract go on; only for the owner.
    function unpause() external onlyOwner {
        _unpause();
    }

    /// @notice Sets who pauses; only for the owner.
    /// @param pauser_ the zero address leaves the role empty; the owner can pause all the same
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
