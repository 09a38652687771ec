// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What a token answers to a question, asked without deploying anything
/// @notice Sent as the creation code of an eth_call; what it "deploys" is the answer: a word that says whether there is
///   one, then the answer's word. The token is anybody's contract: whatever goes wrong in there, no more gas is spent
///   than is given here, no more than a word comes back, and it is a plain 0 and not an error of the node.
/// @dev The flag comes first, because no code may begin with the byte 0xEF (EIP-3541), and the answer is the token's.
contract TokenProbe {
    uint256 private constant ASK_GAS = 1_000_000;

    /// @notice Asks and answers.
    /// @param token whom to ask
    /// @param question the whole call, of a function that returns one word
    constructor(address token, bytes memory question) {
        assembly ("memory-safe") {
            mstore(0, staticcall(ASK_GAS, token, add(question, 32), mload(question), 32, 32))
            if lt(returndatasize(), 32) {
                mstore(0, 0)
            }
            if iszero(mload(0)) {
                mstore(32, 0)
            }
            return(0, 64)
        }
    }
}
