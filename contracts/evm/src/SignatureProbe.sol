// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Whether a signature is a smart wallet's, asked without deploying anything
/// @notice Sent as the creation code of an eth_call; what it "deploys" is the answer, one word: 1 or 0, or 2 where the
///   account has no code. Between a node and a contract of anybody it sees to it that no more gas is spent than is given
///   here, that no more than a word comes back, and that whatever goes wrong in there is a plain 0 and not an error of the
///   node.
contract SignatureProbe {
    /// Signature checks in Solidity of the curves that passkeys use take about a third of this.
    uint256 private constant ASK_GAS = 1_000_000;
    uint256 private constant PREPARE_GAS = 3_000_000;

    /// ERC-1271: what `isValidSignature(bytes32,bytes)` returns for a signature of the wallet's.
    bytes4 private constant IS_VALID = 0x1626ba7e;

    /// @notice Asks and answers.
    /// @param wallet whose signature it would be
    /// @param question the whole call of isValidSignature
    /// @param factory ERC-6492: what `prepare` is sent to where the wallet doesn't know the signature yet, else zero
    /// @param prepare the call that deploys the wallet
    constructor(address wallet, bytes memory question, address factory, bytes memory prepare) {
        bool isValid = ask(wallet, question);
        if (!isValid && factory != address(0)) {
            // What the factory answers says nothing; the wallet, once it is there, does.
            assembly ("memory-safe") {
                pop(call(PREPARE_GAS, factory, 0, add(prepare, 32), mload(prepare), 0, 0))
            }
            isValid = ask(wallet, question);
        }
        uint256 verdict =
            isValid
                ? 1
                : wallet.code.length == 0
                    ? 2
                    : 0;
        assembly ("memory-safe") {
            mstore(0, verdict)
            return(0, 32)
        }
    }

    function ask(address wallet, bytes memory question) private view returns (bool) {
        bool succeeded;
        bytes32 answer;
        assembly ("memory-safe") {
            succeeded := staticcall(ASK_GAS, wallet, add(question, 32), mload(question), 0, 32)
            succeeded := and(succeeded, gt(returndatasize(), 31))
            answer := mload(0)
        }
        return succeeded && answer == bytes32(IS_VALID);
    }
}
