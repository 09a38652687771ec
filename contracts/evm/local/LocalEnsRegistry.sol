// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title ENS's registry as clients read it: a name's resolver, by its node (ERC-137)
contract LocalEnsRegistry {
    /// @notice The resolver of a node; zero for none.
    mapping(bytes32 node => address resolver) public resolver;

    /// @notice Sets it, for anybody.
    /// @param node of the name
    /// @param resolver_ its resolver
    function setResolver(bytes32 node, address resolver_) external {
        resolver[node] = resolver_;
    }
}
