// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import { OAppCore } from "@layerzerolabs/oapp-evm/contracts/oapp/OAppCore.sol";
import { Ownable, Ownable2Step } from "@openzeppelin/contracts/access/Ownable2Step.sol";
import { Roles } from "./Roles.sol";

/// @title The roles that hub and spoke have in common
abstract contract Guarded is OAppCore, Roles {
    constructor(address pauser_) Roles(pauser_) {}

    /// @notice The new owner is the delegate at the endpoint from here on: the old one could otherwise go on skipping
    /// and clearing messages.
    function acceptOwnership() public override {
        super.acceptOwnership();
        endpoint.setDelegate(msg.sender);
    }

    function renounceOwnership() public view virtual override(Ownable, Roles) {
        super.renounceOwnership();
    }

    function transferOwnership(address newOwner) public virtual override(Ownable, Ownable2Step) {
        super.transferOwnership(newOwner);
    }

    function _transferOwnership(address newOwner) internal virtual override(Ownable, Ownable2Step) {
        super._transferOwnership(newOwner);
    }
}
