// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { Actor, IDuringCall } from "./Actor.sol";
import { vm, Vm } from "./Vm.sol";

/// @title What both handlers need: accounts, calls in their names, and the logs of these calls
/// @dev A handler makes the calls that Foundry chooses. It knows the contract by the contract's logs alone: what it folds
/// from them is compared with what the contract says.
abstract contract Handler is IDuringCall {
    uint256 private constant ACTORS = 6;

    Actor[] internal _actors;
    /// @notice The fold of all logs that the contract records.
    bytes32 public record;
    /// @notice Calls that went through.
    uint256 public succeeded;
    /// @notice Checks made while a call was under way.
    uint256 public checkedDuring;
    /// @notice Whether the contract held less than it owed while a call was under way.
    bool public wasShort;

    constructor() {
        for (uint256 i = 0; i < ACTORS; ++i) _actors.push(new Actor(this));
    }

    /// @inheritdoc IDuringCall
    function duringCall() external override {
        ++checkedDuring;
        if (!isCovered()) wasShort = true;
    }

    /// @notice Whether the contract holds what it owes, now.
    function isCovered() public view virtual returns (bool);

    /// Folds one log of the contract.
    function _fold(Vm.Log[] memory logs, uint256 index) internal virtual;

    /// @notice Lets time pass.
    function warp(uint256 seconds_) external {
        vm.warp(block.timestamp + (seconds_ % 3 days));
    }

    /// Calls the contract, or what calls it, in somebody's name. Folds the logs of the contract if the call went through.
    function _call(address from, address to, uint256 value, bytes memory data, address contract_) internal {
        vm.deal(from, from.balance + value);
        vm.recordLogs();
        vm.prank(from);
        (bool ok, ) = to.call{ value: value }(data);
        _foldRecorded(ok, contract_);
    }

    function _foldRecorded(bool ok, address contract_) internal {
        Vm.Log[] memory all = vm.getRecordedLogs();
        if (!ok) return;
        ++succeeded;
        uint256 count = 0;
        for (uint256 i = 0; i < all.length; ++i) if (all[i].emitter == contract_) all[count++] = all[i];
        assembly ("memory-safe") {
            mstore(all, count)
        }
        for (uint256 i = 0; i < count; ++i) _fold(all, i);
    }

    /// The rule of IRecord for a log: its topics and its data, each a whole number of words.
    function _record(bytes memory words) internal {
        record = keccak256(abi.encodePacked(record, block.timestamp, words));
    }

    function _actor(uint256 seed) internal view returns (address) {
        return address(_actors[seed % ACTORS]);
    }

    /// An account for a role's call: mostly the one that has the role.
    function _mostly(address role, uint256 seed) internal view returns (address) {
        return seed % 4 == 0 ? _actor(seed / 4) : role;
    }
}
