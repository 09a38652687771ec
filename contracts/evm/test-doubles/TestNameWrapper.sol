// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { TestEnsOwners } from "./TestEnsOwners.sol";

/// @title ENS's NameWrapper as the owners of names use it: it holds their names in the registry
contract TestNameWrapper {
    error NotOwner();

    TestEnsOwners private immutable _registry;

    /// @notice The owner of a wrapped name, by its node; zero for none.
    mapping(uint256 node => address owner) public ownerOf;

    constructor(TestEnsOwners registry) {
        _registry = registry;
    }

    /// @notice Takes a name for somebody.
    /// @param node of the name
    /// @param owner its owner
    function wrap(bytes32 node, address owner) external {
        _registry.setOwner(node, address(this));
        ownerOf[uint256(node)] = owner;
    }

    /// @notice Sets the resolver, for the owner.
    /// @param node of the name
    /// @param resolver its resolver
    function setResolver(bytes32 node, address resolver) external {
        if (ownerOf[uint256(node)] != msg.sender) revert NotOwner();
        _registry.setResolver(node, resolver);
    }
}
