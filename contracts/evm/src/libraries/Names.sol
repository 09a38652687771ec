// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The form of a cluster name on chain
/// @notice 1 to 32 bytes of `[a-z0-9_-]`, left-aligned in a bytes32; only zero bytes after the last one.
library Names {
    /// The lowest bit of every byte.
    uint256 private constant ONES = 0x0101010101010101010101010101010101010101010101010101010101010101;
    /// The highest bit of every byte.
    uint256 private constant FLAGS = ONES << 7;

    /// @notice Whether a word holds a name.
    /// @dev All bytes are judged at once. Adding 0x80 - x to a byte below 0x80 sets its highest bit exactly if the byte
    /// is at least x, without a carry into the next. The borders of the alphabet's ranges ascend, so the exclusive or
    /// of the flags "at least x" over all borders is set for the bytes inside a range.
    /// @param name left-aligned word
    /// @return whether all 32 bytes are as they have to be
    function isWellFormed(bytes32 name) internal pure returns (bool) {
        uint256 word = uint256(name);
        // the first byte of a name is neither zero nor beyond ASCII
        if (word & FLAGS != 0 || word >> 248 == 0) return false;
        unchecked {
            uint256 inAlphabet = (word + ONES * (0x80 - 0x2d)) ^ (word + ONES * (0x80 - 0x2e)); // -
            inAlphabet ^= (word + ONES * (0x80 - 0x30)) ^ (word + ONES * (0x80 - 0x3a)); // 0 to 9
            inAlphabet ^= (word + ONES * (0x80 - 0x5f)) ^ (word + ONES * (0x80 - 0x60)); // _
            inAlphabet ^= (word + ONES * (0x80 - 0x61)) ^ (word + ONES * (0x80 - 0x7b)); // a to z
            inAlphabet &= FLAGS;
            uint256 notZero = (word + ONES * 0x7f) & FLAGS;
            // no byte that is not zero follows one that is
            return inAlphabet == notZero && ((notZero ^ FLAGS) >> 8) & notZero == 0;
        }
    }
}
