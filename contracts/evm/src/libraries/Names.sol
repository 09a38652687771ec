// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title The form of a cluster name on chain
/// @notice 1 to 32 bytes of `[a-z0-9_-]`, left-aligned in a bytes32; only zero bytes after the last one.
library Names {
    /// One bit a byte value: '-' 0x2d, '0'..'9' 0x30-0x39, '_' 0x5f, 'a'..'z' 0x61-0x7a.
    uint256 private constant ALPHABET =
        (uint256(1) << 0x2d) | (uint256(0x3ff) << 0x30) | (uint256(1) << 0x5f) | (uint256(0x3ffffff) << 0x61);

    function isWellFormed(bytes32 name) internal pure returns (bool) {
        uint256 rest = uint256(name);
        if (rest == 0) return false;
        // Shifting the checked byte out leaves zero exactly when nothing but padding is left, so that a zero byte
        // followed by anything else fails as a byte outside the alphabet.
        while (rest != 0) {
            if ((ALPHABET >> (rest >> 248)) & 1 == 0) return false;
            rest <<= 8;
        }
        return true;
    }
}
