// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { IERC1271 } from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import { ECDSA } from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title A smart wallet of one owner, which signs for it (ERC-1271), or misbehaves as configured
contract TestSmartWallet is IERC1271 {
    enum Mode {
        Sign,
        Revert,
        BurnGas,
        ReturnBomb,
        ReturnShort,
        ReturnOther,
        InvalidOpcode
    }

    address public immutable owner;
    Mode public mode;

    constructor(address owner_) {
        owner = owner_;
    }

    function setMode(Mode mode_) external {
        mode = mode_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (mode == Mode.Revert) revert("no");
        if (mode == Mode.BurnGas) {
            while (true) {}
        }
        if (mode == Mode.ReturnBomb) {
            assembly ("memory-safe") {
                return(0, 500000)
            }
        }
        if (mode == Mode.ReturnShort) {
            assembly ("memory-safe") {
                mstore(0, shl(224, 0x1626ba7e))
                return(0, 4)
            }
        }
        if (mode == Mode.ReturnOther) return 0xffffffff;
        if (mode == Mode.InvalidOpcode) {
            assembly ("memory-safe") {
                invalid()
            }
        }
        (address signer, ECDSA.RecoverError fault, ) = ECDSA.tryRecover(hash, signature);
        return fault == ECDSA.RecoverError.NoError && signer == owner ? IERC1271.isValidSignature.selector : bytes4(0);
    }
}
