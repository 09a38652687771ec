// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { OAppCore } from "@layerzerolabs/oapp-evm/contracts/oapp/OAppCore.sol";
import { Ownable, Ownable2Step } from "@openzeppelin/contracts/access/Ownable2Step.sol";
import { Minimum } from "./Minimum.sol";
import { Roles } from "./Roles.sol";

/// @title What hub and spoke have in common
/// @notice The roles, the minimum, and an owner who is the delegate at the endpoint.
abstract contract Guarded is OAppCore, Minimum, Roles {
    constructor(address pauser_) Roles(pauser_) {}

    /// @notice Takes the ownership that the owner has offered; only for the new owner, who is the delegate at the
    /// endpoint from here on: the old one could otherwise go on skipping and clearing messages.
    function acceptOwnership() public override {
        super.acceptOwnership();
        endpoint.setDelegate(msg.sender);
    }

    /// @inheritdoc Roles
    function renounceOwnership() public view virtual override(Ownable, Roles) {
        super.renounceOwnership();
    }

    /// @notice Offers the ownership, which moves once the new owner accepts it; only for the owner.
    /// @param newOwner zero takes an offer back
    function transferOwnership(address newOwner) public virtual override(Ownable, Ownable2Step) {
        super.transferOwnership(newOwner);
    }

    function _transferOwnership(address newOwner) internal virtual override(Ownable, Ownable2Step) {
        super._transferOwnership(newOwner);
    }
}
