// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import { OAppCore } from "@layerzerolabs/oapp-evm/contracts/oapp/OAppCore.sol";
import { Ownable, Ownable2Step } from "@openzeppelin/contracts/access/Ownable2Step.sol";
import { Pausable } from "@openzeppelin/contracts/utils/Pausable.sol";

/// @title The roles that hub and spoke have in common
/// @notice An owner whose role moves in two steps and is never given up, and a pauser who can stop the contract and
/// nothing else: only the owner lets it go on, so that a pauser gone astray can be replaced first.
abstract contract Guarded is OAppCore, Ownable2Step, Pausable {
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

    /// @notice The new owner is the delegate at the endpoint from here on: the old one could otherwise go on skipping
    /// and clearing messages.
    function acceptOwnership() public override {
        super.acceptOwnership();
        endpoint.setDelegate(msg.sender);
    }

    /// @notice Refused: without an owner a pause would be for good, and money kept could not be withdrawn.
    function renounceOwnership() public view virtual override onlyOwner {
        revert OwnerRequired();
    }

    function transferOwnership(address newOwner) public virtual override(Ownable, Ownable2Step) {
        super.transferOwnership(newOwner);
    }

    function _transferOwnership(address newOwner) internal virtual override(Ownable, Ownable2Step) {
        super._transferOwnership(newOwner);
    }

    function _setPauser(address pauser_) private {
        pauser = pauser_;
        emit PauserSet(pauser_);
    }
}
