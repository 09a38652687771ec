// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { TestSmartWallet } from "./TestSmartWallet.sol";

/// @title Deploys smart wallets at addresses that are known before (CREATE2)
contract TestSmartWalletFactory {
    function deploy(address owner) external returns (address) {
        return address(new TestSmartWallet{ salt: 0 }(owner));
    }

    function addressOf(address owner) external view returns (address) {
        bytes32 initCode = keccak256(abi.encodePacked(type(TestSmartWallet).creationCode, abi.encode(owner)));
        return
            address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), initCode)))));
    }
}
