// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { Names } from "../src/libraries/Names.sol";

/// @title Asks the library of names about many words at once
contract TestNames {
    /// @notice Which words are well-formed.
    /// @param words any
    /// @return answers one byte a word: 1 for a name, else 0
    function judge(bytes32[] calldata words) external pure returns (bytes memory answers) {
        answers = new bytes(words.length);
        for (uint256 i = 0; i < words.length; ++i) {
            if (Names.isWellFormed(words[i])) answers[i] = 0x01;
        }
    }
}
