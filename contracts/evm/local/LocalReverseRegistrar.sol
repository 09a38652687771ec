// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title ENS's reverse registrar of a chain: each account names itself (ENSIP-19)
contract LocalReverseRegistrar {
    /// @notice The name that an account gave itself; empty for none.
    mapping(address account => string name) public nameForAddr;

    /// @notice Sets the caller's name. Whether the name stands for the caller is checked by those who read it.
    /// @param name in ENS, normalized
    function setName(string calldata name) external {
        nameForAddr[msg.sender] = name;
    }
}
