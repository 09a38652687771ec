// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The cheatcodes of Foundry that the invariants use; see its book for what they do
/// @dev forge-std is not on npm, and nothing here is downloaded from elsewhere.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function addr(uint256 privateKey) external pure returns (address);
    function deal(address account, uint256 balance) external;
    function getRecordedLogs() external returns (Log[] memory logs);
    function parseJsonBytes(string calldata json, string calldata key) external pure returns (bytes memory value);
    function prank(address sender) external;
    function readFile(string calldata path) external view returns (string memory text);
    function recordLogs() external;
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function warp(uint256 timestamp) external;
}

Vm constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
