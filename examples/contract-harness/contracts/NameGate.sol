// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { IHub } from "clusterd/contracts/evm/src/interfaces/IHub.sol";

/// @title A gate that opens for whoever holds a name, and that bids for names of its own
contract NameGate {
    error NotHolder(bytes32 name, address caller);

    IHub public immutable hub;
    mapping(address visitor => uint256) public visits;

    constructor(IHub hub_) {
        hub = hub_;
    }

    /// @notice Opens for the holder of a name.
    function enter(bytes32 name) external {
        if (hub.ownerOf(name) != bytes32(uint256(uint160(msg.sender)))) revert NotHolder(name, msg.sender);
        visits[msg.sender] += 1;
    }

    /// @notice Bids for a name with the value sent; who came first has it, and a bid that lost is credited.
    function bid(bytes32 name) external payable {
        hub.placeBid{ value: msg.value }(name);
    }

    /// @notice Takes back what lost bids have credited.
    function takeRefund(address to) external {
        hub.withdrawRefund(to);
    }
}
