// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title ENS's registry as the owners of names use it (ERC-137)
contract TestEnsOwners {
    error NotOwner();

    /// @notice The owner of a node; zero for none.
    mapping(bytes32 node => address owner) public owner;

    /// @notice The resolver of a node; zero for none.
    mapping(bytes32 node => address resolver) public resolver;

    /// @notice Makes somebody the owner, for anybody.
    /// @param node of the name
    /// @param owner_ its owner
    function setOwner(bytes32 node, address owner_) external {
        owner[node] = owner_;
    }

    /// @notice Sets the resolver, for the owner.
    /// @param node of the name
    /// @param resolver_ its resolver
    function setResolver(bytes32 node, address resolver_) external {
        if (owner[node] != msg.sender) revert NotOwner();
        resolver[node] = resolver_;
    }
}
