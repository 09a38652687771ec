// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title What a token answers to a question, asked without deploying anything
/// @notice Sent as the creation code of an eth_call; what it "deploys" is the answer, one word. The token is anybody's
/// contract: whatever goes wrong in there, no more gas is spent than is given here, no more than a word comes back, and
/// it is a plain 0 and not an error of the node.
contract TokenProbe {
    uint256 private constant ASK_GAS = 1_000_000;

    /// @param question the whole call, of a function that returns one word
    constructor(address token, bytes memory question) {
        assembly ("memory-safe") {
            let succeeded := staticcall(ASK_GAS, token, add(question, 32), mload(question), 0, 32)
            if iszero(and(succeeded, gt(returndatasize(), 31))) { mstore(0, 0) }
            return(0, 32)
        }
    }
}
