// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { IERC1271 } from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import { ECDSA } from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title Signatures of typed data
/// @notice EIP-712, of keys and of contract wallets (ERC-1271).
/// @dev By hand: OpenZeppelin's contracts for both ask for rules (Cancun) that not all our chains have.
library Signatures {
    bytes32 private constant DOMAIN_TYPEHASH = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    bytes32 private constant DOMAIN_VERSION = keccak256("1");

    /// @notice The digest that is signed. Its domain names chain and contract as both are when it is asked, so that a
    ///   fork of the chain has its own.
    /// @param domainName keccak256 of the domain's name
    /// @param structHash hash of the typed data
    /// @return the digest
    function digestOf(bytes32 domainName, bytes32 structHash) internal view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN_TYPEHASH, domainName, DOMAIN_VERSION, block.chainid, address(this))
        );
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    /// @notice Whether an account signed a digest. A key's signature counts also where its account has code (EIP-7702).
    ///   A contract wallet that reverts has not signed.
    /// @param signer the account; the zero address signs nothing
    /// @param digest what was signed
    /// @param signature 65 bytes of a key, or whatever a contract wallet takes
    /// @return whether it did
    function isSignedBy(address signer, bytes32 digest, bytes calldata signature) internal view returns (bool) {
        (address recovered, ECDSA.RecoverError fault, ) = ECDSA.tryRecoverCalldata(digest, signature);
        if (fault == ECDSA.RecoverError.NoError && recovered == signer) return true;
        if (signer.code.length == 0) return false;
        (bool ok, bytes memory answer) = signer.staticcall(
            abi.encodeCall(IERC1271.isValidSignature, (digest, signature))
        );
        return ok && answer.length >= 32 && bytes32(answer) == bytes32(IERC1271.isValidSignature.selector);
    }
}
